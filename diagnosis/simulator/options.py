"""How untidy the evidence is: versions, rings, clocks, missing dumps, forms of logs."""

from dataclasses import dataclass, fields
from typing import Any, get_args, get_type_hints


@dataclass(frozen=True)
class Options:
    """Everything about a simulation that is not the fault. Times are in seconds.

    `steps` are simulated; the job checkpoints after every `checkpoint_every`. `run_ahead` is how
    many calls the host enqueues beyond the last completed one (1 where every call blocks).
    `culprit` fixes the rank at fault; None lets the seed choose. `clock_skew_s` is the standard
    deviation of the hosts' clocks, `missing_dumps` the share of ranks that leave none,
    `dump_jitter_s` the spread of the moments at which ranks dump. `started_at`
    is the job's start in seconds since the epoch; None lets the seed choose.
    """

    tp: int | None = None
    pp: int | None = None
    steps: int = 5
    checkpoint_every: int = 4
    run_ahead: int | None = None
    culprit: int | None = None
    mismatch: str | None = None
    slowdown: float = 1.8
    timeout_s: float = 600.0
    backend: str = "nccl"
    fr_version: str = "2.10"
    fr_form: str = "pickle"
    ring: int = 2000
    only_active: bool = False
    timing: bool = False
    stacks: bool = True
    host_in_name: bool = False
    clock_skew_s: float = 0.0
    missing_dumps: float = 0.0
    dump_jitter_s: float = 0.15
    launcher: str = "torchrun"
    log_form: str = "per-rank"
    kernel_form: str = "ctime"
    nccl_debug: bool = True
    ansi: bool = False
    crlf: bool = False
    started_at: float | None = None

    def __post_init__(self) -> None:
        for name, allowed in CHOICES.items():
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} must be one of {', '.join(map(str, allowed))}")
        for name in ("steps", "checkpoint_every", "ring"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1")
        if self.run_ahead is not None and self.run_ahead < 1:
            raise ValueError("run_ahead must be at least 1")
        if not 0 <= self.missing_dumps < 1:
            raise ValueError("missing_dumps must be a share from 0 to below 1")

    @property
    def window(self) -> int:
        """Calls in flight per rank: gloo's calls block, NCCL's do not."""
        if self.run_ahead is not None:
            return self.run_ahead
        return 1 if self.backend == "gloo" else 6


CHOICES: dict[str, tuple[str | None, ...]] = {
    "backend": ("nccl", "gloo"),
    "fr_version": ("2.2", "2.4", "2.7", "2.9", "2.10", "2.11"),
    "fr_form": ("pickle", "json"),
    "launcher": ("torchrun", "srun"),
    "log_form": ("per-rank", "per-host", "job"),
    "kernel_form": ("ctime", "journal", "monotonic"),
    "mismatch": (None, "op", "size", "dtype", "skip"),
}


def parse_option(text: str) -> tuple[str, Any]:
    """One option from `name=value`, as a command line gives it. Raises `ValueError`."""
    name, _, value = text.partition("=")
    name = name.strip().replace("-", "_")
    if name not in {field.name for field in fields(Options)}:
        raise ValueError(f"there is no option {name!r}")
    hint = get_type_hints(Options)[name]
    kind = next((arg for arg in get_args(hint) if arg is not type(None)), hint)
    if kind is bool:
        if value.lower() not in {"true", "false", "1", "0", ""}:
            raise ValueError(f"{name} must be true or false")
        return name, value.lower() in {"true", "1", ""}
    try:
        return name, kind(value)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error
