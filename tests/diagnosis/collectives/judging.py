"""Shared by the tests of single verdicts: run a job, take its dumps, ask who is blamed."""

from collections.abc import Mapping

import pytest

from diagnosis.collectives.procedure import localise
from diagnosis.core.diagnosis import Conclusion
from diagnosis.core.placement import Placement
from diagnosis.core.words import Role
from tests.diagnosis.recorded_job import (
    FORMS,
    Form,
    Job,
    data_parallel,
    dumps,
    placed,
    run,
    steps,
)

forms = pytest.mark.parametrize("form", FORMS, ids=["nccl", "gloo", "timing"])
some_ranks = pytest.mark.parametrize("rank", [0, 3, 7])


def judged(
    job: Job,
    form: Form,
    *,
    placement: Placement | None = None,
    ended: Mapping[int, str] | None = None,
    **taken: object,
) -> Conclusion:
    found, _ = localise(
        dumps(job, form, **taken),  # type: ignore[arg-type]
        placement=placement or placed(len(job.ranks)),
        ended_ranks=ended or {},
    )
    return found


def blamed(found: Conclusion, role: Role = Role.CULPRIT) -> list[int | None]:
    return [suspect.target.rank for suspect in found.suspects if suspect.role is role]


def hang(rank: int, world: int = 8) -> Job:
    programs = steps(world, 4)
    programs[rank] = programs[rank][:7]
    return run(data_parallel(world), programs)
