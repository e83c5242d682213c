"""Generated logs of a healthy job accuse nobody, however much of them there is."""

from pathlib import Path

import pytest

from benchmarks.generated_logs import HEALTHY, PLAIN, generate, healthy_lines
from diagnosis.core.evidence import Evidence
from diagnosis.core.words import SignatureClass, VerdictClass
from diagnosis.engine import diagnose
from diagnosis.taxonomy.ruleset import Taxonomy
from diagnosis.triage.scan import matcher_for, scan
from diagnosis.triage.sifting import CORRECTED, TAKEN_BACK_BY
from tests.diagnosis.readers.logs_evidence import log

MATCHER = matcher_for(Taxonomy.default())


def healthy(path: Path, size: int) -> Evidence:
    benign = (*PLAIN, *HEALTHY)
    with path.open("wb") as stream:
        for chunk in generate(size, rate=0.0, faults=(), benign=benign, whole=healthy_lines()):
            stream.write(chunk)
    return Evidence.from_path(path, "train.log")


def worse_than_info(evidence: Evidence) -> set[str]:
    """Codes of clues above `info`, but for what was taken back and what hardware corrected."""
    taxonomy = Taxonomy.default()
    clues = scan(evidence, matcher_for(taxonomy, evidence.size)).clues
    found = {clue.code for clue in clues if clue.signature.cls is not SignatureClass.INFO}
    return found - set(TAKEN_BACK_BY) - CORRECTED


@pytest.mark.parametrize("megabytes", [4, pytest.param(100, marks=pytest.mark.long)])
def test_a_healthy_log_yields_no_finding_above_info(tmp_path: Path, megabytes: int) -> None:
    evidence = healthy(tmp_path / "train.log", megabytes * 1_000_000)
    answer = diagnose([evidence])
    assert answer.suspects == ()
    assert answer.verdict.cls in {VerdictClass.UNKNOWN, VerdictClass.HEALTHY}
    assert worse_than_info(evidence) == set()


@pytest.mark.parametrize("line", healthy_lines())
def test_a_healthy_line_says_nothing_above_info(line: str) -> None:
    found = scan(log(line + "\n"), MATCHER).clues
    assert [clue.code for clue in found if clue.signature.cls is not SignatureClass.INFO] == []
