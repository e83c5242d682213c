"""The recorded log cases with known answers, through log triage alone."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from diagnosis.core.diagnosis import Conclusion
from diagnosis.core.evidence import Evidence
from diagnosis.core.words import Action, Role
from diagnosis.taxonomy.ruleset import Taxonomy
from diagnosis.triage.procedure import triage

_FOLDER = os.environ.get("AEGIS_CASES_DIR")
_REASON = "recorded cases: set AEGIS_CASES_DIR to their folder"
pytestmark = pytest.mark.skipif(not _FOLDER, reason=_REASON)


def _cases(kind: str) -> list[Path]:
    return sorted(Path(_FOLDER, kind).glob("*/truth/expected.json")) if _FOLDER else []


def _answer(truth: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(truth.read_text(encoding="utf-8"))
    return found


def _scored() -> list[Path]:
    return [truth for truth in _cases("logs") if _answer(truth)["scored"]]


def _judged(truth: Path) -> Conclusion:
    files = [path for path in sorted(truth.parent.parent.iterdir()) if path.is_file()]
    result = triage([Evidence.from_path(path) for path in files], taxonomy=Taxonomy.default())
    assert result.conclusion is not None
    return result.conclusion


def _name_of_case(truth: Path) -> str:
    return truth.parent.parent.name


def _plain(value: object) -> str | None:
    return str(value).lower().removesuffix(".local") if value is not None else None


@pytest.mark.parametrize("truth", _scored(), ids=_name_of_case)
def test_the_class_of_the_cause_is_right(truth: Path) -> None:
    assert _judged(truth).verdict.cls.value in _answer(truth)["class_accept"]


@pytest.mark.parametrize("truth", _scored(), ids=_name_of_case)
def test_the_first_suspect_is_the_culprit(truth: Path) -> None:
    culprit = _answer(truth)["culprit"]
    suspects = _judged(truth).suspects
    if culprit["kind"] == "none":
        pytest.skip("the case names nobody")
    target = suspects[0].target.to_dict()
    if culprit["kind"] in {"user-code", "config", "storage"}:
        assert target["kind"] == culprit["kind"]
        return
    wanted = _plain(culprit["name"]) or "(nobody)"
    named = any(wanted in (_plain(target[field]) or "") for field in ("name", "host"))
    ranked = culprit["rank"] is not None and target["rank"] == culprit["rank"]
    gpu = culprit["gpu"] is not None and str(culprit["gpu"]).lower() in json.dumps(target).lower()
    assert named or ranked or gpu


@pytest.mark.parametrize("truth", _cases("logs"), ids=_name_of_case)
def test_no_victim_is_isolated(truth: Path) -> None:
    victims = {_plain(name) for name in _answer(truth)["must_not_isolate"]}
    for item in _judged(truth).recommendations:
        if item.action is Action.ISOLATE_HOST:
            target = item.target
            names = {_plain(target.name), _plain(target.host), f"rank-{target.rank}", "*"}
            assert not victims & (names | {f"gpu:{target.gpu}"})


@pytest.mark.parametrize("truth", _cases("nccl"), ids=_name_of_case)
def test_no_victim_of_a_hang_is_isolated_or_called_culprit(truth: Path) -> None:
    expected = _answer(truth)["expected"]
    conclusion = _judged(truth)
    ranks, hosts = expected.get("culprit_ranks"), expected.get("culprit_hosts")
    named = [one for one in conclusion.suspects if one.role is Role.CULPRIT]
    assert all(
        one.target.rank in (ranks or []) or one.target.host in (hosts or []) for one in named
    )
    isolating = [item for item in conclusion.recommendations if item.action is Action.ISOLATE_HOST]
    assert not isolating or ranks or hosts
