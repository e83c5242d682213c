"""Triage of logs given as text, for tests."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from diagnosis.core.diagnosis import Conclusion
from diagnosis.core.placement import Placement, RankPlace
from diagnosis.core.words import Action
from diagnosis.taxonomy.ruleset import Taxonomy
from diagnosis.triage.procedure import TriageResult, triage
from diagnosis.triage.settings import TriageSettings
from tests.diagnosis.readers.logs_evidence import log

HERE = Path(__file__).parent


def result_of(
    files: Mapping[str, str],
    *,
    placement: Placement | None = None,
    settings: TriageSettings | None = None,
) -> TriageResult:
    """The triage of files (name → text) with the shipped taxonomy."""
    return triage(
        [log(text, name) for name, text in files.items()],
        taxonomy=Taxonomy.default(),
        placement=placement or Placement(),
        settings=settings or TriageSettings(),
    )


def judged(files: Mapping[str, str], **known: object) -> Conclusion:
    conclusion = result_of(files, **known).conclusion  # type: ignore[arg-type]
    assert conclusion is not None
    return conclusion


def isolated(conclusion: Conclusion) -> list[str | None]:
    """Hosts that are recommended for isolation, sorted."""
    return sorted(
        {
            item.target.host or item.target.name
            for item in conclusion.recommendations
            if item.action is Action.ISOLATE_HOST
        },
        key=str,
    )


def placed(hosts: int, per_host: int = 8) -> Placement:
    """Ranks in order over node-01, node-02, …"""
    return Placement.of(
        RankPlace(
            rank,
            f"node-{rank // per_host + 1:02d}",
            local_rank=rank % per_host,
            gpu=rank % per_host,
        )
        for rank in range(hosts * per_host)
    )


def written_cases(name: str) -> list[dict[str, Any]]:
    """The cases of a YAML file beside the tests."""
    found = yaml.safe_load((HERE / name).read_text(encoding="utf-8"))
    assert isinstance(found, list)
    return found


def timeout_line(
    rank: int, at: str = "02:10:00", op: str = "ALLREDUCE", seq: int = 7, size: int = 4
) -> str:
    """A watchdog's line of today's wording."""
    return (
        f"[rank{rank}]:[E304 {at}.000000000 ProcessGroupNCCL.cpp:632] [Rank {rank}] Watchdog "
        f"caught collective operation timeout: WorkNCCL(SeqNum={seq}, OpType={op}, NumelIn={size}, "
        f"NumelOut={size}, Timeout(ms)=600000) ran for 600050 milliseconds before timing out.\n"
    )
