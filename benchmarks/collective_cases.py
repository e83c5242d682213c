"""`make table-collectives`: every recorded case, its truth, our answer and torchfrtrace's."""

import json
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks import torchfrtrace
from diagnosis.core.diagnosis import Diagnosis, Suspect
from diagnosis.core.evidence import Evidence
from diagnosis.core.words import Action, Role
from diagnosis.engine import diagnose

DUMP_FOLDERS = ("flight_recorder", "flight_recorder_nccl_form", "flight_recorder_nvrx")
WHY_NO_CASES = "recorded cases: set AEGIS_CASES_DIR to their folder"
_DUMP = re.compile(r"(?P<prefix>.*(?:rank_|_dump_))\d+$")
_MISUSE = frozenset(
    {
        "collective_op_mismatch", "op_mismatch", "size_mismatch", "dtype_mismatch",
        "skipped_collective", "uneven_inputs", "cross_group_order_inversion",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Row:
    """One case. `peer` is empty where there is nothing that torchfrtrace could read."""

    case: str
    truth: str
    ours: str
    right: bool
    peer: str = ""
    peer_right: bool = False


def rows(root: Path, peer: str | None) -> Iterator[Row]:
    """All recorded cases of dumps, then those of logs; `peer` is torchfrtrace's path.

    One case after the other, each told on stderr when it is done: the peer alone takes seconds.
    """
    dumps = [case for folder in DUMP_FOLDERS for case in _cases(root / folder)]
    logs = _cases(root / "nccl")
    for number, case in enumerate((*dumps, *logs), 1):
        started = perf_counter()
        yield _of_dumps(case, peer) if number <= len(dumps) else _of_logs(case)
        spent = perf_counter() - started
        total = len(dumps) + len(logs)
        sys.stderr.write(
            f"{number:3d} of {total}  {spent:5.1f} s  {case.parent.name}/{case.name}\n"
        )


def _cases(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*") if path.is_dir())


def _of_dumps(case: Path, peer: str | None) -> Row:
    kind, culprits = _truth_of_dumps(case)
    dumps = [path for path in case.iterdir() if _DUMP.match(path.name)]
    answer = _judged([*dumps, case / "placement.json"])
    row = Row(
        case=f"{case.parent.name}/{case.name}",
        truth=f"{kind} {culprits}" if culprits else kind,
        ours=_words(answer),
        right=_is_right(answer, kind, culprits),
    )
    found = _DUMP.match(dumps[0].name) if dumps else None
    if peer is None or found is None:
        return row
    said = torchfrtrace.ask(peer, case, found["prefix"])
    named = sorted(said.ranks) == culprits and not said.failure
    told = named and (kind == "healthy" or bool(culprits))
    return Row(row.case, row.truth, row.ours, row.right, said.words, told)


def _truth_of_dumps(case: Path) -> tuple[str, list[int]]:
    written = case / "truth" / "truth.json"
    if written.exists():
        truth: dict[str, Any] = json.loads(written.read_text())
        return truth["kind"], sorted(truth["culprits"])
    log = (case / "truth" / "fault_injection.log").read_text()
    found = re.search(r"Fault ranks: (\[.*?\])", log)
    return "injected", sorted(json.loads(found[1])) if found else []


def _judged(files: list[Path]) -> Diagnosis:
    return diagnose([Evidence.from_path(path, path.name) for path in files if path.exists()])


def _is_right(answer: Diagnosis, kind: str, culprits: list[int]) -> bool:
    named = _named(answer)
    blamed = [suspect for suspect in named if suspect.role is Role.CULPRIT]
    isolates = any(item.action is Action.ISOLATE_HOST for item in answer.recommendations)
    if kind == "healthy":
        return answer.verdict.cls in {"healthy", "unknown"} and not blamed and not isolates
    if "stall" in kind:
        wrong = bool(blamed) and blamed[0].target.rank not in culprits
        return answer.verdict.cls in {"unknown", "distributed", "critical"} and not wrong
    first = [suspect.target.rank for suspect in named[: len(culprits) + 1]]
    if not first or first[0] not in culprits or not set(culprits) <= set(first):
        return False
    if kind in _MISUSE:
        return answer.verdict.cls == "user"
    return named[0].target.host is not None


def _of_logs(case: Path) -> Row:
    written = json.loads((case / "truth" / "expected.json").read_text())
    expected = written["expected"]
    answer = _judged(sorted(path for path in case.iterdir() if path.is_file()))
    ranks, hosts = expected.get("culprit_ranks"), expected.get("culprit_hosts")
    named = ranks or hosts or expected.get("culprit_pair")
    return Row(
        case=f"nccl/{case.name}",
        truth=f"{expected['kind']} {named or 'undetermined'}",
        ours=_words(answer),
        right=_is_right_on_logs(answer, written),
    )


def _is_right_on_logs(answer: Diagnosis, written: dict[str, Any]) -> bool:
    expected = written["expected"]
    if answer.verdict.cls not in written["class_accept"]:
        return False
    named = _named(answer)
    blamed = any(suspect.role is Role.CULPRIT for suspect in named)
    isolates = any(item.action is Action.ISOLATE_HOST for item in answer.recommendations)
    ranks, hosts = expected.get("culprit_ranks"), expected.get("culprit_hosts")
    if isolates and not ranks and not hosts:
        return False
    if "note_scoring" in written and not blamed:
        return True
    if ranks:
        return bool(named) and named[0].target.rank in ranks
    if parts := hosts or expected.get("culprit_pair"):
        told = json.dumps(named[0].target.to_dict()).lower() if named else ""
        return any(part.lower().split("/")[0] in told for part in parts)
    return not blamed


def _named(answer: Diagnosis) -> list[Suspect]:
    return [suspect for suspect in answer.suspects if suspect.role is not Role.VICTIM]


def _words(answer: Diagnosis) -> str:
    named = [str(s.target.host if s.target.rank is None else s.target.rank) for s in _named(answer)]
    return f"{answer.verdict.cls.value} {', '.join(named[:4])}".strip()


def main() -> None:
    root, peer = os.environ.get("AEGIS_CASES_DIR"), torchfrtrace.program()
    if not root:
        sys.exit(f"nothing to show: {WHY_NO_CASES}")
    found = list(rows(Path(root), peer))
    width = max(len(row.case) for row in found)
    for row in found:
        marks = ("right" if row.right else "WRONG", "right" if row.peer_right else "wrong")
        theirs = f"{marks[1]}: {row.peer}" if row.peer else "–"
        sys.stdout.write(
            f"{row.case:{width}s}  {row.truth:44.44s}  {marks[0]}: {row.ours:26.26s}  {theirs}\n"
        )
    right, asked = sum(row.right for row in found), [row for row in found if row.peer]
    sys.stdout.write(f"\nours {right} of {len(found)}; torchfrtrace ")
    sys.stdout.write(
        f"{sum(row.peer_right for row in asked)} of {len(asked)}\n"
        if peer
        else f"not asked: {torchfrtrace.WHY_MISSING}\n"
    )


if __name__ == "__main__":
    main()
