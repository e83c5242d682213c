"""What NCCL's RAS service says of a job at one moment: communicators, their ranks, the lost ones.

Counts are launches on the host, by type of operation: no completion, no sends and receives, none
from captured CUDA graphs. One sample proves nothing; two that stand still do.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

#: "Not known" of a process id or device, as RAS itself writes it.
UNKNOWN = -1


@dataclass(frozen=True, slots=True)
class RasProcess:
    """Where a rank lives. `host` is an address as RAS knows it; devices are -1 where not told."""

    host: str
    pid: int = UNKNOWN
    cuda_device: int = UNKNOWN
    nvml_device: int = UNKNOWN


@dataclass(frozen=True, slots=True)
class RasMember:
    """A rank that answered: `rank` counts within its communicator.

    `init_state` is 0 once the communicator is ready there, `async_error` an `ncclResult_t`.
    """

    rank: int
    process: RasProcess
    launched: Mapping[str, int] = field(default_factory=dict)
    init_state: int = 0
    async_error: int = 0
    finalizing: bool = False
    destroyed: bool = False
    aborted: bool = False

    @property
    def total_launched(self) -> int:
        """Collectives of any type that this rank has launched here."""
        return sum(self.launched.values())


@dataclass(frozen=True, slots=True)
class LostRank:
    """A rank that did not answer; `dead` where RAS has given its process up."""

    rank: int
    process: RasProcess
    unresponsive: bool = True
    dead: bool = False


@dataclass(frozen=True, slots=True)
class RasCommunicator:
    """One communicator: `name` is its hash, `size` all its ranks, told or not."""

    name: str
    size: int
    ranks: tuple[RasMember, ...] = ()
    lost: tuple[LostRank, ...] = ()


@dataclass(frozen=True, slots=True)
class RasStatus:
    """One answer. `timeouts` counts the parts of the job that RAS gave up waiting for.

    `lost` are processes that did not answer and whose ranks are not told (rank -1). `taken_at` is
    the answering host's local time without its zone. `notes` say what is weak.
    """

    communicators: tuple[RasCommunicator, ...] = ()
    lost: tuple[LostRank, ...] = ()
    nccl_version: str = ""
    taken_at: str = ""
    timeouts: int = 0
    notes: tuple[str, ...] = ()
