"""A ticket system does the whole main job over REST, from a broken job to a decision."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone
from rest_framework.test import APIClient

from diagnosis.services.run import run
from diagnosis.simulator.scenarios import simulate
from incidents.choices import Role
from incidents.services import tokens
from tests.factories import UserFactory, actor

pytestmark = pytest.mark.django_db
V1 = "/api/v1"


@dataclass
class TicketSystem:
    """A program with a token that may do what a ticket system needs, and no more."""

    client: APIClient

    @classmethod
    def with_token(cls) -> "TicketSystem":
        issued = tokens.issue(
            actor=actor(Role.ADMIN),
            owner=UserFactory(role=Role.OPERATOR),
            name="ticket system",
            scopes=["read", "respond", "register_jobs"],
            expires_at=timezone.now() + timedelta(hours=1),
        )
        client = APIClient()
        client.credentials(HTTP_AUTHORIZATION=f"Bearer {issued.raw}")
        return cls(client)

    def post(self, place: str, body: Any, key: str) -> Any:
        answer = self.client.post(
            f"{V1}/{place}", body, format="json", HTTP_IDEMPOTENCY_KEY=f"OPS-1234/{key}"
        )
        assert answer.status_code in {200, 201, 202}, answer.json()
        return answer.json()

    def get(self, place: str) -> Any:
        return self.client.get(f"{V1}/{place}").json()

    def register(self, placement: Any) -> int:
        """Job, attempt and placement; the attempt's id."""
        job = self.post("jobs", {"external_id": "48211", "source": "slurm"}, "job")
        attempt = self.post(f"jobs/{job['id']}/attempts", {}, "attempt")
        answer = self.client.put(
            f"{V1}/attempts/{attempt['id']}/placement", placement, format="json"
        )
        assert answer.status_code == 200, answer.json()
        return int(attempt["id"])

    def hand_in(self, incident: int, files: Mapping[str, bytes]) -> int:
        """All files in one form; the id of the run that will judge them."""
        form = [SimpleUploadedFile(name, content) for name, content in files.items()]
        answer = self.client.post(f"{V1}/incidents/{incident}/evidence", {"file": form})
        assert answer.status_code == 201, answer.json()
        assert len(answer.json()["evidence"]) == len(files)
        return int(answer.json()["diagnosis"]["id"])


def worked(diagnosis: int) -> None:
    """What the worker does between two polls."""
    assert run(diagnosis)


def test_from_registering_a_job_to_reading_what_was_decided():
    simulation = simulate("hang_compute", seed=3, hosts=2, gpus_per_host=4)
    files = dict(simulation.files)
    placement = orjson.loads(files.pop("placement.json"))
    tickets = TicketSystem.with_token()
    since = tickets.get("events")["since"]

    attempt = tickets.register(placement)
    incident = tickets.post(
        "incidents", {"attempt": attempt, "kind": "hang", "dedup_key": "OPS-1234"}, "incident"
    )
    assert incident["gpu_count"] == 8
    diagnosis = tickets.hand_in(incident["id"], files)
    assert tickets.get(f"diagnoses/{diagnosis}")["state"] == "queued"
    worked(diagnosis)
    answer = tickets.get(f"diagnoses/{diagnosis}")
    assert (answer["state"], answer["verdict"]["kind"]) == ("done", "hang")
    suspect = answer["suspects"][0]
    assert suspect["target"]["host"] in simulation.truth.culprit_hosts
    assert suspect["findings"]
    asked = answer["recommendations"][0]
    decided = tickets.post(
        f"recommendations/{asked['id']}/decisions", {"kind": "accept"}, "decision"
    )
    at, body = f"{V1}/decisions/{decided['id']}", {"outcome": "recovered"}
    assert tickets.client.patch(at, body, format="json", HTTP_IF_MATCH="*").status_code == 200
    feed = tickets.get(f"events?since={since}&incident={incident['id']}")["results"]
    verbs = [event["verb"] for event in feed if event["verb"] != "evidence.attached"]
    assert verbs == [
        "incident.opened",
        "diagnosis.requested",
        "diagnosis.done",
        "recommendation.accepted",
        "decision.outcome",
    ]


def test_an_answer_that_got_lost_is_asked_for_again_without_harm():
    tickets = TicketSystem.with_token()
    sent = [
        tickets.post("incidents", {"title": "hangs", "hosts": ["node-1"]}, "once") for _ in range(3)
    ]
    assert sent[0] == sent[1] == sent[2]
    assert len(tickets.get("incidents")["results"]) == 1


def test_files_that_cannot_be_read_are_told_and_stop_nothing():
    tickets = TicketSystem.with_token()
    incident = tickets.post("incidents", {"title": "crashed"}, "incident")
    files = {
        "empty.log": b"",
        "comm_lib_trace_rank_0": b"\x80\x02}q\x00(X\x07",
        "node-017.dmesg.log": b"[ 10.0] NVRM: Xid (PCI:0000:3b:00): 79, fallen off the bus\n",
    }
    diagnosis = tickets.hand_in(incident["id"], files)
    worked(diagnosis)
    answer = tickets.get(f"diagnoses/{diagnosis}")
    assert {item["file"] for item in answer["skipped"]} == {"empty.log", "comm_lib_trace_rank_0"}
    assert answer["suspects"][0]["target"]["host"] == "node-017"
    rows = tickets.get(f"incidents/{incident['id']}/evidence?parse_status=skipped")["results"]
    assert all(row["parse_reason"] for row in rows)
    assert len(rows) == 2


def test_a_recorded_hang_names_the_recorded_rank(cases: Path):
    folder = cases / "flight_recorder" / "hang_compute"
    placement = orjson.loads((folder / "placement.json").read_bytes())
    tickets = TicketSystem.with_token()
    attempt = tickets.register(placement)
    incident = tickets.post("incidents", {"attempt": attempt}, "incident")
    dumps = {path.name: path.read_bytes() for path in sorted(folder.glob("comm_lib_trace_rank_*"))}
    diagnosis = tickets.hand_in(incident["id"], dumps)
    worked(diagnosis)
    suspect = tickets.get(f"diagnoses/{diagnosis}")["suspects"][0]
    assert (suspect["role"], suspect["target"]["host"], suspect["target"]["rank"]) == (
        "culprit",
        "node-001",
        3,
    )
