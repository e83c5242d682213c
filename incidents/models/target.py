"""The fields of a target, shared by findings, suspects and recommendations."""

from django.db import models

from incidents.choices import TargetKind


class TargetFields(models.Model):
    """What a record is about, in the contract's words, one column a field.

    Hosts are kept by name and not by key: evidence may name machines that nobody registered.
    """

    target_kind = models.CharField(max_length=16, choices=TargetKind.choices)
    target_name = models.CharField(max_length=300, blank=True)
    target_host = models.CharField(max_length=255, blank=True)
    target_gpu = models.CharField(max_length=100, blank=True)
    target_nic = models.CharField(max_length=100, blank=True)
    target_rank = models.PositiveIntegerField(null=True, blank=True)
    target_peer = models.CharField(max_length=300, blank=True)

    class Meta:
        abstract = True

    @property
    def target(self) -> dict[str, object]:
        """The contract's shape; `peer` only where there is one."""
        gpu: object = self.target_gpu or None
        if self.target_gpu.isdecimal():
            gpu = int(self.target_gpu)
        shape: dict[str, object] = {
            "kind": self.target_kind,
            "name": self.target_name or None,
            "host": self.target_host or None,
            "gpu": gpu,
            "nic": self.target_nic or None,
            "rank": self.target_rank,
        }
        if self.target_peer:
            shape["peer"] = self.target_peer
        return shape

    @property
    def seen_on(self) -> str:
        """Where a fault of code or shared storage showed: its remedy is not on that host."""
        if self.target_kind not in {TargetKind.USER_CODE, TargetKind.STORAGE}:
            return ""
        rank = "" if self.target_rank is None else f"rank {self.target_rank}"
        return f"{self.target_host} {rank}".strip()

    @property
    def target_label(self) -> str:
        """The target in a few words: `node-017 GPU 3`, `node-001 mlx5_0`, `rank 5`."""
        parts = [self.target_host]
        if self.target_gpu:
            parts.append(f"GPU {self.target_gpu}")
        if self.target_nic:
            parts.append(self.target_nic)
        if self.target_rank is not None:
            parts.append(f"rank {self.target_rank}")
        if self.target_kind not in {"host", "gpu", "nic", "rank"} or not any(parts):
            parts = [self.target_name or self.get_target_kind_display()]
        return " ".join(part for part in parts if part)
