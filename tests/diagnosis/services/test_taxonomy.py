"""The knowledge in the database: loading, versions, and what a diagnosis judges by."""

from copy import deepcopy
from functools import cache
from importlib import resources

import pytest
import yaml
from django.core.management import call_command

from diagnosis.models import FaultType, Signature, TaxonomyVersion
from diagnosis.services import taxonomy
from diagnosis.services.run import run
from diagnosis.taxonomy.ruleset import Taxonomy
from incidents.choices import Role
from incidents.exceptions import NotAllowed
from incidents.models import Event
from tests.diagnosis.services.test_run import answer
from tests.factories import DiagnosisFactory, actor

pytestmark = pytest.mark.django_db

ROW = {
    "code": "xid-95",
    "title": "Uncontained ECC error",
    "component": "gpu",
    "class": "critical",
    "severity": "critical",
    "stream": "kernel",
    "pattern": r"NVRM: Xid .*: 95\b",
    "examples": ["NVRM: Xid (PCI:0000:9b:00): 95, pid=1"],
    "implicates": "gpu",
    "action": "isolate-host",
    "priority": 70,
    "explanation": "Memory is broken.",
    "source": "vendor",
    "evidence": "source",
}
OTHER = {**ROW, "code": "oom", "pattern": "out of memory", "examples": ["out of memory"]}


@cache
def shipped_rows() -> list[dict[str, object]]:
    text = resources.files("diagnosis.taxonomy").joinpath("default.yaml").read_text("utf-8")
    rows: list[dict[str, object]] = yaml.safe_load(text)["signatures"]
    return rows


def load(*rows: dict[str, object]) -> taxonomy.Loaded:
    return taxonomy.load_shipped(actor=actor(Role.TAXONOMIST), shipped=rows or (ROW, OTHER))


def without_defaults(row: dict[str, object]) -> dict[str, object]:
    unset = {"follow_on": False, "enabled": True, "explanation": "", "source": ""}
    return {name: value for name, value in row.items() if unset.get(name) != value}


def test_the_shipped_rows_go_through_the_database_without_loss():
    shipped = sorted(shipped_rows(), key=lambda row: str(row["code"]))
    load(*shipped)
    assert taxonomy.rows() == [without_defaults(row) for row in shipped]


def test_the_shipped_taxonomy_keeps_its_version_in_the_database():
    load(*shipped_rows())
    assert taxonomy.current().taxonomy.version == Taxonomy.default().version


def test_every_shipped_row_passes_the_checks_of_the_admin_site():
    load(*shipped_rows())
    for row in [*FaultType.objects.all(), *Signature.objects.select_related("fault_type")]:
        row.full_clean(validate_unique=False, validate_constraints=False)


def test_an_empty_database_judges_by_the_shipped_rules():
    assert taxonomy.current().taxonomy.version == Taxonomy.default().version


def test_loading_again_changes_nothing():
    load()
    assert load() == taxonomy.Loaded(added=0, updated=0, kept=0, switched_off=0)
    assert TaxonomyVersion.objects.count() == 1


def test_loading_leaves_rows_alone_that_people_edited():
    load()
    Signature.objects.filter(code="oom").update(pattern="mine", edited=True)
    done = load(ROW, {**OTHER, "pattern": "shipped anew"})
    assert (done.kept, Signature.objects.get(code="oom").pattern) == (1, "mine")


def test_loading_leaves_fault_types_alone_that_people_edited():
    load()
    FaultType.objects.filter(code="oom").update(title="mine", edited=True)
    load(ROW, {**OTHER, "title": "shipped anew"})
    assert FaultType.objects.get(code="oom").title == "mine"


def test_loading_brings_untouched_rows_up_to_date():
    load()
    done = load(ROW, {**OTHER, "pattern": "shipped anew", "title": "new title"})
    signature = Signature.objects.get(code="oom")
    assert (done.updated, signature.pattern) == (1, "shipped anew")
    assert signature.fault_type.title == "new title"


def test_what_is_no_longer_shipped_is_switched_off():
    load()
    assert load(ROW).switched_off == 1
    assert not Signature.objects.get(code="oom").enabled


def test_a_row_of_ones_own_with_a_shipped_code_stays():
    fault = FaultType.objects.create(
        code="oom",
        title="Out of memory",
        component="gpu",
        fault_class="user",
        severity="low",
        action="watch",
    )
    Signature.objects.create(
        code="oom", fault_type=fault, pattern="mine", stream="job", implicates="job"
    )
    load()
    assert Signature.objects.get(code="oom").pattern == "mine"


def test_the_next_diagnosis_uses_the_change_and_its_version():
    load()
    Signature.objects.filter(code="oom").update(pattern="something else")
    seen = []

    def engine(evidence, *, placement=None, taxonomy=None, **known):
        seen.append(taxonomy.by_code["oom"].pattern)
        return answer(taxonomy_version=taxonomy.version)

    queued = DiagnosisFactory()
    run(queued.pk, engine=engine)
    version = taxonomy.record_version(actor=actor(Role.TAXONOMIST))
    queued.refresh_from_db()
    assert seen == ["something else"]
    assert version is not None
    assert queued.taxonomy_version == version.version


def test_a_rule_that_is_switched_off_is_not_used_and_not_lost():
    load()
    Signature.objects.filter(code="oom").update(enabled=False)
    assert set(taxonomy.current().taxonomy.by_code) == {"xid-95"}
    assert [row["code"] for row in taxonomy.rows()] == ["oom", "xid-95"]


def test_a_version_keeps_all_rows_with_who_and_why_and_leaves_an_event():
    load()
    version = TaxonomyVersion.objects.get()
    assert version.rows == sorted([ROW, OTHER], key=lambda row: str(row["code"]))
    assert (version.who, version.why) == ("a taxonomist", "Shipped taxonomy loaded")
    assert Event.objects.get().data["version"] == version.version


def test_a_changed_example_is_history_and_no_other_version_of_the_rules():
    load()
    Signature.objects.filter(code="oom").update(examples=["torch: out of memory"])
    taxonomy.record_version(actor=actor(Role.TAXONOMIST), why="a better example")
    assert TaxonomyVersion.objects.count() == 2
    assert TaxonomyVersion.objects.values("version").distinct().count() == 1


def test_a_second_signature_of_a_fault_type_tells_its_fault_type():
    load(ROW, {**deepcopy(OTHER), "code": "xid-95-b", "fault_type": "xid-95"})
    assert taxonomy.current().fault_codes["xid-95-b"] == "xid-95"
    assert taxonomy.rows()[1]["fault_type"] == "xid-95"


@pytest.mark.parametrize("role", [Role.VIEWER, Role.RESPONDER, Role.OPERATOR])
def test_loading_takes_a_taxonomist(role: Role):
    with pytest.raises(NotAllowed):
        taxonomy.load_shipped(actor=actor(role), shipped=[ROW])


def test_a_broken_row_loads_nothing_at_all():
    broken = {**OTHER, "pattern": "(?=look)"}
    with pytest.raises(ValueError, match="look-ahead"):
        load(ROW, broken)
    assert not Signature.objects.exists()


def test_the_command_says_what_it_did(capsys):
    call_command("load_taxonomy")
    call_command("load_taxonomy")
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith(f"{len(shipped_rows())} signatures added")
    assert second.startswith("0 signatures added, 0 updated")
