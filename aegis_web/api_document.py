"""What the OpenAPI document and the page to try it are made of (drf-spectacular)."""

SETTINGS = {
    "TITLE": "Aegis",
    "VERSION": "1",
    "DESCRIPTION": (
        "Hand in the evidence of a broken training job, and read which node broke it, why, and "
        "what to do. Send `Authorization: Bearer <token>`; every error is a problem document "
        "(RFC 9457) whose `type` leads to its meaning; all times are RFC 3339 in UTC."
    ),
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": ["incidents.api.permissions.RolePermission"],
    "SCHEMA_PATH_PREFIX": "/api/v1",
    # Swagger UI stops in the middle when it opens more than about 120 operations at once.
    "SWAGGER_UI_SETTINGS": {"deepLinking": True, "docExpansion": "none"},
    "COMPONENT_SPLIT_PATCH": False,
    "ENUM_NAME_OVERRIDES": {
        "JobState": "incidents.choices.JobState",
        "AttemptEnd": "incidents.api.serializers.jobs.ATTEMPT_ENDS",
        "HostState": "incidents.choices.HostState",
        "DiagnosisState": "incidents.choices.DiagnosisState",
        "IncidentKind": "incidents.choices.IncidentKind",
        "IncidentStatus": "incidents.choices.IncidentStatus",
        "EvidenceKind": "incidents.choices.EvidenceKind",
        "TargetKind": "incidents.choices.TargetKind",
        "DecisionKind": "incidents.choices.DecisionKind",
        "Action": "incidents.choices.Action",
        "Outcome": "incidents.choices.Outcome",
        "Role": "incidents.choices.Role",
        "SuspectRole": "incidents.choices.SuspectRole",
        "VerdictClass": "incidents.choices.VerdictClass",
        "SignatureClass": "diagnosis.api.serializers.CLASSES",
        "Scope": "incidents.api.serializers.tokens.SCOPES",
        "Severity": "incidents.choices.Severity",
        "InboxKind": "incidents.choices.InboxKind",
        "MessageState": "incidents.choices.MessageState",
        "AlertAction": "incidents.choices.AlertAction",
        "DeliveryState": "incidents.choices.DeliveryState",
        "WebhookState": "incidents.choices.SubscriptionState",
        "SettableState": "incidents.api.serializers.webhooks.SETTABLE",
        "ExecutionState": "incidents.choices.ExecutionState",
        "ConnectorKind": "incidents.choices.ConnectorKind",
        "TicketState": "incidents.choices.TicketState",
    },
    "WEBHOOKS": ["incidents.api.outgoing.EVENT"],
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "incidents.api.outgoing.headers_of_messages",
        "incidents.api.plain_schema.null_said_once",
        "incidents.api.expanding.fuller_types",
    ],
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
}
