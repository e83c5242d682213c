"""The engine's answer as the records store it."""

from dataclasses import replace

import numpy as np
import pytest

from diagnosis.core.diagnosis import (
    Diagnosis,
    Finding,
    Recommendation,
    Skipped,
    Suspect,
    Verdict,
)
from diagnosis.core.target import Target
from diagnosis.core.words import Action, IncidentKind, Role, TargetKind, VerdictClass
from diagnosis.services.answers import plain, result_from
from incidents.models import Evidence
from tests.factories import EvidenceFactory

HOST = Target(TargetKind.HOST, name="node-1", host="node-1", gpu=0, rank=3)
FINDING = Finding(
    detector="arrival",
    target=HOST,
    text="rank 3 never arrived",
    evidence="dump_3",
    locator={"entry": np.int64(7)},
    time=1_740_000_000.0,
)


def answer(**given) -> Diagnosis:
    settled = {
        "verdict": Verdict(IncidentKind.HANG, VerdictClass.CRITICAL, "rank 3 stopped", 0.9),
        "suspects": (),
        "recommendations": (),
        "trace": ("collectives",),
        "skipped": (),
        "taxonomy_version": "abc",
    }
    return Diagnosis(**{**settled, **given})


def stored(diagnosis: Diagnosis, records=None, kinds=None, fault_codes=None):
    return result_from(
        diagnosis,
        records=records or {},
        kinds=kinds or {},
        origins={},
        fault_codes=fault_codes or {},
    )


def suspect(*findings: Finding, fault: str | None = None, score: float = 0.9) -> Suspect:
    return Suspect(HOST, score, Role.CULPRIT, fault, findings)


def test_a_finding_that_suspects_share_is_stored_once():
    other = Finding(detector="peer", target=HOST, text="x", evidence=None)
    result = stored(answer(suspects=(suspect(FINDING), suspect(other, FINDING))))
    assert [list(one.findings) for one in result.suspects] == [[0], [1, 0]]
    assert [one.detector for one in result.findings] == ["arrival", "peer"]


def test_gpu_zero_is_not_lost():
    assert stored(answer(suspects=(suspect(),))).suspects[0].target.gpu == "0"


def test_a_signatures_code_becomes_its_fault_types():
    result = stored(
        answer(suspects=(suspect(fault="ecc-b"), suspect(fault="other"))),
        fault_codes={"ecc-b": "ecc"},
    )
    assert [one.fault for one in result.suspects] == ["ecc", "other"]


@pytest.mark.parametrize(("score", "kept"), [(1.0000001, 1.0), (-1e-9, 0.0), (0.5, 0.5)])
def test_rounding_never_breaks_the_range_of_a_score(score: float, kept: float):
    assert stored(answer(suspects=(suspect(score=score),))).suspects[0].score == kept


def test_recommendations_keep_their_words():
    given = Recommendation(Action.ISOLATE_HOST, HOST, "it stopped")
    (kept,) = stored(answer(recommendations=(given,))).recommendations
    assert (kept.action, kept.target.host, kept.reason) == ("isolate-host", "node-1", "it stopped")


def test_numbers_of_numpy_become_plain():
    found = plain({"ranks": np.arange(2), 3: (np.float32(0.5), VerdictClass.USER)})
    assert found == {"ranks": [0, 1], "3": [0.5, "user"]}


@pytest.mark.django_db
def test_a_finding_leads_to_its_record_and_skipped_files_to_their_reason():
    records: dict[str, Evidence] = {"dump_3": EvidenceFactory(), "2/dump_3": EvidenceFactory()}
    result = stored(
        answer(suspects=(suspect(FINDING),), skipped=(Skipped("2/dump_3", "cut off"),)),
        records=records,
        kinds={"dump_3": "flight-recorder"},
    )
    assert result.findings[0].evidence_id == records["dump_3"].pk
    assert [(one.status, one.reason, one.kind) for one in result.readings] == [
        ("parsed", "", "flight-recorder"),
        ("skipped", "cut off", ""),
    ]


def test_a_finding_in_an_archive_leads_to_the_archive():
    record = EvidenceFactory.build(pk=7, name="night.tgz")
    inner = replace(FINDING, evidence="night.tgz/node-004/dmesg")
    given = answer(suspects=(Suspect(HOST, 0.9, Role.CULPRIT, None, (inner,)),))
    result = result_from(given, records={"night.tgz": record}, kinds={}, origins={}, fault_codes={})
    (row,) = result.findings
    assert (row.evidence_id, row.evidence) == (7, "night.tgz/node-004/dmesg")


def test_an_archive_of_which_some_was_left_out_counts_as_read():
    reason = "read in part: 1 encrypted (a.log)"
    given = answer(skipped=(Skipped("night.tgz", reason),))
    record = EvidenceFactory.build(pk=7, name="night.tgz")
    result = result_from(given, records={"night.tgz": record}, kinds={}, origins={}, fault_codes={})
    assert [(one.status, one.reason) for one in result.readings] == [("parsed", reason)]
