"""Incidents: what is shown, how one is opened, and what can be changed."""

from typing import Any

from rest_framework import serializers

from incidents.api.serializers.base import RequestSerializer
from incidents.api.serializers.fields import (
    HostNameField,
    InstantField,
    NamedField,
    PlausibleInstantField,
    WithClass,
)
from incidents.api.serializers.tickets import TicketSerializer
from incidents.choices import DiagnosisState, IncidentKind, IncidentStatus, Resolution, Severity
from incidents.models import Attempt, Incident, Job, User

MAX_HOSTS = 20_000
#: Where the newest run stands; empty before the first.
NEWEST_STATES = [("", "none yet"), *DiagnosisState.choices]


class JobBriefSerializer(serializers.ModelSerializer[Job]):
    """Which job an incident is about."""

    class Meta:
        model = Job
        fields = ["id", "external_id", "source", "name", "owner"]


class AttemptBriefSerializer(serializers.ModelSerializer[Attempt]):
    """Which attempt of the job."""

    class Meta:
        model = Attempt
        fields = ["id", "number"]


class NewestDiagnosisSerializer(WithClass):
    """What the newest finished diagnosis says, and where the newest run stands."""

    state = serializers.ChoiceField(choices=NEWEST_STATES, source="diagnosis_state")
    summary = serializers.CharField(source="verdict_summary")
    confidence = serializers.FloatField(allow_null=True)
    suspect = serializers.CharField(source="suspect_name")
    suspect_score = serializers.FloatField(allow_null=True)


class HostNamesField(serializers.ListField):
    """The hosts' names, as first given."""

    child = serializers.CharField()

    def to_representation(self, data: Any) -> list[str]:
        return [host.name for host in data.all()]


class IncidentSerializer(serializers.ModelSerializer[Incident]):
    """Something that went wrong with a job or hosts. `version` counts what people changed."""

    reference = serializers.CharField()
    cluster = serializers.CharField(source="cluster.name")
    job = JobBriefSerializer(allow_null=True)
    attempt = AttemptBriefSerializer(allow_null=True)
    hosts = HostNamesField()
    assignee = serializers.CharField(source="assignee.username", allow_null=True, default=None)
    merged_into = serializers.IntegerField(source="merged_into_id", allow_null=True)
    split_from = serializers.IntegerField(source="split_from_id", allow_null=True)
    snoozed_until = InstantField(allow_null=True)
    tickets = TicketSerializer(many=True)
    diagnosis = NewestDiagnosisSerializer(source="*")
    gpus_freed_at = InstantField(
        allow_null=True, help_text="When its attempt ended or a later one began."
    )
    onset_at = InstantField(allow_null=True)
    opened_at = InstantField()
    acknowledged_at = InstantField(allow_null=True)
    mitigated_at = InstantField(allow_null=True)
    resolved_at = InstantField(allow_null=True)
    updated_at = InstantField()

    class Meta:
        model = Incident
        fields = [
            "id",
            "reference",
            "title",
            "kind",
            "severity",
            "status",
            "resolution",
            "resolution_note",
            "source",
            "dedup_key",
            "version",
            "cluster",
            "job",
            "attempt",
            "hosts",
            "gpu_count",
            "gpus_freed_at",
            "assignee",
            "merged_into",
            "split_from",
            "snoozed_until",
            "snoozed_for_news",
            "tickets",
            "diagnosis",
            "onset_at",
            "opened_at",
            "acknowledged_at",
            "mitigated_at",
            "resolved_at",
            "updated_at",
        ]


