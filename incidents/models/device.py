"""GPUs and NICs by serial number or UUID, where they sit, and what befell them."""

from typing import ClassVar

from django.db import models
from django.utils import timezone

from incidents import reach
from incidents.choices import SuspectRole, TargetKind
from incidents.models.constraints import one_of, share
from incidents.models.diagnosis import Diagnosis
from incidents.models.incident import Incident
from incidents.models.managers import ReachedManager
from incidents.models.topology import Host
from incidents.roles import Capability


class DeviceManager(models.Manager["Device"]):
    """Parts that sit, or sat, in a host within reach."""

    def get_queryset(self) -> models.QuerySet["Device"]:
        rows = super().get_queryset()
        if not reach.current().is_limited:
            return rows
        return rows.filter(pk__in=DeviceSeat.objects.values("device"))


class Device(models.Model):
    """A part that can be pulled out and put into another host.

    Without serial number and UUID it is known by its seat alone, until evidence tells one.
    """

    edited_by: ClassVar[Capability] = Capability.OPERATE

    kind = models.CharField(max_length=16, choices=TargetKind.choices)
    serial = models.CharField("serial number", max_length=100, blank=True)
    uuid = models.CharField("UUID or GUID", max_length=100, blank=True)
    model = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects: ClassVar[DeviceManager] = DeviceManager()

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["kind", "uuid"], condition=~models.Q(uuid=""), name="device_uuid_once"
            ),
            models.UniqueConstraint(
                fields=["kind", "serial"],
                condition=~models.Q(serial="") & models.Q(uuid=""),
                name="device_serial_once",
            ),
            one_of("kind", TargetKind, name="device_kind_known"),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.identity or f'no. {self.pk}'}"

    @property
    def identity(self) -> str:
        """What stays with the part when it moves; empty where that is not known."""
        return self.uuid or self.serial


class DeviceSeat(models.Model):
    """A device in one place of one host, from when to when it was seen there."""

    edited_by: ClassVar[Capability] = Capability.OPERATE

    device = models.ForeignKey(Device, on_delete=models.CASCADE, related_name="seats")
    host = models.ForeignKey(Host, on_delete=models.PROTECT, related_name="device_seats")
    pci = models.CharField("PCI address", max_length=20, blank=True)
    index = models.PositiveIntegerField("number on the host", null=True, blank=True)
    name = models.CharField("name on the host", max_length=100, blank=True)
    since = models.DateTimeField()
    last_seen_at = models.DateTimeField()
    until = models.DateTimeField(null=True, blank=True)

    objects: ClassVar[models.Manager["DeviceSeat"]] = ReachedManager.by("host__cluster__name")

    class Meta:
        ordering = ["-since", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["device"], condition=models.Q(until=None), name="device_sits_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.device} in {self.host} {self.address}".rstrip()

    @property
    def address(self) -> str:
        """What the host calls the place."""
        index = "" if self.index is None else f"{self.device.get_kind_display()} {self.index}"
        return self.name or ", ".join(part for part in (index, self.pci) if part)


class FaultRecord(models.Model):
    """One fault of one host or device, as the newest answer of one incident tells it.

    `code` is the signature's where a log told it, `fault` the fault type's. `role` and `score` are
    those of the suspect that it made the cause; without them it was seen and not accused.
    """

    edited_by: ClassVar[Capability] = Capability.ADMINISTER

    incident = models.ForeignKey(Incident, on_delete=models.CASCADE, related_name="fault_records")
    diagnosis = models.ForeignKey(Diagnosis, on_delete=models.CASCADE, related_name="+")
    host = models.ForeignKey(Host, on_delete=models.PROTECT, related_name="fault_records")
    device = models.ForeignKey(
        Device, null=True, blank=True, on_delete=models.SET_NULL, related_name="fault_records"
    )
    part = models.CharField("part's address on the host", max_length=100, blank=True)
    code = models.CharField("signature's code", max_length=100, blank=True)
    fault = models.CharField("fault type's code", max_length=100, blank=True)
    count = models.PositiveIntegerField(default=1)
    first_at = models.DateTimeField()
    last_at = models.DateTimeField()
    role = models.CharField(max_length=16, choices=SuspectRole.choices, blank=True)
    score = models.FloatField(null=True, blank=True)

    objects: ClassVar[models.Manager["FaultRecord"]] = ReachedManager.of_incident("incident")

    class Meta:
        ordering = ["-first_at", "-id"]
        indexes = [
            models.Index(fields=["host", "-first_at"], name="fault_of_host"),
            models.Index(fields=["code", "-first_at"], name="fault_by_code"),
        ]
        constraints = [
            one_of("role", SuspectRole, name="fault_role_known", blank=True),
            share("score", name="fault_score_share", null=True),
        ]

    def __str__(self) -> str:
        return f"{self.fault or 'a fault'} on {self.host} {self.part}".rstrip()

    @property
    def is_accusation(self) -> bool:
        """Whether an answer named the part as the cause."""
        return self.score is not None
