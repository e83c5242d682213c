"""The page on which suites of checks are edited."""

import pytest
import yaml
from django.test import Client

from diagnosis.checks.suite import shipped_document
from diagnosis.checks.suite_text import text_of
from diagnosis.models import CheckSuite
from incidents.choices import Role
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db

TEXT = text_of(shipped_document("cpu"))


@pytest.fixture
def operator(client: Client) -> Client:
    client.force_login(UserFactory(role=Role.OPERATOR, username="olga"))
    return client


def saved(client: Client, text: str, **more: object) -> str:
    form = {"definition": text, "why": "slower disks", "seen": 1, **more}
    return client.post("/checks/suites/cpu", form, follow=True).content.decode()


def test_an_edit_is_the_next_version_with_who_and_why(operator: Client):
    text = TEXT.replace("floor: 0.6", "floor: 0.7", 1)
    assert "Saved as version 2" in saved(operator, text)
    newest = CheckSuite.objects.get(code="cpu", version=2)
    assert (newest.who, newest.why) == ("olga", "slower disks")
    assert newest.suite.item("disk").criterion.floor == 0.7
    assert "slower disks" in operator.get("/checks/suites").content.decode()


def test_a_text_without_any_change_is_no_new_version(operator: Client):
    assert "Nothing changed" in saved(operator, TEXT)
    assert CheckSuite.objects.filter(code="cpu").count() == 1


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("parser: readings", "parser: reedings", "there is no parser"),
        ("  time_limit_s: 20\n", "  time_limit_s: soon\n", "positive number"),
        ("  phase: configuration\n", "  fase: configuration\n", "no field"),
    ],
)
def test_what_is_wrong_is_told_with_its_line_and_the_text_stays(operator: Client, old, new, said):
    text = TEXT.replace(old, new, 1)
    line = 1 + next(
        at for at, row in enumerate(text.splitlines()) if row == new.splitlines()[0] or new in row
    )
    page = saved(operator, text)
    assert f"line {line}: " in page
    assert said in page
    assert new.strip() in page
    assert CheckSuite.objects.filter(code="cpu").count() == 1


def test_broken_yaml_is_told_with_its_line(operator: Client):
    assert "line 4: not YAML" in saved(operator, "code: cpu\ntitle: x\nitems: [a\n: b\n")


@pytest.mark.parametrize("more", [{"why": ""}, {"seen": 0}])
def test_no_reason_and_an_overtaken_edit_save_nothing(operator: Client, more):
    page = saved(operator, TEXT, **more)
    assert "Say why" in page or "meanwhile" in page
    assert CheckSuite.objects.filter(code="cpu").count() == 1


def test_another_code_makes_a_suite_of_its_own(operator: Client):
    saved(operator, TEXT.replace("code: cpu", "code: cpu-site", 1))
    assert CheckSuite.objects.get(code="cpu-site").version == 1


def test_an_older_version_is_compared_and_restored(operator: Client):
    saved(operator, TEXT.replace("floor: 0.6", "floor: 0.7", 1))
    page = operator.get("/checks/suites/cpu?version=1").content.decode()
    assert "floor: 0.6" in page
    operator.post("/checks/suites/cpu/restore/1", {"why": "too wide"})
    newest = CheckSuite.objects.get(code="cpu", version=3)
    assert newest.definition == yaml.safe_load(TEXT)
    assert newest.why == "back to version 1: too wide"


def test_a_viewer_reads_and_saves_nothing(client: Client):
    client.force_login(UserFactory(role=Role.VIEWER))
    page = client.get("/checks/suites/cpu").content.decode()
    assert "Kernel and C library" in page
    assert "<textarea" not in page
    assert client.post("/checks/suites/cpu", {"definition": TEXT, "why": "w"}).status_code == 403
    assert client.post("/checks/suites/cpu/restore/1", {"why": "w"}).status_code == 403


def test_an_unknown_suite_is_not_found(operator: Client):
    assert operator.get("/checks/suites/ghost").status_code == 404
