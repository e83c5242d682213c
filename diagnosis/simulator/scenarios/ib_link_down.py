"""A NIC's port loses its link: what crosses hosts through it never completes, and NCCL says so."""

from collections.abc import Iterator

from diagnosis.core.words import Action, IncidentKind, VerdictClass
from diagnosis.simulator.choosing import call_of, culprit_of
from diagnosis.simulator.job import Injection, Job
from diagnosis.simulator.run import Run
from diagnosis.simulator.scenario import Scenario
from diagnosis.simulator.schedule import Program
from diagnosis.simulator.story import Line, Story
from diagnosis.simulator.timeline import Disturbances
from diagnosis.simulator.truth import ExpectedAction
from diagnosis.simulator.verdicts import JOB, truth_of
from diagnosis.simulator.writers.kernel_faults import link_down
from diagnosis.simulator.writers.nccl_log import completion_error, port_error

#: Seven retries of about 4.2 s each (NCCL_IB_RETRY_CNT 7, NCCL_IB_TIMEOUT 20).
_RETRIES_S = 29.4


def inject(job: Job) -> Injection:
    rank = culprit_of(job)

    def crosses_hosts(program: Program, index: int) -> bool:
        call = program.calls[index]
        return not call.peer and job.cluster.spans_hosts(job.communicator_of(rank, call).ranks)

    index = call_of(job, rank, crosses_hosts)
    ends = (rank, *_neighbours(job, rank, index))
    return Injection(
        culprits=(rank,),
        disturbances=Disturbances(network_stops={rank: index}),
        remote_errors={end: _RETRIES_S + 0.2 * count for count, end in enumerate(ends)},
    )


def _neighbours(job: Job, rank: int, index: int) -> tuple[int, ...]:
    """The next and the previous rank in the communicator's ring that sit on another host."""
    ranks = job.communicator_of(rank, job.program_of(rank).calls[index]).ranks
    own = ranks.index(rank)
    around = (*ranks[own + 1 :], *ranks[:own])
    away = [other for other in around if job.cluster.host_of(other) != job.cluster.host_of(rank)]
    return tuple(dict.fromkeys((away[0], away[-1])))


def tell(run: Run) -> Story:
    job, rank = run.job, run.injection.culprits[0]
    host, nic = job.cluster.host_of(rank), job.cluster.nic_of(rank)
    broke = run.timeline.arrived[rank][-1] - 0.0004
    link = f"{host.name}/{nic.name}"
    lines = {end: tuple(_complaints(run, end)) for end in run.injection.remote_errors}
    lines[rank] = (port_error(job, rank, broke + 0.02, nic), *lines[rank])
    return Story(
        truth_of(
            run,
            "nic-link-down",
            IncidentKind.CRASH,
            VerdictClass.CRITICAL,
            f"the link of {link}, the NIC of rank {rank}, went down",
            actions=(
                ExpectedAction(Action.CHECK_LINK, link),
                ExpectedAction(Action.RESTART_JOB, JOB),
            ),
            link=link,
        ),
        rank_lines=lines,
        kernel_lines={host.name: tuple(link_down(nic, broke))},
        last_errors={end: _last_error(run, end) for end in run.injection.remote_errors},
    )


def _peer(run: Run, end: int) -> int:
    """The other end of a failing connection: the culprit, or for it its next neighbour."""
    rank, *others = run.injection.remote_errors
    return others[0] if end == rank else rank


def _complaints(run: Run, end: int) -> Iterator[Line]:
    at, peer = run.endings[end].at, _peer(run, end)
    direction = "Send" if end == run.injection.culprits[0] else "Recv"
    for count, status in enumerate((12, 5, 5)):
        yield from completion_error(
            run.job, end, at - 0.03 + 0.004 * count, peer=peer, status=status, direction=direction
        )


def _last_error(run: Run, end: int) -> str:
    first = next(iter(_complaints(run, end))).text
    return first.split("NCCL WARN ", 1)[1]


SCENARIO = Scenario("ib_link_down", "the link of a NIC goes down", inject, tell)
