"""The constants of the collective rules, each with the reason for its value."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CollectiveSettings:
    """Named thresholds of `diagnosis.collectives`; every one can be changed by an administrator.

    `impossible_lead`: how many operations a rank may have completed ahead of another before only a
    stopped GPU explains it (a barrier-like collective allows one).
    `alike_span`: works in which watchdogs time out, farther apart than this under one name, are not
    of one communicator: its ranks complete together, and older wordings leave the name out.
    `least_waiting`: fewer watchdogs than that, in logs, make a rank that is behind no culprit yet.
    `blockers_per_waiter`: with more blockers than that for each waiting rank, a majority is
    "behind" a few leaders and the snapshot shows a running job.
    `scattered_share`: so it does when more than this share of all ranks is missing at once, on
    several hosts. `scattered_ranks`: or more ranks than that, on more than two hosts: a running
    job is likelier than so many faults at once.
    `absent_share`: above this share of ranks without a dump nothing is said about them.
    `late_sigmas`, `late_floor_ms`: an arrival is late beyond that many robust deviations, and by
    at least so much.
    `late_share`, `late_times`: a straggler costs at least this share of the recorded time, and is
    late at least so often.
    `duration_share`: the paper's α: time inside collectives below this share of the mean marks
    late arrival (Aegis, NSDI '25).
    `slow_factor`, `last_timed`: the paper's β and L: a rank that needs so many times the mean time
    for a byte, over so many of its last collectives, communicates slowly.
    `lasting_share`: and it does so, or spends so little time inside, in this share of them.
    `still_s`: two samples of counters that show the same, so many seconds apart, rule out motion.
    `first_requests_s`: work requests posted so soon after the oldest stuck one got stuck with it.
    `victims_shown`: victims listed one by one before they are only counted.
    """

    impossible_lead: int = 2
    alike_span: int = 50
    least_waiting: int = 3
    blockers_per_waiter: float = 1.0
    scattered_share: float = 0.25
    scattered_ranks: int = 4
    absent_share: float = 0.5
    late_sigmas: float = 6.0
    late_floor_ms: float = 5.0
    late_share: float = 0.05
    late_times: int = 3
    duration_share: float = 0.8
    slow_factor: float = 1.5
    last_timed: int = 5
    lasting_share: float = 0.7
    still_s: float = 30.0
    first_requests_s: float = 1.0
    victims_shown: int = 8
