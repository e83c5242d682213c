"""Reading the taxonomy over REST."""

from typing import Any

import pytest
from django.core.management import call_command
from rest_framework.test import APIClient

from diagnosis.models import ProgressPicture
from incidents.choices import Role
from tests.factories import DiagnosisFactory, UserFactory

pytestmark = pytest.mark.django_db
AT = "/api/v1/taxonomy"


@pytest.fixture
def reader() -> APIClient:
    client = APIClient()
    client.force_authenticate(UserFactory(role=Role.VIEWER))
    return client


@pytest.fixture
def loaded() -> None:
    call_command("load_taxonomy", verbosity=0)


@pytest.mark.usefixtures("loaded")
def test_the_version_is_what_diagnoses_record(reader: APIClient):
    told = reader.get(AT).json()
    newest = reader.get(f"{AT}/versions").json()["results"][0]
    assert told["version"] == newest["version"]
    assert told["signature_count"] >= told["enabled_signature_count"] > 300


@pytest.mark.usefixtures("loaded")
def test_signatures_are_read_by_code_in_order(reader: APIClient):
    page = reader.get(f"{AT}/signatures?limit=2").json()
    codes = [row["code"] for row in page["results"]]
    following = reader.get(page["next"]).json()["results"][0]["code"]
    assert [*codes, following] == sorted([*codes, following])
    assert reader.get(f"{AT}/signatures/{codes[0]}").json() == page["results"][0]


@pytest.mark.usefixtures("loaded")
def test_a_fault_type_says_class_and_action(reader: APIClient):
    code = reader.get(f"{AT}/signatures?limit=1").json()["results"][0]["fault_type"]
    told = reader.get(f"{AT}/fault-types/{code}").json()
    assert told["code"] == code
    assert {"class", "action", "severity"} <= set(told)


@pytest.mark.usefixtures("loaded")
def test_a_version_shows_all_its_rows(reader: APIClient):
    newest = reader.get(f"{AT}/versions").json()["results"][0]
    rows = reader.get(f"{AT}/versions/{newest['id']}").json()["rows"]
    assert len(rows) == reader.get(AT).json()["signature_count"]


@pytest.mark.parametrize("place", ["signatures", "fault-types"])
def test_an_unknown_code_is_a_404(reader: APIClient, place: str):
    assert reader.get(f"{AT}/{place}/nothing").status_code == 404


@pytest.mark.usefixtures("loaded")
def test_a_list_of_signatures_takes_few_queries(reader: APIClient, django_assert_num_queries: Any):
    with django_assert_num_queries(1):
        assert len(reader.get(f"{AT}/signatures?limit=300").json()["results"]) == 300


def test_a_picture_is_given_as_the_data_it_is_drawn_from(reader: APIClient):
    run = DiagnosisFactory(done=True)
    ProgressPicture.objects.create(diagnosis=run, data={"communicators": []})
    at = f"/api/v1/diagnoses/{run.pk}/pictures/collective-progress"
    assert reader.get(at).json() == {"communicators": []}


def test_a_run_without_a_picture_is_a_404(reader: APIClient):
    run = DiagnosisFactory(done=True)
    at = f"/api/v1/diagnoses/{run.pk}/pictures/collective-progress"
    assert reader.get(at).status_code == 404
