"""Ping matrices: how probes between hosts fared."""

from dataclasses import dataclass

from diagnosis.core.target import normalise_host


@dataclass(frozen=True, slots=True)
class End:
    """One end of a probe: a host, and its NIC where the matrix tells it."""

    host: str
    nic: str | None = None

    @property
    def key(self) -> tuple[str, str | None]:
        return (normalise_host(self.host), self.nic)


@dataclass(frozen=True, slots=True)
class Probe:
    """One row: probes of `size` bytes from `source` to `target`; round trips in microseconds.

    `file` and `line` (from 1) lead back to it. None where the row does not tell.
    """

    source: End
    target: End
    size: int
    sent: int
    lost: int
    rtt_p50: float | None
    rtt_p99: float | None
    time: str | float | None
    file: str
    line: int
