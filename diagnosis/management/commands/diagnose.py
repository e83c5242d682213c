"""`manage.py diagnose`: judge files or folders of evidence with no server and no database."""

from pathlib import Path
from typing import Any, NoReturn

import orjson
from django.core.management.base import BaseCommand, CommandParser

from diagnosis.core.diagnosis import Diagnosis
from diagnosis.core.evidence import Evidence
from diagnosis.core.placement import Placement
from diagnosis.core.target import Target
from diagnosis.engine import diagnose
from diagnosis.readers.errors import UnreadableEvidence
from diagnosis.readers.placement import read_placement
from diagnosis.taxonomy.rows import TaxonomyError
from diagnosis.taxonomy.ruleset import Taxonomy

NOTHING_JUDGED = 3
UNUSABLE_ARGUMENTS = 2


class Unusable(Exception):  # noqa: N818 - it names the state of the arguments
    """The arguments cannot be used; the message says which and why."""


class Command(BaseCommand):
    """Print the answer sentence, the suspects and the trace, or the contract's JSON object."""

    help = "Diagnose files or folders of evidence: logs, Flight Recorder dumps, placement."
    requires_system_checks: list[str] = []

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        parser.epilog = (
            "Exit: 0 for every verdict, 3 when nothing could be judged, 2 for unusable arguments."
        )
        return parser

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("paths", nargs="*", type=Path, metavar="PATH")
        parser.add_argument("--placement", type=Path, help="placement.json: which rank runs where")
        parser.add_argument("--topology", type=Path, help="topology.json: hosts, pods, ToR groups")
        parser.add_argument("--taxonomy", type=Path, help="in place of the shipped taxonomy")
        parser.add_argument("--json", action="store_true", help="print the diagnosis as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            answer = diagnose(
                gather(options["paths"], apart=(options["placement"], options["topology"])),
                placement=_placement(options["placement"]),
                taxonomy=_taxonomy(options["taxonomy"]),
            )
            _check_readable(options["topology"], "--topology")
        except Unusable as error:
            self._refuse(str(error), as_json=options["json"])
        text = orjson.dumps(answer.to_dict(), option=orjson.OPT_INDENT_2).decode()
        self.stdout.write(text if options["json"] else "\n".join(in_words(answer)))
        if not answer.judged:
            raise SystemExit(NOTHING_JUDGED)

    def _refuse(self, message: str, *, as_json: bool) -> NoReturn:
        if as_json:
            self.stdout.write(orjson.dumps({"error": message}).decode())
        else:
            self.stderr.write(message)
        raise SystemExit(UNUSABLE_ARGUMENTS)


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
        found += [_evidence(file, name) for file, name in named if file.resolve() not in left_out]
    return found


def _evidence(path: Path, name: str) -> Evidence:
    return Evidence.from_path(path, name=name)


def _placement(path: Path | None) -> Placement | None:
    if path is None:
        return None
    try:
        return read_placement(_content(path, "--placement"))
    except UnreadableEvidence as error:
        raise Unusable(f"--placement {path}: {error}") from error


def _taxonomy(path: Path | None) -> Taxonomy | None:
    if path is None:
        return None
    try:
        return Taxonomy.from_yaml(_content(path, "--taxonomy"))
    except TaxonomyError as error:
        raise Unusable(f"--taxonomy {path}: {error}") from error


def _check_readable(path: Path | None, option: str) -> None:
    if path is not None:
        _content(path, option)


def _content(path: Path, option: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise Unusable(f"{option} {path}: {error.strerror or error}") from error


def in_words(answer: Diagnosis) -> list[str]:
    """The diagnosis as a person reads it in a terminal: answer, suspects, actions, reasoning."""
    verdict = answer.verdict
    lines = [verdict.summary, f"  {verdict.cls.value}, confidence {verdict.confidence:.2f}", ""]
    if answer.suspects:
        lines.append("Suspects")
    for number, suspect in enumerate(answer.suspects, 1):
        fault = f" ({suspect.fault})" if suspect.fault else ""
        lines.append(
            f"  {number}. {place(suspect.target)}  {suspect.score:.2f} {suspect.role.value}{fault}"
        )
        lines += [f"       {_sign(item.weight)} {item.text}" for item in suspect.findings[:5]]
    if answer.recommendations:
        lines += ["", "Recommended"]
    for item in answer.recommendations:
        lines.append(f"  {item.action.value} {place(item.target)}: {item.reason}")
    lines += ["", "How this was decided", *(f"  - {line}" for line in answer.trace)]
    if answer.skipped:
        lines += ["", "Not used", *(f"  - {item.file}: {item.reason}" for item in answer.skipped)]
    return lines


def _sign(weight: float) -> str:
    return "-" if weight < 0 else "+"


def place(target: Target) -> str:
    """A target in words: `node-001 GPU 3 rank 3`."""
    parts = [target.host or target.name or target.kind.value]
    if target.gpu is not None:
        parts.append(f"GPU {target.gpu}")
    if target.nic is not None:
        parts.append(target.nic)
    if target.rank is not None and target.name != f"rank {target.rank}":
        parts.append(f"rank {target.rank}")
    return " ".join(str(part) for part in parts)
