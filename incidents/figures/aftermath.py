"""What came after a decision: did the job get past the point where it broke?"""

from dataclasses import dataclass
from datetime import datetime

from incidents.choices import JobState


@dataclass(frozen=True, slots=True)
class Course:
    """How an attempt went: until when it ran, or runs."""

    started_at: datetime
    until: datetime
    outcome: str

    @property
    def seconds(self) -> float:
        return max((self.until - self.started_at).total_seconds(), 0.0)


def passed(broke_at: datetime, broken: Course, after: Course) -> bool | None:
    """Whether the attempt after ran for longer than the broken one did until it broke.

    An attempt that completed passed it whatever it took: it began from a checkpoint. None while it
    runs and has not come so far: that cannot be told yet.
    """
    if after.outcome == JobState.COMPLETED:
        return True
    broke_after = max((broke_at - broken.started_at).total_seconds(), 0.0)
    if after.seconds > broke_after:
        return True
    return None if after.outcome in {JobState.RUNNING, JobState.PENDING} else False
