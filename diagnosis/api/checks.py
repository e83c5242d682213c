"""Checks before delivery: suites, runs, and the work of the runners on the hosts."""

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiExample
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from diagnosis.models import CheckedHost, CheckRun, CheckRunner, CheckSuite, CheckTask
from diagnosis.services import check_runs, check_suites, check_tasks, offline
from incidents.api.describing import takes
from incidents.api.idempotency import idempotent
from incidents.api.serializers.fields import HostNameField, InstantField
from incidents.api.viewsets.base import RecordViewSet, record_of
from incidents.roles import Capability


class CheckSuiteSerializer(serializers.ModelSerializer[CheckSuite]):
    """One version of a suite, with its items."""

    created_at = InstantField(read_only=True)

    class Meta:
        model = CheckSuite
        fields = ["id", "code", "version", "title", "definition", "created_at", "who", "why"]


class NewSuiteSerializer(serializers.Serializer[Any]):
    """A suite's new version: its definition as an object, as in the shipped YAML."""

    definition = serializers.DictField()
    why = serializers.CharField(max_length=500, required=False, allow_blank=True)


class CheckedHostSerializer(serializers.ModelSerializer[CheckedHost]):
    """A host's verdict with the reasons: item, value, peers and criterion."""

    host = serializers.CharField(source="host.name")
    host_id = serializers.IntegerField(source="host.pk")
    decision = serializers.CharField(help_text="deliver, hold, repeat, or empty until it is known.")
    waits_for = serializers.CharField(
        help_text="What has to be done before there can be a verdict; empty for nothing."
    )
    incident = serializers.IntegerField(source="incident_id", allow_null=True)
    reasons = serializers.ListField(child=serializers.DictField())

    class Meta:
        model = CheckedHost
        fields = ["host", "host_id", "decision", "waits_for", "reasons", "incident"]


class CheckRunSerializer(serializers.ModelSerializer[CheckRun]):
    """A check of some hosts."""

    suite = serializers.CharField(source="suite.code")
    suite_version = serializers.IntegerField(source="suite.version")
    cluster = serializers.CharField(source="cluster.name")
    started_at = InstantField()
    finished_at = InstantField(allow_null=True)
    decision = serializers.CharField(help_text="deliver, hold, repeat, or empty until it is known.")
    mass = serializers.ListField(child=serializers.CharField())
    hosts = CheckedHostSerializer(many=True)

    class Meta:
        model = CheckRun
        fields = [
            "id",
            "suite",
            "suite_version",
            "cluster",
            "state",
            "phase",
            "requested_by",
            "started_at",
            "finished_at",
            "decision",
            "mass",
            "again_of",
            "hosts",
        ]


class NewRunSerializer(serializers.Serializer[Any]):
    """Which hosts to check by which suite."""

    suite = serializers.CharField(max_length=100)
    hosts = serializers.ListField(child=HostNameField(), allow_empty=False, max_length=5000)
    cluster = serializers.CharField(max_length=100, required=False, allow_blank=True)
    confirm = serializers.BooleanField(
        required=False, default=False, help_text="Go on with hosts on which a job runs."
    )


class RepeatSerializer(serializers.Serializer[Any]):
    """The same hosts again."""

    confirm = serializers.BooleanField(
        required=False, default=False, help_text="Go on with hosts on which a job runs."
    )


class NewRunnerSerializer(serializers.Serializer[Any]):
    """A runner that says it is there; `address` is where other hosts reach this one."""

    host = HostNameField()
    cluster = serializers.CharField(max_length=100, required=False, allow_blank=True)
    address = serializers.CharField(max_length=255, required=False, allow_blank=True)
    version = serializers.CharField(max_length=50, required=False, allow_blank=True)


class RunnerSerializer(serializers.ModelSerializer[CheckRunner]):
    """A runner."""

    host = serializers.CharField(source="host.name")
    seen_at = InstantField()

    class Meta:
        model = CheckRunner
        fields = ["id", "host", "address", "version", "seen_at"]


class TaskSerializer(serializers.Serializer[Any]):
    """One command to run. `peer` is the other host's address in a pair, `role` this one's part."""

    id = serializers.IntegerField()
    item = serializers.CharField()
    command = serializers.CharField()
    time_limit_s = serializers.FloatField()
    role = serializers.CharField(allow_blank=True)
    peer = serializers.CharField(allow_blank=True)
    port = serializers.IntegerField()
    hosts = serializers.ListField(child=serializers.CharField())


class ClaimSerializer(serializers.Serializer[Any]):
    """The next task, or null where there is nothing to do."""

    task = TaskSerializer(allow_null=True)


class OutputSerializer(serializers.Serializer[Any]):
    """Output since the last call; `ending` ends the task."""

    stdout = serializers.CharField(required=False, allow_blank=True, trim_whitespace=False)
    stderr = serializers.CharField(required=False, allow_blank=True, trim_whitespace=False)
    ending = serializers.ChoiceField(
        choices=["exited", "timed-out", "missing", "lost"], required=False
    )
    exit_code = serializers.IntegerField(required=False, allow_null=True)


class TakenOutputSerializer(serializers.Serializer[Any]):
    """Where the task stands now."""

    state = serializers.CharField()


_RUN = OpenApiExample(
    "Two repaired hosts", {"suite": "light", "hosts": ["node-001", "node-002"]}, request_only=True
)


