"""Versions of the rules: what each changed, and going back."""

import pytest

from diagnosis.models import MaintenanceWindow, Signature, SignatureOverride, TaxonomyVersion
from diagnosis.services import rule_changes, taxonomy, versions
from diagnosis.taxonomy.fields import TaxonomyError
from incidents.choices import Role
from incidents.exceptions import InvalidInput, NotAllowed
from tests.diagnosis.services.test_taxonomy import OTHER, ROW, load
from tests.factories import ClusterFactory, actor

pytestmark = pytest.mark.django_db

ME = actor(Role.TAXONOMIST)


def write(**changes: dict[str, object] | None) -> TaxonomyVersion | None:
    named = {code.replace("_", "-"): row for code, row in changes.items()}
    return rule_changes.write(actor=ME, changes=named, why="found in a review")


def kinds(changes: versions.Changes) -> dict[str, list[tuple[str, str]]]:
    return {
        section: [(one.kind.value, one.name) for one in rows] for section, rows in changes.items()
    }


def test_several_changes_at_once_are_one_version_with_its_reason():
    load()
    new = {**ROW, "code": "mine", "pattern": "MINE", "examples": []}
    version = write(mine=new, oom={**OTHER, "priority": 10})
    assert version is not None
    assert version.why == "found in a review"
    assert kinds(versions.changes_of(version)) == {
        "signatures": [("added", "mine"), ("changed", "oom")]
    }


def test_a_row_that_cannot_be_used_changes_nothing():
    load()
    before = taxonomy.rows()
    with pytest.raises(TaxonomyError, match=r"oom.*look-ahead"):
        write(xid_95={**ROW, "priority": 1}, oom={**OTHER, "pattern": "(?=x)"})
    assert taxonomy.rows() == before


def test_a_change_needs_a_reason():
    with pytest.raises(InvalidInput):
        rule_changes.write(actor=ME, changes={}, why=" ")


@pytest.mark.parametrize("role", [Role.VIEWER, Role.RESPONDER, Role.OPERATOR])
def test_changing_and_restoring_takes_a_taxonomist(role: Role):
    load()
    with pytest.raises(NotAllowed):
        rule_changes.write(actor=actor(role), changes={}, why="because")
    with pytest.raises(NotAllowed):
        versions.restore(actor=actor(role), version=TaxonomyVersion.objects.get(), why="because")


def test_a_shipped_row_that_is_removed_is_switched_off_and_one_of_ones_own_is_gone():
    load()
    write(mine={**ROW, "code": "mine", "pattern": "MINE", "examples": []})
    write(mine=None, oom=None)
    left = dict(Signature.objects.values_list("code", "enabled"))
    assert left == {"oom": False, "xid-95": True}


def test_restoring_brings_everything_back_as_a_new_version():
    load()
    first = TaxonomyVersion.objects.get()
    write(oom={**OTHER, "priority": 10, "title": "worse"}, xid_95=None)
    restored = versions.restore(actor=ME, version=first, why="too many alarms")
    assert restored is not None
    assert (restored.rows, restored.version) == (first.rows, first.version)
    assert restored.why == f"Version {first.pk} restored: too many alarms"
    assert TaxonomyVersion.objects.count() == 3


def test_restoring_keeps_maintenance_windows_and_brings_overrides_back():
    load()
    cluster = ClusterFactory(name="lab")
    override = SignatureOverride.objects.create(
        cluster=cluster, signature=Signature.objects.get(code="oom"), disabled=True, reason="noise"
    )
    with_override = taxonomy.record_version(actor=ME, why="noise in the lab")
    assert with_override is not None
    override.delete()
    MaintenanceWindow.objects.create(
        cluster=cluster,
        starts_at="2026-12-01T08:00:00Z",
        ends_at="2026-12-01T09:00:00Z",
        reason="fans",
    )
    taxonomy.record_version(actor=ME, why="fans")
    versions.restore(actor=ME, version=with_override, why="it was right")
    assert SignatureOverride.objects.get().reason == "noise"
    assert MaintenanceWindow.objects.count() == 1


def test_restoring_what_is_already_so_makes_no_version():
    load()
    version = TaxonomyVersion.objects.get()
    assert versions.restore(actor=ME, version=version, why="to be sure") is None


def test_a_version_is_found_by_the_hash_that_one_cluster_records():
    load()
    SignatureOverride.objects.create(
        cluster=ClusterFactory(name="lab"),
        signature=Signature.objects.get(code="oom"),
        action="watch",
        reason="noise",
    )
    version = taxonomy.record_version(actor=ME, why="noise in the lab")
    in_lab = taxonomy.current("lab").taxonomy.version
    assert in_lab != taxonomy.current().taxonomy.version
    assert list(versions.versions_called(in_lab)) == [version]
