"""`manage.py detect`: the degradation detectors on metric files, or on a metric server."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
from django.core.management.base import CommandParser

from diagnosis.degradation.catalogue import Catalogue, CatalogueError
from diagnosis.degradation.detectors import DEFAULT_DETECTOR, DETECTORS
from diagnosis.management.evidence_command import (
    EvidenceCommand,
    Unusable,
    content_of,
    placement_at,
)
from diagnosis.management.metric_question import Answer, Question
from diagnosis.readers.metrics_table import seconds
from diagnosis.services.server_window import NoWindow, Span, placement_of_job, window_from_server


class Command(EvidenceCommand):
    """One answer per file: a sentence with its reasons, or one JSON object a line."""

    help = "Find the degraded host in metric files (CSV, Parquet, OpenMetrics, NPZ) or on a server."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
        parser.add_argument("--catalogue", type=Path, help="in place of the shipped catalogue")
        parser.add_argument("--detector", choices=sorted(DETECTORS), default=DEFAULT_DETECTOR)
        parser.add_argument("--prometheus", metavar="URL", help="a metric server in place of files")
        parser.add_argument("--job", metavar="ID", help="a registered job; or give --placement")
        parser.add_argument("--from", dest="start", metavar="TIME", help="seconds or ISO 8601")
        parser.add_argument("--to", dest="end", metavar="TIME", help="seconds or ISO 8601")
        parser.add_argument("--step", type=float, default=10.0, help="seconds between samples")

    def judge(self, **options: Any) -> bool:
        question = Question(
            placement=placement_at(options["placement"]),
            catalogue=_catalogue(options["catalogue"]),
            detector=options["detector"],
        )
        judged = 0
        for answer in _answers(question, options):
            judged += answer.judged
            as_json = orjson.dumps(answer.shape, option=orjson.OPT_SERIALIZE_NUMPY).decode()
            self.stdout.write(as_json if options["json"] else "\n".join(in_words(answer.shape)))
        return judged > 0


def _answers(question: Question, options: Mapping[str, Any]) -> Iterable[Answer]:
    files: list[Path] = options["files"]
    if options["prometheus"] and files:
        raise Unusable("Give metric files or --prometheus, not both.")
    if options["prometheus"]:
        return [_from_server(question, options)]
    if not files:
        raise Unusable("Name at least one metric file, or a server with --prometheus.")
    return (question.about_file(path) for path in files)


def _from_server(question: Question, options: Mapping[str, Any]) -> Answer:
    url: str = options["prometheus"]
    span = Span(_time(options, "start"), _time(options, "end"), options["step"])
    if question.placement is None and options["job"] is None:
        raise Unusable("--prometheus needs --job, or --placement with the job's hosts")
    try:
        placement = question.placement or placement_of_job(options["job"])
        window = window_from_server(url, placement, span)
    except NoWindow as error:
        return question.unread(url, str(error))
    return replace(question, placement=placement).about_window(window, url)


def _time(options: Mapping[str, Any], name: str) -> float:
    option = {"start": "--from", "end": "--to"}[name]
    found = seconds(options[name])
    if found is None:
        raise Unusable(f"--prometheus needs {option} in seconds since 1970 or as ISO 8601")
    return found


def _catalogue(path: Path | None) -> Catalogue:
    if path is None:
        return Catalogue.default()
    try:
        return Catalogue.from_yaml(content_of(path, "--catalogue"))
    except CatalogueError as error:
        raise Unusable(f"--catalogue {path}: {error}") from error


def in_words(answer: Mapping[str, Any]) -> list[str]:
    """One file's answer as a person reads it in a terminal."""
    verdict = answer["verdict"]
    lines = [f"{answer['file']}: {verdict['summary']}"]
    for number, suspect in enumerate(answer["suspects"], 1):
        fault = f" ({suspect['fault']})" if suspect["fault"] else ""
        place = suspect["target"]["host"] or suspect["target"]["name"]
        lines.append(f"  {number}. {place}  {suspect['score']:.2f} {suspect['role']}{fault}")
        lines += [f"       + {finding['text']}" for finding in suspect["findings"][:5]]
    lines += [f"  - {line}" for line in answer["trace"]]
    return lines
