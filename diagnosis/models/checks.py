"""Checks before delivery: suites by version, runs, the work of the runners, and the verdicts."""

from typing import Any, ClassVar

from django.db import models
from django.utils import timezone

from diagnosis.checks.suite import Item, Suite, suite_of
from incidents.models import Cluster, Host, Incident
from incidents.models.managers import ReachedManager
from incidents.roles import Capability


class RunState(models.TextChoices):
    """Where a run stands."""

    RUNNING = "running", "Running"
    DONE = "done", "Done"
    CANCELLED = "cancelled", "Cancelled"


class TaskState(models.TextChoices):
    """Where one piece of a runner's work stands."""

    WAITING = "waiting", "Waiting"
    CLAIMED = "claimed", "Running"
    DONE = "done", "Done"


class HostDecision(models.TextChoices):
    """What becomes of a host; empty until it is known."""

    DELIVER = "deliver", "Deliver"
    HOLD = "hold", "Hold"
    REPEAT = "repeat", "Repeat"


class CheckSuite(models.Model):
    """One version of a suite; an edit is a new row. `definition` is what `suite_of` reads."""

    edited_by: ClassVar[Capability] = Capability.OPERATE

    code = models.SlugField(max_length=100)
    version = models.PositiveIntegerField()
    title = models.CharField(max_length=200)
    definition = models.JSONField()
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    who = models.CharField(max_length=200)
    why = models.CharField(max_length=500, blank=True)

    class Meta:
        ordering = ["code", "-version"]
        constraints = [models.UniqueConstraint(fields=["code", "version"], name="suite_version")]

    def __str__(self) -> str:
        return f"{self.title}, version {self.version}"

    @property
    def suite(self) -> Suite:
        return suite_of(self.definition)


class CheckRun(models.Model):
    """One check of some hosts. `learned` are the values of delivered hosts, for later runs;
    `incident` is that of a batch that failed as a whole.
    """

    edited_by: ClassVar[Capability] = Capability.OPERATE

    suite = models.ForeignKey(CheckSuite, on_delete=models.PROTECT, related_name="runs")
    cluster = models.ForeignKey(Cluster, on_delete=models.PROTECT, related_name="+")
    state = models.CharField(max_length=16, choices=RunState.choices, default=RunState.RUNNING)
    phase = models.CharField(max_length=16, blank=True)
    requested_by = models.CharField(max_length=200)
    started_at = models.DateTimeField(default=timezone.now)
    deadline_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, blank=True)
    decision = models.CharField(max_length=16, choices=HostDecision.choices, blank=True)
    mass = models.JSONField(default=list, blank=True)
    learned = models.JSONField(default=dict, blank=True)
    incident = models.ForeignKey(
        Incident, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    again_of = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="repeats"
    )

    objects: ClassVar[models.Manager["CheckRun"]] = ReachedManager.by("cluster__name")

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["state"], name="check_run_state")]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(state__in=RunState.values), name="check_run_state_known"
            )
        ]

    def __str__(self) -> str:
        return f"Check {self.pk}"

    @property
    def is_over(self) -> bool:
        return self.state != RunState.RUNNING


