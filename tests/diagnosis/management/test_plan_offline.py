"""`manage.py plan-offline`: rounds out, results in, a verdict in the contract's shapes."""

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

TOPOLOGY = {
    "hosts": [
        {"name": f"n-{tor}-{host}", "pod": "p", "tor": [f"tor-{tor}"]}
        for tor in range(2)
        for host in range(4)
    ]
}


@pytest.fixture
def topology(tmp_path: Path) -> Path:
    path = tmp_path / "topology.json"
    path.write_text(json.dumps(TOPOLOGY))
    return path


def planned(*arguments: object, answers: str) -> tuple[int, list[dict[str, Any]]]:
    out, code = io.StringIO(), 0
    try:
        call_command(
            "plan-offline", *map(str, arguments), "--json", stdout=out, stdin=io.StringIO(answers)
        )
    except SystemExit as end:
        code = int(end.code or 0)
    return code, [json.loads(line) for line in out.getvalue().splitlines()]


def test_another_program_plays_the_cluster(topology: Path) -> None:
    command = [sys.executable, "manage.py", "plan-offline", str(topology), "--json"]
    with subprocess.Popen(command, stdin=-1, stdout=-1, text=True) as child:
        assert child.stdout
        assert child.stdin
        while "groups" in (line := json.loads(child.stdout.readline())):
            results = ["n-1-2" not in group for group in line["groups"]]
            child.stdin.write(json.dumps({"results": results}) + "\n")
            child.stdin.flush()
        child.stdin.close()
    assert child.returncode == 0
    assert line["verdict"]["class"] == "critical"
    assert [one["target"]["host"] for one in line["suspects"]] == ["n-1-2"]


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ("", "ended"),
        ("nonsense\n", "not JSON"),
        ("[true]\n", "results"),
        ('{"results": [true]}\n', "4 groups"),
        ('{"round": 2, "results": [true, true, true, true]}\n', "results of round 2"),
        ("\n\n", "ended"),
        ('{"results": [true, true, true, "no"]}\n', "results[3]"),
    ],
)
def test_a_bad_answer_says_what_is_wrong_with_it(topology: Path, answers: str, said: str) -> None:
    code, lines = planned(topology, answers=answers)
    assert code == 2
    assert said in lines[-1]["error"]


def test_an_unknown_suspect_is_refused(topology: Path) -> None:
    code, lines = planned(topology, "--suspects", "n-0-1,ghost", answers="")
    assert (code, "ghost" in lines[0]["error"]) == (2, True)


@pytest.mark.parametrize("content", ["{}", "[]", "nonsense"])
def test_an_unusable_topology_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "topology.json"
    path.write_text(content)
    code, lines = planned(path, answers="")
    assert (code, list(lines[0])) == (2, ["error"])


def test_without_json_a_person_can_read_it(topology: Path) -> None:
    out = io.StringIO()
    answers = '{"results": [true, true, true, true]}\n{"results": [true]}\n' * 2
    call_command("plan-offline", str(topology), stdout=out, stdin=io.StringIO(answers))
    assert "Every group passed" in out.getvalue()


def test_a_reader_that_goes_away_leaves_no_traceback(topology: Path) -> None:
    command = [sys.executable, "manage.py", "plan-offline", str(topology), "--json"]
    with subprocess.Popen(command, stdin=-1, stdout=-1, stderr=-1, text=True) as child:
        assert child.stdout
        assert child.stdin
        assert child.stderr
        child.stdout.readline()
        child.stdout.close()
        child.stdin.write('{"results": [true, true, true, true]}\n')
        child.stdin.close()
        assert child.stderr.read() == ""