class CheckSuiteViewSet(RecordViewSet):
    """Suites of checks."""

    needs = {"POST": Capability.OPERATE}
    queryset = CheckSuite.objects.all()
    serializer_class = CheckSuiteSerializer

    def list(self, request: Request) -> Response:
        """Every version of every suite, newest first."""
        check_suites.ensure_shipped()
        return self.page(self.get_queryset())

    @takes(NewSuiteSerializer, gives={201: CheckSuiteSerializer})
    @idempotent()
    def create(self, request: Request) -> Response:
        """Save a suite as its next version; runs that have begun keep theirs."""
        given = self.given(NewSuiteSerializer)
        saved = check_suites.save_version(actor=self.actor, **given)
        return Response(self.shown(saved), status=201)


class CheckRunViewSet(RecordViewSet):
    """Checks of hosts before they are handed to a job."""

    needs = {"POST": Capability.OPERATE}
    queryset = CheckRun.objects.none()
    serializer_class = CheckRunSerializer

    def get_queryset(self) -> QuerySet[CheckRun]:
        """Asked at each request, within the reach of whoever asks."""
        runs = CheckRun.objects.select_related("suite", "cluster")
        return runs.prefetch_related("hosts__host__runner")

    def list(self, request: Request) -> Response:
        """Checks, newest first."""
        return self.page(self.get_queryset())

    def retrieve(self, request: Request, pk: int) -> Response:
        """One check with its verdicts."""
        return Response(self.shown(record_of(self.get_queryset(), pk)))

    @takes(NewRunSerializer, gives={201: CheckRunSerializer}, examples=[_RUN])
    @idempotent()
    def create(self, request: Request) -> Response:
        """Check hosts; they count as being checked until the verdict."""
        given = self.given(NewRunSerializer)
        run = check_runs.start(actor=self.actor, names=given.pop("hosts"), **given)
        return Response(self.shown(record_of(self.get_queryset(), run.pk)), status=201)

    @takes(RepeatSerializer, gives={201: CheckRunSerializer})
    @idempotent()
    def repeat(self, request: Request, pk: int) -> Response:
        """Check the same hosts again, by the suite's newest version."""
        given = self.given(RepeatSerializer)
        run = check_runs.repeat(actor=self.actor, run=record_of(self.get_queryset(), pk), **given)
        return Response(self.shown(record_of(self.get_queryset(), run.pk)), status=201)

    @takes(None, gives={200: CheckRunSerializer})
    def cancel(self, request: Request, pk: int) -> Response:
        """End it without a verdict; its hosts go back to where they stood."""
        check_runs.cancel(actor=self.actor, run=record_of(self.get_queryset(), pk))
        return Response(self.shown(record_of(self.get_queryset(), pk)))


class CheckRunnerViewSet(RecordViewSet):
    """Runners on the hosts."""

    needs = {"POST": Capability.REGISTER_JOBS}
    queryset = CheckRunner.objects.none()
    serializer_class = RunnerSerializer

    def get_queryset(self) -> QuerySet[CheckRunner]:
        """Asked at each request, within the reach of whoever asks."""
        return CheckRunner.objects.select_related("host")

    def list(self, request: Request) -> Response:
        """Runners, and when each was last heard of."""
        return self.page(self.get_queryset())

    @takes(NewRunnerSerializer, gives={200: RunnerSerializer})
    def create(self, request: Request) -> Response:
        """Say that a runner is there. What it held before it stopped is given out anew."""
        given = self.given(NewRunnerSerializer)
        runner = check_tasks.register(actor=self.actor, name=given.pop("host"), **given)
        return Response(self.shown(runner))

    @takes(None, gives={200: ClaimSerializer})
    def claim(self, request: Request, pk: int) -> Response:
        """Take the next command of the runner's host."""
        runner = record_of(self.get_queryset(), pk)
        task = check_tasks.claim(actor=self.actor, runner=runner)
        return Response(ClaimSerializer({"task": _order(task) if task else None}).data)


class CheckTaskViewSet(RecordViewSet):
    """Output of commands on hosts."""

    needs = {"POST": Capability.REGISTER_JOBS}
    queryset = CheckTask.objects.none()
    serializer_class = TakenOutputSerializer
    pagination_class = None

    def get_queryset(self) -> QuerySet[CheckTask]:
        """Asked at each request, within the reach of whoever asks."""
        return CheckTask.objects.select_related("run")

    @takes(OutputSerializer, gives={200: TakenOutputSerializer})
    def output(self, request: Request, pk: int) -> Response:
        """Send raw output as it comes, and how the command ended."""
        given = self.given(OutputSerializer)
        task = check_tasks.take_output(
            actor=self.actor, task=record_of(self.get_queryset(), pk), **given
        )
        if given.get("ending"):
            _call_for(task)
        return Response(self.shown({"state": task.state}))


def _call_for(task: CheckTask) -> None:
    """Calls a worker for what the task belongs to."""
    if task.run is not None:
        check_runs.call_for(task.run)
    elif task.offline_id is not None:
        offline.call_for(task.offline_id)


def _order(task: CheckTask) -> dict[str, Any]:
    item = task.definition
    peer = CheckRunner.objects.filter(host=task.peer).first() if task.peer else None
    return {
        "id": task.pk,
        "item": task.item,
        "command": item.command,
        "time_limit_s": item.time_limit_s,
        "role": task.role,
        "peer": peer.address if peer else str(task.peer or ""),
        "port": task.port,
        "hosts": task.members,
    }
