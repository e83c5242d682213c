"""Rules as a file, out and in."""

import re
from copy import deepcopy

import pytest
import yaml
from django.core.management import CommandError, call_command

from diagnosis.models import IgnoreRule, Signature, TaxonomyVersion
from diagnosis.services import exchange, taxonomy
from diagnosis.services.exchange import ImportRefused
from incidents.choices import Role
from incidents.exceptions import NotAllowed
from tests.diagnosis.services.test_taxonomy import OTHER, ROW, load
from tests.factories import ClusterFactory, actor

pytestmark = pytest.mark.django_db

IGNORED = {
    "signature": "oom",
    "cluster": "lab",
    "reason": "known",
    "expires": "2026-12-31T00:00:00Z",
}


def file_of(*rows: dict[str, object], **sections: object) -> bytes:
    return yaml.safe_dump({"signatures": list(rows), **sections}).encode()


def take_in(content: bytes, **options: bool) -> TaxonomyVersion | None:
    _, version = exchange.take_in(
        actor=actor(Role.TAXONOMIST), content=content, why="from the other site", **options
    )
    return version


def refused(content: bytes) -> list[str]:
    with pytest.raises(ImportRefused) as caught:
        take_in(content)
    return caught.value.problems


@pytest.fixture(autouse=True)
def _loaded() -> None:
    load()


def test_an_export_taken_in_again_changes_nothing():
    assert take_in(exchange.export().encode(), remove_missing=True) is None


def test_a_preview_shows_fields_and_writes_nothing():
    seen = exchange.preview(file_of({**OTHER, "priority": 10}))
    (change,) = seen.changes["signatures"]
    assert [(one.name, one.before, one.after) for one in change.fields] == [("priority", 70, 10)]
    assert Signature.objects.get(code="oom").priority == 70


def test_what_a_file_leaves_out_stays_unless_that_is_asked_for():
    assert exchange.preview(file_of(OTHER)).counts == {"added": 0, "changed": 0, "removed": 0}
    seen = exchange.preview(file_of(OTHER), remove_missing=True)
    assert [one.name for one in seen.changes["signatures"]] == ["xid-95"]


def test_an_import_is_one_version_with_its_reason():
    new = {**ROW, "code": "new", "pattern": "NEW", "examples": ["NEW"]}
    version = take_in(file_of(new, {**OTHER, "priority": 10}))
    assert version is not None
    assert (version.why, len(version.rows)) == ("from the other site", 3)


@pytest.mark.parametrize(
    ("broken", "problem"),
    [
        ({"pattern": "(?<=x)y"}, r"row 2 \(line \d+\) \(new\): RE2 has no look-behind"),
        ({"code": "oom"}, r"row 2 \(line \d+\) \(oom\): the code is taken by row 1"),
        ({"class": "bad"}, r"row 2 \(line \d+\) \(new\): unknown class 'bad'"),
        ({"prioritty": 3}, r"row 2 \(line \d+\) \(new\): unknown field 'prioritty'"),
        ({"code": "New Fault"}, r"row 2 \(line \d+\) \(New Fault\): code: Small letters"),
        ({"examples": ["other"]}, r"row 2 \(line \d+\) \(new\): examples: The pattern does not"),
        ({"runbook": "no address"}, r"row 2 \(line \d+\) \(new\): runbook: Enter a valid URL"),
        ({"enabled": "no"}, r"row 2 \(line \d+\) \(new\): 'enabled' must be true or false"),
    ],
)
def test_a_broken_row_is_refused_by_line_and_reason_and_nothing_is_taken(broken, problem):
    new = {**ROW, "code": "new", "pattern": "NEW", "examples": []}
    before = taxonomy.rows()
    (told,) = refused(file_of({**OTHER, "priority": 10}, {**new, **broken}))
    assert re.match(problem, told)
    assert taxonomy.rows() == before


def test_every_broken_row_is_told_at_once():
    bad = [deepcopy({**ROW, "code": f"bad-{n}", "pattern": "("}) for n in range(3)]
    assert len(refused(file_of(*bad))) == 3


def test_sections_of_the_site_are_taken_in_whole():
    ClusterFactory(name="lab")
    take_in(file_of(ignore_rules=[IGNORED]))
    assert IgnoreRule.objects.get().reason == "known"
    take_in(file_of(ignore_rules=[]))
    assert not IgnoreRule.objects.exists()


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"cluster": "nowhere"}, "there is no cluster 'nowhere' here"),
        ({"signature": "nothing"}, "there is no signature 'nothing'"),
    ],
)
def test_rules_about_something_unknown_are_refused(change, problem):
    ClusterFactory(name="lab")
    (told,) = refused(file_of(ignore_rules=[{**IGNORED, **change}]))
    assert problem in told


def test_importing_takes_a_taxonomist():
    with pytest.raises(NotAllowed):
        exchange.take_in(actor=actor(Role.OPERATOR), content=file_of(), why="because")


def test_the_command_shows_a_dry_run_and_changes_nothing(tmp_path, capsys):
    file = tmp_path / "rules.yaml"
    file.write_bytes(file_of({**OTHER, "priority": 10}))
    call_command("taxonomy", "import", str(file), "--dry-run")
    assert "priority: 70 -> 10" in capsys.readouterr().out
    assert TaxonomyVersion.objects.count() == 1


def test_the_command_exports_and_imports(tmp_path, capsys):
    file = tmp_path / "rules.yaml"
    call_command("taxonomy", "export", str(file))
    file.write_text(file.read_text().replace("priority: 70", "priority: 71"))
    call_command("taxonomy", "import", str(file), "--why", "a better order")
    assert "0 added, 2 changed, 0 removed" in capsys.readouterr().out
    assert TaxonomyVersion.objects.latest("id").why == "a better order"


@pytest.mark.parametrize("options", [[], ["--why", " "]])
def test_the_command_asks_for_a_reason(tmp_path, options):
    file = tmp_path / "rules.yaml"
    file.write_bytes(file_of())
    with pytest.raises(CommandError, match="--why"):
        call_command("taxonomy", "import", str(file), *options)


def test_the_command_tells_what_is_wrong_with_a_file(tmp_path):
    file = tmp_path / "rules.yaml"
    file.write_bytes(b"signatures:\n- code: [")
    with pytest.raises(CommandError, match=r"(?s)Nothing was changed.*not YAML"):
        call_command("taxonomy", "import", str(file), "--why", "because")
