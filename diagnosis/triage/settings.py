"""The constants of log triage. Every one is a setting that an administrator can change."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from diagnosis.taxonomy.history import History
from diagnosis.taxonomy.suppression import Suppression


@dataclass(frozen=True, slots=True)
class TriageSettings:
    """Thresholds of the decision procedure; times in seconds.

    Defaults marked (paper) are those of Dong et al., "Evolution of Aegis", NSDI '25; the others
    are ours, from the recorded cases.

    after_failure: the window ends this long after the failure (paper).
    before_failure: the window begins this long before the failure minus the collective timeout
        (watchdogs report 10-30 min late).
    collective_timeout: taken where no watchdog line tells it (PyTorch's former default).
    zone_doubt: stamps without a zone may be off by this much against other hosts' (UTC-12..+14).
    clock_doubt: hosts' clocks may disagree by so much where nothing tells by how much they do.
    stale: a host's fault so long before the last of its log is not of a failure of the job's code.
    distributed_hosts: at most this many hosts with distributed findings are isolated (paper).
    distributed_min_job_hosts: ... and only in jobs of more hosts than this.
    reporters, reporter_hosts: RootDiag needs this many reporters on this many hosts.
    first_failures: RootDiag looks at the failures of this long after the first.
    root_share: a node is the root when this share of the first failed connections touch it.
    echo: an event this soon after an application's exception on the same GPU is its consequence.
    recovery: a link that is back within this long, with nothing failing, is no fault.
    boot: link events this soon after boot are link training.
    corrected: fewer lines of errors that hardware corrected, on one host, are no finding.
    silence: a host is silent when its log ends this long before the others' failures.
    escalation_jobs: a hardware fault of one host in this many jobs' logs isolates it.
    config_hosts, config_share: configurations are compared from this many hosts on, and a value is
        usual when this share of them has it.
    ping_lost, ping_loss: a pair of a ping matrix is lossy from this many and this share of probes.
    ping_slow, ping_slow_tail, ping_slow_us: ... and slow when its median or 99th percentile exceeds
        its peers' by this factor and this many microseconds.
    ping_fit: a place is named as culprit when it explains the bad cells this well (0..1).
    ping_places, ping_stray: name up to this many places, until at most this share of cells is left.
    ping_small: probes up to this many bytes do not show faults of large packets.
    clock_offsets: known offset of each host's clock against UTC, subtracted from its times.
    now: the moment that stamps without a year are read against; None leaves their year unknown.
    suppression: what people silenced, as it counts for this incident.
    history: what is known of the parts at hand from earlier incidents.
    """

    after_failure: float = 120.0
    before_failure: float = 600.0
    collective_timeout: float = 1800.0
    zone_doubt: float = 14.5 * 3600
    clock_doubt: float = 600.0
    stale: float = 24 * 3600
    distributed_hosts: int = 2
    distributed_min_job_hosts: int = 4
    reporters: int = 3
    reporter_hosts: int = 2
    first_failures: float = 30.0
    root_share: float = 0.8
    echo: float = 60.0
    recovery: float = 180.0
    boot: float = 300.0
    corrected: int = 100
    silence: float = 60.0
    escalation_jobs: int = 2
    config_hosts: int = 3
    config_share: float = 0.66
    ping_lost: int = 2
    ping_loss: float = 0.002
    ping_slow: float = 2.0
    ping_slow_tail: float = 4.0
    ping_slow_us: float = 10.0
    ping_fit: float = 0.75
    ping_places: int = 3
    ping_stray: float = 0.1
    ping_small: int = 1024
    clock_offsets: Mapping[str, float] = field(default_factory=dict)
    now: float | None = None
    suppression: Suppression = field(default_factory=Suppression)
    history: History = field(default_factory=History)
