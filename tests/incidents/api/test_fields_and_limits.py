"""Sparse answers, and how many requests are too many."""

import pytest
from rest_framework.test import APIClient

from tests.factories import DiagnosisFactory, IncidentFactory, JobFactory, SuspectFactory

pytestmark = pytest.mark.django_db


def test_a_list_shows_only_the_fields_that_are_asked_for(api: APIClient):
    IncidentFactory(job=JobFactory(name="pretrain"))
    page = api.get("/api/v1/incidents?status=all&fields=id,job.name").json()
    assert [list(one) for one in page["results"]] == [["id", "job"]]
    assert page["results"][0]["job"] == {"name": "pretrain"}
    assert "next" in page


def test_records_stand_in_place_of_their_ids(api: APIClient):
    suspect = SuspectFactory(diagnosis=DiagnosisFactory(done=True))
    page = api.get("/api/v1/suspects?expand=incident,diagnosis").json()
    (shown,) = page["results"]
    assert shown["incident"]["reference"] == suspect.diagnosis.incident.reference
    assert shown["diagnosis"]["id"] == suspect.diagnosis_id


def test_an_incident_expands_its_job_and_its_newest_answer(api: APIClient):
    job = JobFactory()
    incident = IncidentFactory(job=job, cluster=job.cluster)
    for _ in range(2):
        newest = DiagnosisFactory(incident=incident, done=True)
    DiagnosisFactory(incident=incident)
    shown = api.get(f"/api/v1/incidents/{incident.pk}?expand=job,diagnosis").json()
    assert (shown["job"]["cluster"], shown["diagnosis"]["id"]) == (job.cluster.name, newest.pk)


def test_what_is_not_there_stays_as_it_is(api: APIClient):
    incident = IncidentFactory(job=None)
    shown = api.get(f"/api/v1/incidents/{incident.pk}?expand=job,diagnosis").json()
    assert (shown["job"], shown["diagnosis"]["state"]) == (None, "")


def test_fields_pick_from_what_is_expanded(api: APIClient):
    suspect = SuspectFactory(diagnosis=DiagnosisFactory(done=True))
    address = f"/api/v1/suspects/{suspect.pk}?expand=incident&fields=id,incident.reference"
    shown = api.get(address).json()
    reference = suspect.diagnosis.incident.reference
    assert shown == {"id": suspect.pk, "incident": {"reference": reference}}


@pytest.mark.parametrize("address", ["incidents?expand=colour", "clusters?expand=job"])
def test_what_cannot_be_expanded_is_an_error(api: APIClient, address: str):
    answer = api.get(f"/api/v1/{address}")
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["parameter"] == "expand"


def test_a_page_is_expanded_in_a_fixed_number_of_queries(
    api: APIClient, django_assert_max_num_queries
):
    for _ in range(5):
        SuspectFactory(diagnosis=DiagnosisFactory(done=True))
    with django_assert_max_num_queries(25):
        api.get("/api/v1/suspects?expand=incident,diagnosis")


def test_a_record_shows_only_the_fields_that_are_asked_for(api: APIClient):
    incident = IncidentFactory()
    answer = api.get(f"/api/v1/incidents/{incident.pk}?fields=status")
    assert answer.json() == {"status": "triggered"}


def test_the_tag_of_a_sparse_answer_serves_to_change_the_record(api: APIClient):
    address = f"/api/v1/incidents/{IncidentFactory().pk}"
    tag = api.get(f"{address}?fields=status")["ETag"]
    change = {"status": "acknowledged"}
    assert api.patch(address, change, format="json", HTTP_IF_MATCH=tag).status_code == 200


def test_a_field_that_does_not_exist_is_refused(api: APIClient):
    answer = api.get("/api/v1/incidents?fields=id,colour")
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["parameter"] == "fields"


def test_answers_tell_how_many_requests_are_left(api: APIClient, settings):
    settings.API_REQUESTS_PER_MINUTE = 5
    answer = api.get("/api/v1/me")
    assert (answer["RateLimit-Limit"], answer["RateLimit-Remaining"]) == ("5", "4")
    assert 0 < int(answer["RateLimit-Reset"]) <= 60


def test_one_request_too_many_is_told_when_to_come_again(api: APIClient, settings):
    settings.API_REQUESTS_PER_MINUTE = 1
    answers = [api.get("/api/v1/me") for _ in range(3)]
    late = answers[-1]
    assert late.status_code == 429
    assert 0 < int(late["Retry-After"]) <= 61
    assert late["RateLimit-Remaining"] == "0"


def test_alerts_are_never_held_up(api: APIClient, settings):
    settings.API_REQUESTS_PER_MINUTE = 1
    codes = {
        api.post("/api/v1/inbox/alertmanager", {"alerts": []}, format="json").status_code
        for _ in range(5)
    }
    assert codes == {202}


def test_without_a_cache_nobody_is_held_up(api: APIClient, settings):
    settings.CACHES = {
        "default": {
            "BACKEND": "django.core.cache.backends.redis.RedisCache",
            "LOCATION": "unix:///nowhere/redis.sock",
        }
    }
    settings.API_REQUESTS_PER_MINUTE = 1
    assert {api.get("/api/v1/me").status_code for _ in range(3)} == {200}
