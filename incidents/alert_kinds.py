"""How the messages of known systems are read. Each is an ordinary mapping, and can be copied."""

from collections.abc import Mapping

#: https://prometheus.io/docs/alerting/latest/configuration/#webhook_config, version 4.
ALERTMANAGER = {
    "items": "alerts",
    "key": "fingerprint",
    "status": "status",
    "title": "labels.alertname",
    "note": "annotations.summary || annotations.description || annotations.message",
    "severity": "labels.severity",
    "kind": "labels.aegis_kind",
    "hosts": (
        "labels.hostname || labels.Hostname || labels.node || labels.host || labels.nodename"
        " || labels.kubernetes_node || labels.exported_node"
    ),
    "known_hosts": "labels.instance",
    "job": (
        "labels.job_id || labels.slurm_job_id || labels.slurmjobid || labels.jobid"
        " || labels.hpc_job || labels.job_name"
    ),
    "cluster": "labels.cluster",
    "started_at": "startsAt",
    "ended_at": "endsAt",
}
#: https://developer.pagerduty.com/docs/events-api-v2-overview; `source` need not be a host.
PAGERDUTY = {
    "key": "dedup_key",
    "status": "event_action",
    "title": "payload.summary || 'PagerDuty event'",
    "severity": "payload.severity",
    "kind": "payload.custom_details.kind",
    "hosts": "payload.custom_details.host || payload.custom_details.hostname",
    "known_hosts": "[payload.source, payload.component]",
    "job": "payload.custom_details.job_id",
    "cluster": "payload.custom_details.cluster",
    "started_at": "payload.timestamp",
}
#: https://github.com/cloudevents/spec, version 1.0; what `data` holds is up to the sender.
CLOUDEVENTS = {
    "key": "join('/', [source, data.key || subject || id])",
    "status": "data.status",
    "title": "data.title || type",
    "note": "data.summary || data.message || data.description",
    "severity": "data.severity",
    "kind": "data.kind",
    "hosts": "data.hosts || data.host || data.node",
    "job": "data.job_id || data.job",
    "cluster": "data.cluster",
    "started_at": "data.started_at || time",
}
#: NVSentinel's event exporter: CloudEvents of type com.nvidia.nvsentinel.health.v1. A healthy
#: event clears what its check said of the same parts, or of all where it names none. Events that
#: NVSentinel itself only stores, in a dry run, open nothing here either.
NVSENTINEL = {
    "items": "[@][] | [?data.healthEvent.processingStrategy != 'STORE_ONLY']",
    "key": (
        "join('/', [data.healthEvent.nodeName, data.healthEvent.checkName, join(',',"
        " data.healthEvent.entitiesImpacted[].join(':', [entityType, entityValue]) || ['*'])])"
    ),
    "status": "data.healthEvent.isHealthy && 'resolved' || 'firing'",
    "title": "data.healthEvent.checkName",
    "note": "data.healthEvent.message",
    "severity": "data.healthEvent.isFatal && 'critical' || 'warning'",
    "hosts": "data.healthEvent.nodeName",
    "cluster": "data.metadata.cluster",
    "started_at": "data.healthEvent.generatedTimestamp",
}
#: Where an operator begins who has none of these.
GENERIC = {
    "key": "id",
    "status": "status",
    "title": "title",
    "note": "message",
    "severity": "severity",
    "hosts": "host",
    "job": "job",
    "started_at": "time",
}

MAPPINGS: Mapping[str, Mapping[str, str]] = {
    "alertmanager": ALERTMANAGER,
    "pagerduty": PAGERDUTY,
    "cloudevents": CLOUDEVENTS,
    "nvsentinel": NVSENTINEL,
    "generic": GENERIC,
}
#: The inboxes that are there without being set up.
BUILT_IN = tuple(kind for kind in MAPPINGS if kind != "generic")
