"""`manage.py diagnose`: judge files or folders of evidence with no server and no database."""

import time
from pathlib import Path
from typing import Any

import orjson
from django.core.management.base import CommandParser

from diagnosis.core.diagnosis import Diagnosis, Finding
from diagnosis.core.evidence import Evidence
from diagnosis.core.target import Target
from diagnosis.core.topology import Topology
from diagnosis.core.words import Action, Role, TargetKind
from diagnosis.engine import diagnose
from diagnosis.management.evidence_command import (
    EvidenceCommand,
    Unusable,
    content_of,
    placement_at,
)
from diagnosis.readers.errors import UnreadableEvidence
from diagnosis.readers.history import read_history
from diagnosis.readers.topology import read_topology
from diagnosis.services.taxonomy import of_this_instance
from diagnosis.taxonomy.history import History
from diagnosis.taxonomy.rows import TaxonomyError
from diagnosis.taxonomy.ruleset import Taxonomy


class Command(EvidenceCommand):
    """Print the answer sentence, the suspects and the trace, or the contract's JSON object."""

    help = "Diagnose files or folders of evidence: logs, Flight Recorder dumps, placement."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("paths", nargs="*", type=Path, metavar="PATH")
        parser.add_argument("--topology", type=Path, help="topology.json: hosts, pods, ToR groups")
        parser.add_argument(
            "--history", type=Path, help="history.json: earlier findings on the same parts"
        )
        parser.add_argument("--taxonomy", type=Path, help="rules in place of this instance's")

    def judge(self, **options: Any) -> bool:
        apart = (options["placement"], options["topology"], options["history"])
        answer = diagnose(
            gather(options["paths"], apart=apart),
            placement=placement_at(options["placement"]),
            topology=_topology(options["topology"]),
            taxonomy=_taxonomy(options["taxonomy"]),
            history=_history(options["history"]),
            now=time.time(),
        )
        text = orjson.dumps(answer.to_dict(), option=orjson.OPT_INDENT_2).decode()
        self.stdout.write(text if options["json"] else "\n".join(in_words(answer)))
        return answer.judged


def gather(paths: list[Path], *, apart: tuple[Path | None, ...] = ()) -> list[Evidence]:
    """Evidence from files, and from folders with all that lies below them.

    Files are named relative to the folder that was given, so that one answer reads the same
    wherever the folder lies. Files in `apart` (the placement handed in by option) are left out.
    """
    if not paths:
        raise Unusable("Name at least one file or folder of evidence.")
    left_out = {path.resolve() for path in apart if path is not None}
    found: list[Evidence] = []
    for path in paths:
        if path.is_dir():
            files = sorted(file for file in path.rglob("*") if file.is_file())
            named = [(file, str(file.relative_to(path))) for file in files]
        elif path.exists():
            named = [(path, str(path))]
        else:
            raise Unusable(f"{path}: no such file or folder")
        found += [
            Evidence.from_path(file, name=name)
            for file, name in named
            if file.resolve() not in left_out
        ]
    return found


def _topology(path: Path | None) -> Topology | None:
    if path is None:
        return None
    try:
        return read_topology(content_of(path, "--topology"))
    except UnreadableEvidence as error:
        raise Unusable(f"--topology {path}: {error}") from error


def _history(path: Path | None) -> History:
    if path is None:
        return History()
    try:
        return read_history(content_of(path, "--history"))
    except UnreadableEvidence as error:
        raise Unusable(f"--history {path}: {error}") from error


def _taxonomy(path: Path | None) -> Taxonomy | None:
    if path is None:
        return of_this_instance()
    try:
        return Taxonomy.from_yaml(content_of(path, "--taxonomy"))
    except TaxonomyError as error:
        raise Unusable(f"--taxonomy {path}: {error}") from error


def in_words(answer: Diagnosis) -> list[str]:
    """The diagnosis as a person reads it in a terminal: answer, suspects, actions, reasoning."""
    verdict = answer.verdict
    lines = [verdict.summary, f"  {verdict.cls.value}, confidence {verdict.confidence:.2f}"]
    accused = [one for one in answer.suspects if one.role is not Role.VICTIM]
    lines += ["", "Suspects"] if accused else []
    for number, suspect in enumerate(accused, 1):
        standing = f"{suspect.score:.2f} {suspect.role.value}"
        fault = f" ({suspect.fault})" if suspect.fault else ""
        lines.append(f"  {number}. {place(suspect.target)}  {standing}{fault}")
        lines += [f"       {_proof(item)}" for item in suspect.findings[:5]]
    victims = [place(one.target) for one in answer.suspects if one.role is Role.VICTIM]
    lines += [f"  victims: {', '.join(victims)}"] if victims else []
    asked = [item for item in answer.recommendations if item.action is not Action.NONE]
    lines += ["", "Recommended"] if asked else []
    lines += [f"  {item.action.value} {acted_on(item.target)}: {item.reason}" for item in asked]
    lines += ["", "How this was decided", *(f"  - {line}" for line in answer.trace)]
    if answer.skipped:
        lines += ["", "Not used, or in part"]
        lines += [f"  - {item.file}: {item.reason}" for item in answer.skipped]
    return [*lines, "", f"engine {answer.engine_version}, taxonomy {answer.taxonomy_version}"]


def _proof(finding: Finding) -> str:
    """A finding with its sign and the way back to the file."""
    where = finding.locator or {}
    at = next((f":{where[name]}" for name in ("line", "entry") if name in where), "")
    source = f"  [{finding.evidence}{at}]" if finding.evidence else ""
    return f"{'-' if finding.weight < 0 else '+'} {finding.text}{source}"


def acted_on(target: Target) -> str:
    """What a recommendation is about: `train.py:31, seen on node-001 rank 3`."""
    if target.kind not in {TargetKind.USER_CODE, TargetKind.CONFIG, TargetKind.STORAGE}:
        return place(target)
    rank = "" if target.rank is None else f"rank {target.rank}"
    where = f"{target.host or ''} {rank}".strip()
    word = "on" if target.kind is TargetKind.CONFIG else "seen on"
    named = target.name or target.kind.value
    return f"{named}, {word} {where}" if where else named


def place(target: Target) -> str:
    """A target in words: `node-001 GPU 3 rank 3`."""
    if target.kind is TargetKind.JOB:
        return target.name or "the job"
    parts = [target.host or target.name or target.kind.value]
    if target.gpu is not None:
        parts.append(f"GPU {target.gpu}")
    if target.nic is not None:
        parts.append(target.nic)
    if target.rank is not None and target.name != f"rank {target.rank}":
        parts.append(f"rank {target.rank}")
    return " ".join(str(part) for part in parts)
