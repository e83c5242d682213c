"""`manage.py detect`: the degradation detectors on metric files, or on a metric server."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import orjson
from django.core.management.base import BaseCommand, CommandParser

from diagnosis.core.diagnosis import Diagnosis, Skipped, Verdict
from diagnosis.core.evidence import Evidence
from diagnosis.core.placement import Placement
from diagnosis.core.words import IncidentKind, VerdictClass
from diagnosis.degradation.catalogue import Catalogue, CatalogueError
from diagnosis.degradation.detectors import DEFAULT_DETECTOR, DETECTORS
from diagnosis.degradation.verdict import catalogue_version, report_of
from diagnosis.readers.errors import UnreadableEvidence
from diagnosis.readers.metrics import read_metrics
from diagnosis.readers.placement import read_placement

NOTHING_JUDGED = 3
UNUSABLE_ARGUMENTS = 2


class Unusable(Exception):  # noqa: N818 - it names the state of the arguments
    """The arguments cannot be used; the message says which and why."""


class Command(BaseCommand):
    """One answer per file: a sentence with its reasons, or one JSON object a line."""

    help = "Find the degraded host in metric files: CSV, Parquet, OpenMetrics text or NPZ."
    requires_system_checks: list[str] = []

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        parser.epilog = (
            "Exit: 0 for every verdict, 3 when nothing could be judged, 2 for unusable arguments."
        )
        return parser

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
        parser.add_argument("--placement", type=Path, help="placement.json: ranks, stages, hosts")
        parser.add_argument("--catalogue", type=Path, help="in place of the shipped catalogue")
        parser.add_argument("--detector", choices=sorted(DETECTORS), default=DEFAULT_DETECTOR)
        parser.add_argument("--json", action="store_true", help="one JSON object a line")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            files: list[Path] = options["files"]
            if not files:
                raise Unusable("Name at least one metric file.")
            placement = _placement(options["placement"])
            catalogue = _catalogue(options["catalogue"])
        except Unusable as error:
            self._refuse(str(error), as_json=options["json"])
        judged = 0
        for answer in _answers(files, placement, catalogue, options["detector"]):
            judged += answer.pop("judged") is True
            as_json = orjson.dumps(answer, option=orjson.OPT_SERIALIZE_NUMPY).decode()
            self.stdout.write(as_json if options["json"] else "\n".join(in_words(answer)))
        if not judged:
            raise SystemExit(NOTHING_JUDGED)

    def _refuse(self, message: str, *, as_json: bool) -> NoReturn:
        if as_json:
            self.stdout.write(orjson.dumps({"error": message}).decode())
        else:
            self.stderr.write(message)
        raise SystemExit(UNUSABLE_ARGUMENTS)


def _answers(
    files: list[Path], placement: Placement | None, catalogue: Catalogue, detector: str
) -> Iterator[dict[str, Any]]:
    for path in files:
        try:
            if not path.is_file():
                raise UnreadableEvidence("no such file")
            window = read_metrics(Evidence.from_path(path))
        except (UnreadableEvidence, OSError) as error:
            yield {**_unread(str(path), str(error), catalogue), "judged": False}
            continue
        judgement = DETECTORS[detector].judge(window, placement=placement, catalogue=catalogue)
        report = report_of(judgement, file=str(path), catalogue=catalogue)
        yield {**report.to_dict(), "judged": report.diagnosis.judged}


def _unread(file: str, reason: str, catalogue: Catalogue) -> dict[str, object]:
    """The contract's object for a file that could not be read."""
    summary = f"{file} could not be read: {reason}."
    answer = Diagnosis(
        verdict=Verdict(IncidentKind.NONE, VerdictClass.UNKNOWN, summary, 0.0),
        suspects=(),
        recommendations=(),
        trace=(summary,),
        skipped=(Skipped(file, reason),),
        taxonomy_version=catalogue_version(catalogue),
        judged=False,
    )
    return {**answer.to_dict(), "file": file, "fleet_wide": []}


def _placement(path: Path | None) -> Placement | None:
    if path is None:
        return None
    try:
        return read_placement(_content(path, "--placement"))
    except UnreadableEvidence as error:
        raise Unusable(f"--placement {path}: {error}") from error


def _catalogue(path: Path | None) -> Catalogue:
    if path is None:
        return Catalogue.default()
    try:
        return Catalogue.from_yaml(_content(path, "--catalogue"))
    except CatalogueError as error:
        raise Unusable(f"--catalogue {path}: {error}") from error


def _content(path: Path, option: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise Unusable(f"{option} {path}: {error.strerror or error}") from error


def in_words(answer: dict[str, Any]) -> list[str]:
    """One file's answer as a person reads it in a terminal."""
    verdict = answer["verdict"]
    lines = [f"{answer['file']}: {verdict['summary']}"]
    for number, suspect in enumerate(answer["suspects"], 1):
        fault = f" ({suspect['fault']})" if suspect["fault"] else ""
        host = suspect["target"]["host"]
        lines.append(f"  {number}. {host}  {suspect['score']:.2f} {suspect['role']}{fault}")
        lines += [f"       + {finding['text']}" for finding in suspect["findings"][:5]]
    lines += [f"  - {line}" for line in answer["trace"]]
    return lines
