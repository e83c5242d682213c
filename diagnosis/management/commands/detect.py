"""`manage.py detect`: the degradation detectors on metric files, or on a metric server."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
from django.core.management.base import CommandParser

from diagnosis.core.diagnosis import Diagnosis, Skipped, Verdict
from diagnosis.core.evidence import Evidence
from diagnosis.core.placement import Placement
from diagnosis.core.words import IncidentKind, VerdictClass
from diagnosis.degradation.catalogue import Catalogue, CatalogueError
from diagnosis.degradation.detectors import DEFAULT_DETECTOR, DETECTORS
from diagnosis.degradation.verdict import catalogue_version, report_of
from diagnosis.management.evidence_command import (
    EvidenceCommand,
    Unusable,
    content_of,
    placement_at,
)
from diagnosis.readers.errors import UnreadableEvidence
from diagnosis.readers.metrics import read_metrics


class Command(EvidenceCommand):
    """One answer per file: a sentence with its reasons, or one JSON object a line."""

    help = "Find the degraded host in metric files: CSV, Parquet, OpenMetrics text or NPZ."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
        parser.add_argument("--catalogue", type=Path, help="in place of the shipped catalogue")
        parser.add_argument("--detector", choices=sorted(DETECTORS), default=DEFAULT_DETECTOR)

    def judge(self, **options: Any) -> bool:
        files: list[Path] = options["files"]
        if not files:
            raise Unusable("Name at least one metric file.")
        placement = placement_at(options["placement"])
        catalogue = _catalogue(options["catalogue"])
        judged = 0
        for answer in _answers(files, placement, catalogue, options["detector"]):
            judged += answer.pop("judged") is True
            as_json = orjson.dumps(answer, option=orjson.OPT_SERIALIZE_NUMPY).decode()
            self.stdout.write(as_json if options["json"] else "\n".join(in_words(answer)))
        return judged > 0


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


def _catalogue(path: Path | None) -> Catalogue:
    if path is None:
        return Catalogue.default()
    try:
        return Catalogue.from_yaml(content_of(path, "--catalogue"))
    except CatalogueError as error:
        raise Unusable(f"--catalogue {path}: {error}") from error


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
