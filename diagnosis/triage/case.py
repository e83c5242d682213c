"""The case: all logs of one job together, their clues in place and time."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property

from diagnosis.core.devices import Seats
from diagnosis.core.placement import Placement
from diagnosis.core.target import normalise_host
from diagnosis.core.words import SignatureClass
from diagnosis.readers.logs_times import Stamp
from diagnosis.taxonomy.history import History
from diagnosis.triage.addresses import left_over
from diagnosis.triage.clues import Clue, Moment, earliest
from diagnosis.triage.escalated import with_escalations
from diagnosis.triage.facts import SPOKEN
from diagnosis.triage.places import completed, pci_key
from diagnosis.triage.scan import Scan
from diagnosis.triage.settings import TriageSettings
from diagnosis.triage.sightings import seats_told
from diagnosis.triage.suppressed import Silenced, without_suppressed
from diagnosis.triage.timeline import aligned, anchor, on_utc

_LAUNCHER_CODES = {
    "torchrun-exit-signal",
    "torchrun-exit-code",
    "torchrun-exit-segv",
    "torchrun-exit-bus",
}
#: Exits that follow from another rank's failure: abort by the watchdog, SIGTERM by the launcher.
_CONSEQUENT_EXITS = {"-6", "-15"}


@dataclass(frozen=True)
class Case:
    """Clues of one job in order of time, and what its logs tell besides.

    `near`: the moment that stamps without a year are put nearest to. `silenced`: the clues that
    people do not want to be judged. `escalated`: which faults came back too often, for the trace.
    """

    clues: tuple[Clue, ...]
    scans: tuple[Scan, ...]
    placement: Placement
    settings: TriageSettings
    near: float | None = None
    silenced: tuple[Silenced, ...] = ()
    escalated: tuple[str, ...] = ()

    def of(self, *classes: SignatureClass, follow_on: bool = False) -> list[Clue]:
        """Clues of these classes; consequences only when asked for."""
        return [
            clue
            for clue in self.clues
            if clue.signature.cls in classes and (follow_on or not clue.signature.follow_on)
        ]

    @cached_property
    def log_hosts(self) -> frozenset[str]:
        """Normalised names of the hosts whose own words are in the logs."""
        named = {host for scan in self.scans for host in scan.facts.hosts}
        named |= {
            scan.origin.host
            for scan in self.scans
            if scan.origin.host and not (scan.origin.guessed and scan.facts.hosts)
        }
        named |= {clue.place.host for clue in self.clues if clue.place.host}
        return frozenset(normalise_host(host) for host in named)

    @cached_property
    def ranks(self) -> frozenset[int]:
        """Ranks that speak in the logs."""
        spoken = {rank for scan in self.scans for rank in scan.facts.ranks}
        return frozenset(spoken | {s.origin.rank for s in self.scans if s.origin.rank is not None})

    @cached_property
    def world_size(self) -> int | None:
        """From the placement, else the largest communicator that a log names."""
        if len(self.placement):
            return len(self.placement)
        sizes = [size for scan in self.scans for size, _ in scan.facts.comm_ranks if size < SPOKEN]
        return max(sizes, default=None)

    @cached_property
    def addresses(self) -> Mapping[str, str]:
        """IP address → host, as the collective library printed them or as only one is left."""
        told = {ip: host for scan in self.scans for ip, host in scan.facts.addresses.items()}
        peers = {clue.place.peer for clue in self.clues if clue.place.peer}
        return {**told, **left_over(told, peers, self.placement.hosts)}

    @cached_property
    def told_of_gpus(self) -> Mapping[tuple[str | None, str | None], Set[str]]:
        """Machine and PCI address (`pci_key`) → codes of what is told of that GPU."""
        told: dict[tuple[str | None, str | None], set[str]] = {}
        for clue in self.clues:
            told.setdefault((clue.place.machine, pci_key(clue.place.gpu)), set()).add(clue.code)
        return told

    @cached_property
    def wait(self) -> float:
        """Seconds after which a job whose collective failed has ended: time-out, then tear-down."""
        told = [c.report.timeout_ms for c in self.clues if c.report and c.report.timeout_ms]
        timeout = max(told, default=0) / 1000 or self.settings.collective_timeout
        return timeout + self.settings.after_failure

    @cached_property
    def last_words(self) -> Mapping[tuple[str, str], Moment]:
        """Log → when its last line with a time was written."""
        told = (
            (scan.log, on_utc(scan.facts.last, self.near, scan.facts.boot))
            for scan in self.scans
            if scan.facts.last is not None
        )
        return {log: moment for log, moment in told if moment is not None}

    @cached_property
    def ended_ranks(self) -> Mapping[int, str]:
        """Ranks that are proven to be gone and not as a consequence, with the reason."""
        ended = {
            rank: why
            for scan in self.scans
            for rank, why in sorted(scan.facts.ended.items())
            if why.rsplit(" ", 1)[-1] not in _CONSEQUENT_EXITS
        }
        for clue in self.clues:
            rank = clue.place.rank
            code = clue.part("sig") or clue.part("detail")
            if rank is None or f"-{clue.part('sig')}" in _CONSEQUENT_EXITS:
                continue
            if clue.code in _LAUNCHER_CODES and code and clue.part("local_rank"):
                ended.setdefault(rank, f"the launcher reports that it ended ({clue.text[-120:]})")
            elif clue.code in {"slurm-task-exit", "mpi-abort"} and clue.part("rank"):
                ended.setdefault(rank, f"the scheduler reports that it ended ({clue.text[-120:]})")
        return ended


def build_case(
    scans: Sequence[Scan], placement: Placement, settings: TriageSettings, job: str | None
) -> Case:
    """The case of one job (or of all evidence, for None): its own logs and those of no job."""
    chosen = [scan for scan in scans if job is None or scan.origin.job in {None, job}]
    stamps: list[Stamp] = [stamp for scan in chosen for stamp in _stamps(scan)]
    boots = {s.log: s.facts.boot for s in chosen if s.facts.boot is not None}
    rank_hosts = _rank_hosts(chosen)
    near = anchor(stamps, settings.now)
    clues = aligned(
        [clue for scan in chosen for clue in scan.clues],
        near=near,
        boots=boots,
        offsets=settings.clock_offsets,
    )
    located = [_located(clue, placement, rank_hosts, chosen) for clue in clues]
    left, silenced = without_suppressed(located, settings.suppression)
    judged, escalated = with_escalations(left, _history(chosen, settings))
    return Case(
        tuple(earliest(judged)), tuple(chosen), placement, settings, near, silenced, escalated
    )


def _history(scans: Sequence[Scan], settings: TriageSettings) -> History:
    """The history, with the devices that these logs name by themselves."""
    history = settings.history
    told = seats_told(scans)
    at = settings.now if history.at is None else history.at
    return replace(history, seats=Seats((*told, *history.seats.rows)), at=at)


def _stamps(scan: Scan) -> list[Stamp]:
    return scan.facts.stamps + ([scan.facts.last] if scan.facts.last else [])


def _rank_hosts(scans: Sequence[Scan]) -> dict[int, str]:
    """Rank → host by what the logs say, from the largest communicator that tells it."""
    found: dict[int, tuple[int, str]] = {}
    for scan in scans:
        for (size, rank), host in sorted(scan.facts.comm_ranks.items()):
            if rank not in found or size > found[rank][0]:
                found[rank] = (size, host)
    largest = max((size for size, _ in found.values() if size < SPOKEN), default=0)
    spoken = {rank for scan in scans for rank in scan.facts.ranks}
    if max(spoken, default=0) >= largest:
        largest = 0  # all of them are groups of the job, which count their ranks by themselves
    return {rank: host for rank, (size, host) in found.items() if size in {largest, SPOKEN}}


def _located(
    clue: Clue, placement: Placement, rank_hosts: Mapping[int, str], scans: Sequence[Scan]
) -> Clue:
    place = clue.place
    local = clue.part("local_rank")
    if place.rank is None and local is not None and local.isdigit():
        place = replace(place, rank=_global_rank(int(local), place.host, placement, scans))
    return clue.at(completed(place, placement, rank_hosts))


def _global_rank(
    local: int, host: str | None, placement: Placement, scans: Sequence[Scan]
) -> int | None:
    """The global rank of a local one: by the launcher, the placement, or as there is one host."""
    told = {
        rank for scan in scans for rank, number in scan.facts.local_ranks.items() if number == local
    }
    if len(told) == 1:
        return told.pop()
    if len(placement):
        hosts = {normalise_host(host)} if host else {normalise_host(h) for h in placement.hosts}
        matches = [
            place.rank
            for place in placement.places
            if normalise_host(place.host) in hosts and place.local_rank == local
        ]
        return matches[0] if len(matches) == 1 else None
    sizes = [size for scan in scans for size, _ in scan.facts.comm_ranks if size < SPOKEN]
    hosts = {h for scan in scans for h in scan.facts.hosts}
    ranks = {rank for scan in scans for rank in scan.facts.ranks}
    several = len(hosts) > 1 or max(sizes, default=0) > 16 or max(ranks, default=0) > 15
    return None if several or told else local
