"""`manage.py diagnose`: what it prints and how it exits."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from jsonschema import Draft202012Validator

from diagnosis.management.commands.diagnose import Command
from diagnosis.simulator.scenarios import simulate

pytestmark = pytest.mark.django_db

SCHEMA = json.loads((Path(__file__).parents[3] / "docs" / "diagnosis.schema.json").read_text())
XID = "[ 1842.871120] NVRM: Xid (PCI:0000:b3:00): 79, pid=1, GPU has fallen off the bus.\n"


def exit_code_of(*arguments: str) -> int | str | None:
    try:
        call_command("diagnose", *arguments)
    except SystemExit as ended:
        return ended.code
    return 0


def judged(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    call_command("diagnose", *arguments, "--json")
    return json.loads(capsys.readouterr().out)


def test_the_remedy_of_a_storage_fault_is_not_the_host_that_saw_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    path = tmp_path / "node-03.syslog.log"
    path.write_text("Mar  4 01:40:00 node-03 kernel: nfs: server 10.0.0.9 not responding\n")
    call_command("diagnose", str(path))
    assert "fix-storage 10.0.0.9, seen on node-03: " in capsys.readouterr().out


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "node-07.dmesg.log"
    path.write_text(XID)
    return path


def test_json_has_the_contracts_shape(capsys, tmp_path: Path):
    simulate("hang_compute", seed=1, hosts=1).write(tmp_path)

    Draft202012Validator(SCHEMA).validate(judged(capsys, str(tmp_path)))


def test_text_names_the_host_its_proof_and_the_rules_used(capsys, log: Path):
    call_command("diagnose", str(log))

    text = capsys.readouterr().out
    assert "node-07" in text
    assert f"{log}:1]" in text
    assert "taxonomy" in text.splitlines()[-1]


def test_a_folder_is_read_with_all_that_lies_below_it(capsys, tmp_path: Path):
    below = tmp_path / "logs" / "node-07.dmesg.log.gz"
    below.parent.mkdir()
    below.write_bytes(gzip.compress(XID.encode()))

    assert judged(capsys, str(tmp_path))["suspects"][0]["target"]["host"] == "node-07"


def test_nothing_that_can_be_judged_ends_with_3(tmp_path: Path):
    (tmp_path / "empty.log").touch()

    assert exit_code_of(str(tmp_path)) == 3


@pytest.mark.parametrize(
    "arguments", [(), ("/nowhere",), ("--placement", "/nowhere")], ids=["none", "path", "option"]
)
def test_arguments_that_cannot_be_used_end_with_2_and_say_why(
    capsys, log: Path, arguments: tuple[str, ...]
):
    given = (str(log), *arguments) if "--placement" in arguments else arguments

    assert exit_code_of(*given, "--json") == 2
    assert json.loads(capsys.readouterr().out)["error"]


def test_unknown_options_are_an_error_in_json_too(capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["manage.py", "diagnose", "--json", "--bogus"])

    with pytest.raises(SystemExit):
        Command().run_from_argv(["manage.py", "diagnose", "--json", "--bogus"])

    assert "--bogus" in json.loads(capsys.readouterr().out)["error"]
