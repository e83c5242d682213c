"""`manage.py detect` on files."""

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import call_command

from diagnosis.core.metrics import MetricWindow
from tests.diagnosis.degradation.windows import calm_window, slowed


def saved(window: MetricWindow, path: Path) -> Path:
    np.savez(
        path,
        values=window.values,
        metrics=np.array(window.metrics),
        hosts=np.array(window.hosts),
        time=window.time,
    )
    return path


def detected(*arguments: object) -> tuple[int, list[dict[str, Any]]]:
    out, code = io.StringIO(), 0
    try:
        call_command("detect", *map(str, arguments), "--json", stdout=out)
    except SystemExit as end:
        code = int(end.code or 0)
    return code, [json.loads(line) for line in out.getvalue().splitlines()]


def test_each_file_gives_one_line(tmp_path: Path) -> None:
    bad = saved(slowed(calm_window(), 3, at=120, by=0.2), tmp_path / "bad.npz")
    good = saved(calm_window(), tmp_path / "good.npz")
    code, lines = detected(bad, good)
    assert code == 0
    assert [line["verdict"]["class"] for line in lines] == ["degradation", "healthy"]


def test_a_file_that_cannot_be_read_does_not_stop_the_others(tmp_path: Path) -> None:
    broken = tmp_path / "broken.npz"
    broken.write_bytes(b"PK\x03\x04")
    code, lines = detected(broken, saved(calm_window(), tmp_path / "good.npz"))
    assert code == 0
    assert lines[0]["skipped"][0]["file"] == str(broken)


def test_nothing_judged_exits_with_three(tmp_path: Path) -> None:
    code, lines = detected(tmp_path / "absent.csv")
    assert code == 3
    assert lines[0]["verdict"]["class"] == "unknown"


@pytest.mark.parametrize("option", ["--placement", "--catalogue"])
def test_an_unusable_argument_exits_with_two(option: str, tmp_path: Path) -> None:
    wrong = tmp_path / "wrong"
    wrong.write_text("[[")
    code, lines = detected(saved(calm_window(), tmp_path / "w.npz"), option, wrong)
    assert code == 2
    assert option in lines[0]["error"]


def test_the_papers_rule_can_be_chosen(tmp_path: Path) -> None:
    window = saved(slowed(calm_window(hosts=4), 3, at=60, by=0.5), tmp_path / "w.npz")
    _, lines = detected(window, "--detector", "paper")
    assert lines[0]["verdict"]["class"] == "healthy"


def test_without_json_a_sentence_names_the_host(tmp_path: Path) -> None:
    out = io.StringIO()
    window = saved(slowed(calm_window(), 3, at=120, by=0.2), tmp_path / "w.npz")
    call_command("detect", str(window), stdout=out)
    assert "node-03 left its peers" in out.getvalue()


def test_an_operation_trace_is_told_from_metrics(tmp_path: Path) -> None:
    table = tmp_path / "trace.csv"
    rows = ["dp_rank,stage,step,optype,duration,mb_id"]
    rows += [
        f"{dp},{stage},{step},{kind}-compute,{2.0 if (dp, stage) == (2, 1) else 1.0},{mb}"
        for dp in range(4)
        for stage in range(2)
        for step in range(3)
        for kind in ("forward", "backward")
        for mb in range(4)
    ]
    table.write_text("\n".join(rows))
    code, lines = detected(table)
    assert code == 0
    assert lines[0]["verdict"]["coverage"]["cause"] == "slow-worker"


@pytest.mark.parametrize(
    ("arguments", "missing"),
    [
        (["--prometheus", "http://127.0.0.1:9"], "--from"),
        (["--prometheus", "http://127.0.0.1:9", "--from", "1"], "--to"),
        (["--prometheus", "http://127.0.0.1:9", "--from", "1", "--to", "2"], "--job"),
    ],
)
def test_a_server_needs_a_span_and_a_job(arguments: list[str], missing: str) -> None:
    code, lines = detected(*arguments)
    assert code == 2
    assert missing in lines[0]["error"]


def test_a_server_that_does_not_answer_is_told(tmp_path: Path) -> None:
    placement = tmp_path / "placement.json"
    placement.write_text('[{"rank": 0, "host": "node-00"}]')
    code, lines = detected(
        *("--prometheus", "http://127.0.0.1:9", "--from", "1000", "--to", "1600"),
        *("--placement", placement),
    )
    assert code == 3
    assert lines[0]["verdict"]["class"] == "unknown"


@pytest.mark.django_db
def test_a_job_that_nobody_registered_is_told() -> None:
    code, lines = detected(
        *("--prometheus", "http://127.0.0.1:9", "--job", "4711", "--from", "1", "--to", "2")
    )
    assert code == 3
    assert "4711" in lines[0]["verdict"]["summary"]
