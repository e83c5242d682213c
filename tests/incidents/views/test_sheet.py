"""The one-page report of an incident."""

import re

import pytest
from django.test import Client
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from incidents.choices import DecisionKind, Resolution
from incidents.models import Incident
from incidents.services.decisions import decide
from incidents.services.incidents import add_note, resolve
from incidents.views.sheet_markdown import code, plain
from tests.factories import (
    AttemptFactory,
    DiagnosisFactory,
    EvidenceFactory,
    FindingFactory,
    HostFactory,
    IncidentFactory,
    RankPlacementFactory,
    RecommendationFactory,
    SuspectFactory,
    actor,
)


@pytest.fixture
def incident(db) -> Incident:
    """One whose GPU 3 of node-001 fell off the bus, isolation accepted."""
    attempt = AttemptFactory()
    host = HostFactory(name="node-001", cluster=attempt.job.cluster)
    RankPlacementFactory(attempt=attempt, host=host, rank=3, gpu="3", gpu_uuid="GPU-abc")
    found: Incident = IncidentFactory(job=attempt.job, attempt=attempt, gpu_count=8)
    found.hosts.add(host)
    EvidenceFactory(incident=found, name="node-001.dmesg.log")
    run = DiagnosisFactory(done=True, incident=found)
    suspect = SuspectFactory(
        diagnosis=run, position=1, target_kind="gpu", target_gpu="3", fault="xid-79"
    )
    line = "NVRM: Xid 79 | fallen `off` the bus <script>"
    suspect.findings.add(FindingFactory(diagnosis=run, text=line, locator={"line": 7}))
    advice = RecommendationFactory(diagnosis=run)
    decide(actor=actor(), recommendation=advice, kind=DecisionKind.ACCEPT, reason="it is gone")
    return found


def as_markdown(client: Client, incident: Incident) -> str:
    return client.get(reverse("incidents:sheet-markdown", args=[incident.pk])).content.decode()


def test_it_names_the_part_by_its_own_number(viewer: Client, incident: Incident) -> None:
    assert "1. **node-001 GPU 3** (culprit, 90 %), `xid-79`, `GPU-abc`" in as_markdown(
        viewer, incident
    )


def test_it_quotes_what_the_log_says_without_letting_it_be_markup(viewer, incident) -> None:
    assert "for: `` NVRM: Xid 79 | fallen `off` the bus <script> ``" in as_markdown(
        viewer, incident
    )


def test_it_tells_the_decision_and_the_command(viewer: Client, incident: Incident) -> None:
    text = as_markdown(viewer, incident)

    assert "Accepted by a operator" in text
    assert f"`scontrol update nodename=node-001 state=drain reason={incident.reference}`" in text


def test_it_gives_the_hash_of_each_file(viewer: Client, incident: Incident) -> None:
    sha256 = incident.evidence.get().blob.sha256

    assert f"- `node-001.dmesg.log`, SHA-256 `{sha256}`" in as_markdown(viewer, incident)


def test_the_page_to_print_says_the_same(viewer: Client, incident: Incident) -> None:
    page = viewer.get(reverse("incidents:sheet", args=[incident.pk])).content.decode()

    for words in ("node-001 GPU 3", "GPU-abc", "xid-79", "node-001.dmesg.log", "scontrol"):
        assert words in page


def test_an_incident_without_an_answer_has_a_report_too(viewer: Client) -> None:
    incident: Incident = IncidentFactory(title="what *now*?")

    text = as_markdown(viewer, incident)

    assert text.startswith(f"# {incident.reference}: what \\*now\\*?")
    assert "No diagnosis has finished yet." in text


@given(st.text(alphabet="` ab\n"))
def test_a_code_span_never_ends_early(text: str) -> None:
    fence = len(code(text)) - len(code(text).lstrip("`"))

    assert fence not in {len(run) for run in re.findall("`+", text)}


@given(st.text())
def test_plain_text_stays_on_one_line(text: str) -> None:
    assert "\n" not in plain(text)


@pytest.fixture
def ended(incident: Incident) -> Incident:
    """The same, noted on and resolved."""
    add_note(actor=actor(), incident=incident, text="Swapped **GPU 3**\n- <b>serial</b> 7")
    note = "RMA 4711\n---\n# done"
    return resolve(actor=actor(), incident=incident, resolution=Resolution.PART_ISOLATED, note=note)


def test_it_tells_how_it_ended_who_said_so_and_what_people_noted(viewer, ended) -> None:
    text = as_markdown(viewer, ended)

    assert f"## How it ended\n\nPart isolated, by a operator, {ended.resolved_at:%Y-%m-%d}" in text
    assert "> RMA 4711\n> \\---\n> \\# done" in text
    assert ", a operator:\n\n  > Swapped \\*\\*GPU 3\\*\\*\n  > \\- \\<b\\>serial\\</b\\> 7" in text


def test_the_page_to_print_tells_the_end_and_the_notes(viewer: Client, ended: Incident) -> None:
    page = viewer.get(reverse("incidents:sheet", args=[ended.pk])).content.decode()

    assert re.search(r"<h2>How it ended</h2>\s*<p>Part isolated, by a operator, <time", page)
    assert "RMA 4711<br>" in page
    assert "<strong>GPU 3</strong>" in page
    assert "<b>" not in page


def test_an_open_one_says_nothing_of_an_end(viewer: Client, incident: Incident) -> None:
    assert "How it ended" not in as_markdown(viewer, incident)
