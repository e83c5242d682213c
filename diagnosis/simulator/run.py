"""A simulated run: the job, its fault, what the ranks did and how they ended."""

from dataclasses import dataclass

from diagnosis.simulator.endings import Ending, Fate, endings
from diagnosis.simulator.job import Injection, Job, run_job
from diagnosis.simulator.timeline import Timeline


@dataclass(frozen=True)
class Run:
    """Everything that the writers put into files. Times in seconds since the job's start."""

    job: Job
    injection: Injection
    timeline: Timeline
    endings: tuple[Ending, ...]

    @property
    def onset(self) -> float:
        """When the first rank concerned was last seen to move."""
        return min((self.timeline.stopped_at(rank) for rank in self.injection.sources), default=0)

    @property
    def victims(self) -> tuple[int, ...]:
        """Ranks that did not finish and are not to blame."""
        return tuple(
            rank
            for rank in range(self.job.world)
            if rank not in self.injection.culprits and not self.timeline.finished(rank)
        )

    def ranks_that(self, *fates: Fate) -> tuple[int, ...]:
        return tuple(rank for rank, ending in enumerate(self.endings) if ending.fate in fates)


def run(job: Job, injection: Injection) -> Run:
    timeline = run_job(job, injection)
    return Run(job, injection, timeline, endings(job, injection, timeline))