class IncidentRequestSerializer(RequestSerializer):
    """A report: about an attempt, hosts, a job, or just a title."""

    title = serializers.CharField(
        max_length=300, required=False, help_text="Made from attempt or hosts where left out."
    )
    kind = serializers.ChoiceField(choices=IncidentKind.choices, required=False)
    severity = serializers.ChoiceField(choices=Severity.choices, required=False)
    source = serializers.CharField(  # type: ignore[assignment]
        max_length=50, required=False, help_text="Who reports this."
    )
    dedup_key = serializers.CharField(
        max_length=255, required=False, help_text="Joins the open incident with the same key."
    )
    job = serializers.PrimaryKeyRelatedField(queryset=Job.objects, required=False)
    attempt = serializers.PrimaryKeyRelatedField(queryset=Attempt.objects, required=False)
    hosts = serializers.ListField(child=HostNameField(), required=False, max_length=MAX_HOSTS)
    cluster = serializers.CharField(
        max_length=100,
        required=False,
        help_text="Where the hosts are, if no job says it; else the only one that has them all.",
    )
    onset_at = PlausibleInstantField(required=False, help_text="When it began, as far as is known.")
    ended_at = PlausibleInstantField(
        required=False, help_text="When it was over, if it is; not before `onset_at`."
    )

    def validate(self, attrs: Any) -> Any:
        """Gives the report a title; refuses another job's attempt, and an end before the onset."""
        attempt, job = attrs.get("attempt"), attrs.get("job")
        _refuse_foreign(attempt, job)
        onset, ended = attrs.get("onset_at"), attrs.get("ended_at")
        if onset and ended and ended < onset:
            raise serializers.ValidationError({"ended_at": ["It was over before it began."]})
        title = attrs.get("title") or _title(attempt, job, attrs.get("hosts", ()))
        if not title:
            needed = "Give a title, an attempt, a job or hosts."
            raise serializers.ValidationError({"title": [needed]})
        return {
            **attrs,
            "title": title,
            "kind": IncidentKind(attrs.get("kind", IncidentKind.NONE)),
            "severity": Severity(attrs.get("severity", Severity.MEDIUM)),
        }


def _refuse_foreign(attempt: Attempt | None, job: Job | None) -> None:
    if attempt is not None and job is not None and attempt.job_id != job.pk:
        raise serializers.ValidationError({"attempt": ["It is an attempt of another job."]})


def _title(attempt: Attempt | None, job: Job | None, hosts: list[str]) -> str:
    if attempt is not None or job is not None:
        return f"{attempt or job} broke"[:300]
    if len(hosts) > 3:
        return f"{hosts[0]} and {len(hosts) - 1} more hosts"[:300]
    return ", ".join(hosts)[:300]


class IncidentChangeSerializer(RequestSerializer):
    """A step in the incident's life, a new assignee, a correction, or all of them."""

    title = serializers.CharField(max_length=300, required=False)
    kind = serializers.ChoiceField(choices=IncidentKind.choices, required=False)
    severity = serializers.ChoiceField(choices=Severity.choices, required=False)
    job = serializers.PrimaryKeyRelatedField(queryset=Job.objects, required=False)
    attempt = serializers.PrimaryKeyRelatedField(
        queryset=Attempt.objects,
        required=False,
        help_text="Brings its job along.",
    )

    status = serializers.ChoiceField(choices=IncidentStatus.choices, required=False)
    resolution = serializers.ChoiceField(
        choices=Resolution.choices, required=False, help_text="Needed to resolve."
    )
    note = serializers.CharField(required=False, allow_blank=True, default="", max_length=10_000)
    assignee = NamedField(
        slug_field="username",
        queryset=User.objects.all(),
        required=False,
        allow_null=True,
        help_text="A user name; null for nobody.",
    )

    def validate(self, attrs: Any) -> Any:
        """Refuses an empty change, and a resolution without its status or the other way round."""
        if not attrs.keys() - {"note", "resolution"}:
            raise serializers.ValidationError("Give what is to change.")
        _refuse_foreign(attrs.get("attempt"), attrs.get("job"))
        resolves = attrs.get("status") == IncidentStatus.RESOLVED
        if resolves and "resolution" not in attrs:
            raise serializers.ValidationError({"resolution": ["Say how it was resolved."]})
        if not resolves and "resolution" in attrs:
            needed = 'It goes with {"status": "resolved"}.'
            raise serializers.ValidationError({"resolution": [needed]})
        return attrs


class NoteSerializer(RequestSerializer):
    """A note for the timeline."""

    text = serializers.CharField(max_length=10_000)


class UpsertSerializer(IncidentRequestSerializer):
    """An incident as another system sees it: what is left out stays, or is the default at first."""

    source = None  # type: ignore[assignment]
    status = serializers.ChoiceField(choices=IncidentStatus.choices, required=False)
    resolution = serializers.ChoiceField(
        choices=Resolution.choices, required=False, help_text="Needed to resolve."
    )
    note = serializers.CharField(required=False, allow_blank=True, max_length=10_000)
    assignee = NamedField(
        slug_field="username", queryset=User.objects.all(), required=False, allow_null=True
    )

    def validate(self, attrs: Any) -> Any:
        """As for a report, but what is not given is left out; a status asks for what it needs."""
        filled = super().validate(attrs)
        resolves = attrs.get("status") == IncidentStatus.RESOLVED
        if resolves != ("resolution" in attrs):
            needed = 'It goes with {"status": "resolved"}, and that with it.'
            raise serializers.ValidationError({"resolution": [needed]})
        given = {name: filled[name] for name in attrs}
        return {**given, "title": filled["title"]}
