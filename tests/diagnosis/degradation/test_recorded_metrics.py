"""Public labelled data: what the detector must say about it."""

import csv
from pathlib import Path

import pytest

from diagnosis.degradation.answers import HostSuspect
from diagnosis.degradation.detector import Detector
from diagnosis.readers.metrics import read_metric_bytes


def named_in(cases: Path, job: int) -> list[HostSuspect]:
    """Suspects with an alarm in one job's mini-batch times."""
    with (cases / "metrics" / "alibaba_minibatch" / f"job_{job}_norm.csv").open() as file:
        rows = [
            f"{row['time']},worker-{row['worker']},iteration_s,{row['batch_time_norm']}"
            for row in csv.DictReader(file)
        ]
    window = read_metric_bytes("\n".join(["time,host,metric,value", *rows]).encode())
    suspects = Detector().judge(window).suspects
    return [suspect for suspect in suspects if suspect.alarm_time is not None]


def test_the_worker_that_begins_to_straggle_is_named_within_ten_iterations(cases: Path) -> None:
    named = named_in(cases, 1)
    assert [suspect.host for suspect in named] == ["worker-6"]
    alarm = named[0].alarm_time
    assert alarm is not None
    assert 181 <= (alarm - 1) / 10 + 1 <= 191


@pytest.mark.parametrize("job", [2])
def test_workers_that_differ_by_nature_stay_unnamed(cases: Path, job: int) -> None:
    assert named_in(cases, job) == []
