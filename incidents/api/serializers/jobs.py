"""Jobs, attempts and placements."""

from collections.abc import Sequence
from typing import Any

from rest_framework import serializers

from incidents.api.serializers.base import RequestSerializer
from incidents.api.serializers.fields import GpuField, HostNameField, InstantField
from incidents.choices import JobState
from incidents.models import Attempt, Job, RankPlacement
from incidents.services.jobs import PlacedRank

_SIZES = ("tp_size", "pp_size", "dp_size", "ep_size")
#: What the database's 32-bit counters hold.
MAX_COUNT = 2**31 - 1
#: More ranks than any job has; keeps a hostile body from filling the database.
MAX_RANKS = 200_000
ATTEMPT_ENDS = [
    (state.value, state.label)
    for state in (JobState.COMPLETED, JobState.FAILED, JobState.CANCELLED)
]


class JobSerializer(serializers.ModelSerializer[Job]):
    """A training job, known to its scheduler by `external_id`."""

    cluster = serializers.CharField(source="cluster.name")
    attempt_count = serializers.IntegerField()
    open_incident_count = serializers.IntegerField()
    created_at = InstantField()

    class Meta:
        model = Job
        fields = [
            "id",
            "cluster",
            "source",
            "external_id",
            "name",
            "owner",
            "framework",
            "state",
            *_SIZES,
            "attempt_count",
            "open_incident_count",
            "created_at",
        ]


class JobRequestSerializer(RequestSerializer):
    """A job to register, or to bring up to date; what is left out stays as it is."""

    external_id = serializers.CharField(max_length=200, help_text="The scheduler's id.")
    source = serializers.CharField(  # type: ignore[assignment]
        max_length=50, required=False, allow_blank=True, help_text="slurm, kubernetes, …"
    )
    cluster = serializers.CharField(
        max_length=100,
        required=False,
        allow_blank=True,
        help_text="Registered where it is new; `default` where it is left out.",
    )
    name = serializers.CharField(max_length=200, required=False, allow_blank=True)
    owner = serializers.CharField(max_length=200, required=False, allow_blank=True)
    framework = serializers.CharField(max_length=100, required=False, allow_blank=True)
    tp_size = serializers.IntegerField(required=False, min_value=1, max_value=MAX_COUNT)
    pp_size = serializers.IntegerField(required=False, min_value=1, max_value=MAX_COUNT)
    dp_size = serializers.IntegerField(required=False, min_value=1, max_value=MAX_COUNT)
    ep_size = serializers.IntegerField(required=False, min_value=1, max_value=MAX_COUNT)


class AttemptSerializer(serializers.ModelSerializer[Attempt]):
    """One run of a job, from a start or restart to its end."""

    job = serializers.IntegerField(source="job_id")
    started_at = InstantField()
    ended_at = InstantField(allow_null=True)

    class Meta:
        model = Attempt
        fields = ["id", "job", "number", "started_at", "ended_at", "outcome"]


class PlacementListSerializer(serializers.ListSerializer[Any]):
    """A whole placement: no rank stands in it twice."""

    def validate(self, attrs: Sequence[PlacedRank]) -> Sequence[PlacedRank]:
        """Names the row of a rank that was placed before."""
        seen: dict[int, int] = {}
        for row, place in enumerate(attrs):
            if place.rank in seen:
                again = {"rank": [f"Rank {place.rank} stands in row {seen[place.rank]} as well."]}
                raise serializers.ValidationError([{}] * row + [again])
            seen[place.rank] = row
        return attrs


class PlacedRankSerializer(RequestSerializer):
    """One row of a placement, as `placement.json` has it."""

    rank = serializers.IntegerField(min_value=0, max_value=MAX_COUNT)
    host = HostNameField()
    local_rank = serializers.IntegerField(
        min_value=0, max_value=MAX_COUNT, required=False, allow_null=True
    )
    gpu = GpuField(required=False, allow_null=True)
    gpu_uuid = serializers.CharField(max_length=100, required=False, allow_null=True)
    nic = serializers.CharField(max_length=100, required=False, allow_null=True)
    stage = serializers.IntegerField(
        min_value=0, max_value=MAX_COUNT, required=False, allow_null=True
    )
    dp = serializers.IntegerField(min_value=0, max_value=MAX_COUNT, required=False, allow_null=True)
    tp = serializers.IntegerField(min_value=0, max_value=MAX_COUNT, required=False, allow_null=True)
    ep = serializers.IntegerField(min_value=0, max_value=MAX_COUNT, required=False, allow_null=True)

    class Meta:
        list_serializer_class = PlacementListSerializer

    def validate(self, attrs: Any) -> PlacedRank:
        """The row as the service takes it."""
        return PlacedRank(**attrs)

    def to_representation(self, instance: RankPlacement) -> dict[str, Any]:
        """The contract's row; optional columns only where they are known."""
        row: dict[str, Any] = {
            "rank": instance.rank,
            "host": instance.host.name,
            "local_rank": instance.local_rank,
            "gpu": GpuField().to_representation(instance.gpu),
        }
        optional = {name: getattr(instance, name) for name in _OPTIONAL}
        return row | {name: value for name, value in optional.items() if value not in {None, ""}}


_OPTIONAL = ("gpu_uuid", "nic", "stage", "dp", "tp", "ep")


class AttemptRequestSerializer(RequestSerializer):
    """A new attempt; the next number unless one is given."""

    number = serializers.IntegerField(required=False, min_value=1, max_value=MAX_COUNT)
    started_at = InstantField(required=False)
    placement = PlacementListSerializer(
        child=PlacedRankSerializer(), required=False, max_length=MAX_RANKS
    )


class AttemptChangeSerializer(RequestSerializer):
    """How an attempt ended."""

    outcome = serializers.ChoiceField(choices=ATTEMPT_ENDS)
    ended_at = InstantField(required=False)

    def validate_outcome(self, value: Any) -> JobState:
        return JobState(value)