class CheckedHost(models.Model):
    """One host of a run: `before` is the state it came in, `reasons` what each item said."""

    edited_by: ClassVar[Capability] = Capability.ADMINISTER

    run = models.ForeignKey(CheckRun, on_delete=models.CASCADE, related_name="hosts")
    host = models.ForeignKey(Host, on_delete=models.PROTECT, related_name="checks")
    before = models.CharField(max_length=16, blank=True)
    decision = models.CharField(max_length=16, choices=HostDecision.choices, blank=True)
    reasons = models.JSONField(default=list, blank=True)
    incident = models.ForeignKey(
        Incident, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    objects: ClassVar[models.Manager["CheckedHost"]] = ReachedManager.by("host__cluster__name")

    class Meta:
        ordering = ["host__normalised_name"]
        constraints = [models.UniqueConstraint(fields=["run", "host"], name="checked_once_a_run")]

    def __str__(self) -> str:
        return f"{self.host} in check {self.run_id}"

    @property
    def waits_for(self) -> str:
        """What has to be done before there can be a verdict; empty for nothing."""
        if self.run.is_over:
            return ""
        runner: CheckRunner | None = getattr(self.host, "runner", None)
        if runner is not None and runner.seen_at >= self.run.started_at:
            return ""
        return "No runner of this host has asked yet: start tools/check-runner there."

    @property
    def against(self) -> list[dict[str, Any]]:
        """The reasons that keep it from being delivered."""
        return [reason for reason in self.reasons if reason["status"] != "passed"]


class CheckRunner(models.Model):
    """The runner on one host; `address` is where other hosts reach it."""

    edited_by: ClassVar[Capability] = Capability.OPERATE

    host = models.OneToOneField(Host, on_delete=models.CASCADE, related_name="runner")
    address = models.CharField(max_length=255)
    version = models.CharField(max_length=50, blank=True)
    seen_at = models.DateTimeField(default=timezone.now)

    objects: ClassVar[models.Manager["CheckRunner"]] = ReachedManager.by("host__cluster__name")

    class Meta:
        ordering = ["host__normalised_name"]

    def __str__(self) -> str:
        return f"Runner on {self.host}"


class CheckTask(models.Model):
    """One command on one host, for a check (`run`) or for a group of the round `number` of an
    offline diagnosis (`offline`). `members` are the hosts whose item it is, this one first; `role`
    is this host's part in a pair. A runner holds it under a lease that its output extends.
    """

    edited_by: ClassVar[Capability] = Capability.ADMINISTER

    run = models.ForeignKey(
        CheckRun, null=True, blank=True, on_delete=models.CASCADE, related_name="tasks"
    )
    offline = models.ForeignKey(
        "OfflineDiagnosis", null=True, blank=True, on_delete=models.CASCADE, related_name="tasks"
    )
    number = models.PositiveIntegerField("round", default=0)
    group = models.PositiveIntegerField(default=0)
    host = models.ForeignKey(Host, on_delete=models.PROTECT, related_name="+")
    item = models.CharField(max_length=100)
    members = models.JSONField(default=list)
    role = models.CharField(max_length=16, blank=True)
    peer = models.ForeignKey(
        Host, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    port = models.PositiveIntegerField(default=0)
    state = models.CharField(max_length=16, choices=TaskState.choices, default=TaskState.WAITING)
    lost = models.PositiveIntegerField("times that its runner was lost", default=0)
    lease_expires_at = models.DateTimeField(null=True, blank=True)
    ending = models.CharField(max_length=16, blank=True)
    exit_code = models.IntegerField(null=True, blank=True)
    stdout = models.TextField(blank=True)
    stderr = models.TextField(blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    objects: ClassVar[models.Manager["CheckTask"]] = ReachedManager.by("host__cluster__name")

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["host", "state"], name="check_task_claim")]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(state__in=TaskState.values), name="check_task_state_known"
            ),
            models.CheckConstraint(
                condition=models.Q(run__isnull=True) ^ models.Q(offline__isnull=True),
                name="check_task_of_one",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.item} on {self.host}"

    @property
    def definition(self) -> Item:
        """The item as its suite had it when the work began."""
        whole = self.run or self.offline
        if whole is None or whole.suite is None:
            raise ValueError("a task belongs to a check or to a round")
        return whole.suite.suite.item(self.item)


class OfflineDiagnosis(models.Model):
    """Rounds of an offline diagnosis: `rounds` holds purpose, groups of host names, and results
    (None while the newest one is open); `answer` is the contract's shape once it is over.

    `item` of `suite` is the test that runners run on a group until `deadline_at`; without one,
    results come from outside.
    """

    edited_by: ClassVar[Capability] = Capability.OPERATE

    cluster = models.ForeignKey(Cluster, on_delete=models.PROTECT, related_name="+")
    incident = models.ForeignKey(
        Incident, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    state = models.CharField(max_length=16, choices=RunState.choices, default=RunState.RUNNING)
    requested_by = models.CharField(max_length=200)
    started_at = models.DateTimeField(default=timezone.now)
    finished_at = models.DateTimeField(null=True, blank=True)
    suite = models.ForeignKey(
        CheckSuite, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    item = models.CharField(max_length=100, blank=True)
    deadline_at = models.DateTimeField(null=True, blank=True)
    topology = models.JSONField()
    rounds = models.JSONField(default=list)
    answer = models.JSONField(default=dict, blank=True)

    objects: ClassVar[models.Manager["OfflineDiagnosis"]] = ReachedManager.by("cluster__name")

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"Offline diagnosis {self.pk}"

    @property
    def is_over(self) -> bool:
        return self.state != RunState.RUNNING
