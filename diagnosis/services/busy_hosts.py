"""Whether hosts are free for a test: no job on them, and out of service where that matters."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from incidents.choices import HostState, JobState
from incidents.exceptions import HostsInService
from incidents.models import Attempt, Host, RankPlacement
from incidents.reach import EVERYWHERE, within

#: Hosts and jobs that the question names one by one.
_NAMES = 8
_OUT = (HostState.ISOLATED, HostState.IN_REPAIR)


@dataclass(frozen=True, slots=True)
class Busy:
    """What speaks against a test on some hosts now.

    `hosts` that are not out of service or on which a job runs, in order of their names; `jobs` are
    the running attempts within reach, newest first; `others` counts those beyond it.
    """

    hosts: Sequence[str]
    jobs: Sequence[Attempt]
    others: int

    @property
    def jobs_named(self) -> str:
        """The jobs in words; empty for none."""
        jobs = [str(one) for one in self.jobs]
        if self.others:
            jobs.append(f"{self.others} of other people")
        return _named(jobs)

    @property
    def question(self) -> str:
        """Why someone should look again; empty where all hosts are free."""
        if not self.hosts:
            return ""
        jobs = self.jobs_named
        running = f"Jobs run there: {jobs}. " if jobs else "No job is known to run there. "
        return (
            f"Not out of service: {_named(self.hosts)}. {running}The tests take the hosts' GPUs "
            "and network, which may break a job, and a job there may spoil the answer. Take the "
            "hosts out of service, or confirm to go on."
        )


def busy(hosts: Collection[Host]) -> Busy:
    """Which of these hosts are not free, and the jobs that run there."""
    pairs = _running_on(hosts)
    taken, attempts = {host for host, _ in pairs}, {attempt for _, attempt in pairs}
    jobs = list(Attempt.objects.filter(pk__in=attempts).select_related("job").order_by("-pk"))
    return Busy(
        sorted(host.name for host in hosts if host.state not in _OUT or host.pk in taken),
        jobs,
        len(attempts) - len(jobs),
    )


def require_free(hosts: Collection[Host], *, confirmed: bool) -> Busy:
    """What is busy, where someone confirmed it. Raises `HostsInService` where nobody did."""
    found = busy(hosts)
    if found.hosts and not confirmed:
        raise HostsInService(found.question)
    return found


def require_idle(hosts: Collection[Host], *, confirmed: bool) -> Sequence[str]:
    """The hosts on which a job runs, where someone confirmed them. Raises `HostsInService` where
    nobody did. A host in service without a job may be checked: that is when it is due.
    """
    taken = {host for host, _ in _running_on(hosts)}
    found = busy([host for host in hosts if host.pk in taken])
    if found.hosts and not confirmed:
        raise HostsInService(
            f"A job runs on {_named(found.hosts)}: {found.jobs_named}. The check takes the "
            "hosts' GPUs and network, which may break a job, and a job there may spoil the "
            "verdict. Wait for its end, or confirm to go on."
        )
    return found.hosts


def _running_on(hosts: Collection[Host]) -> set[tuple[int, int]]:
    """Which running attempts have a rank on which of the hosts, beyond reach as well."""
    with within(EVERYWHERE):
        running = RankPlacement.objects.filter(
            host__in=hosts, attempt__ended_at=None, attempt__outcome=JobState.RUNNING
        )
        return set(running.order_by().values_list("host_id", "attempt_id"))


def _named(names: Iterable[str]) -> str:
    told = list(names)
    more = f" and {len(told) - _NAMES} more" if len(told) > _NAMES else ""
    return ", ".join(told[:_NAMES]) + more
