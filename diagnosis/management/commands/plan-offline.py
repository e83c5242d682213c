"""`manage.py plan-offline`: rounds of test groups on standard output, results on standard input."""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn, TextIO

import orjson
from django.core.management.base import BaseCommand, CommandParser

from diagnosis.core.topology import Topology
from diagnosis.management.evidence_command import (
    UNUSABLE_ARGUMENTS,
    JsonParser,
    Unusable,
    content_of,
)
from diagnosis.offline.history import BadAnswer, Round
from diagnosis.offline.layout import Layout, UnknownHost
from diagnosis.offline.planner import Planner
from diagnosis.offline.verdict import Judge, OfflineAnswer
from diagnosis.readers.errors import UnreadableEvidence
from diagnosis.readers.topology import read_topology


class Command(BaseCommand):
    """Plays one offline diagnosis: prints each round, reads its results, until the verdict."""

    help = "Plan the rounds of an offline diagnosis; results come on standard input."
    requires_system_checks: list[str] = []
    stealth_options = ("stdin",)

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        parser.__class__ = JsonParser
        parser.epilog = (
            'Each round waits for a line {"results": [true, false or null, one a group]}: did the '
            "group's test pass; null for no answer. Exit: 0 with a verdict, 2 for input that "
            "cannot be used."
        )
        return parser

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("topology", type=Path, metavar="TOPOLOGY", help="topology.json")
        parser.add_argument("--suspects", default="", help="hosts in question, by commas")
        parser.add_argument("--json", action="store_true", help="one JSON object a line")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self._diagnose(options)
        except (BrokenPipeError, KeyboardInterrupt):
            _leave()

    def _diagnose(self, options: Mapping[str, Any]) -> None:
        try:
            planner = Planner.of(_layout(options["topology"], options["suspects"]))
            self._play(planner, options.get("stdin") or sys.stdin, as_json=options["json"])
        except Unusable as error:
            if options["json"]:
                self._line({"error": str(error)})
            else:
                self.stderr.write(str(error))
            raise SystemExit(UNUSABLE_ARGUMENTS) from error

    def _play(self, planner: Planner, answers: TextIO, *, as_json: bool) -> None:
        layout = planner.history.layout
        while (asked := planner.next_round()) is not None:
            number = len(planner.history.rounds) + 1
            groups = asked.names(layout)
            if as_json:
                self._line({"round": number, "groups": groups})
            else:
                self.stdout.write(f"Round {number}: one test on each line, side by side")
                self.stdout.write("\n".join(f"  {' '.join(group)}" for group in groups))
                self.stdout.write('Results, as {"results": [true, false or null, …]}:')
            self.stdout.flush()
            planner = _answered(planner, asked, _line_from(answers), number)
        answer = Judge(planner).answer()
        if as_json:
            self._line(
                {
                    "verdict": answer.verdict.to_dict(),
                    "suspects": [suspect.to_dict() for suspect in answer.suspects],
                }
            )
        else:
            self.stdout.write("\n".join(in_words(answer)))

    def _line(self, shape: Mapping[str, Any]) -> None:
        self.stdout.write(orjson.dumps(shape, option=orjson.OPT_SERIALIZE_NUMPY).decode())
        self.stdout.flush()


def _leave() -> NoReturn:
    """Ends where nobody reads on, or someone stops it; what is still buffered has no reader."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    raise SystemExit(UNUSABLE_ARGUMENTS)


def _line_from(answers: TextIO) -> str:
    """The next line that is not blank; empty at the end."""
    return next((line for line in answers if line.strip()), "")


def _answered(planner: Planner, asked: Round, line: str, number: int) -> Planner:
    """The planner after the line's results. Raises `Unusable` naming round and reason."""
    if not line:
        raise Unusable(f"round {number}: standard input ended before its results")
    try:
        answer = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise Unusable(f"round {number}: the results are not JSON: {error}") from error
    if not isinstance(answer, dict) or "results" not in answer:
        raise Unusable(f'round {number}: expected {{"results": [true, false or null, …]}}')
    if answer.get("round", number) != number:
        raise Unusable(f"round {number}: these are the results of round {answer['round']}")
    try:
        return planner.answered(asked, answer["results"])
    except BadAnswer as error:
        raise Unusable(f"round {number}: {error}") from error


def _layout(path: Path, suspects: str) -> Layout:
    names = [name.strip() for name in suspects.split(",") if name.strip()]
    topology = _topology(path)
    try:
        return Layout.of(topology, names)
    except UnknownHost as error:
        raise Unusable(f"--suspects: {error}") from error


def _topology(path: Path) -> Topology:
    try:
        topology = read_topology(content_of(path, "TOPOLOGY"))
    except UnreadableEvidence as error:
        raise Unusable(f"{path}: {error}") from error
    if not len(topology):
        raise Unusable(f"{path}: the topology has no hosts")
    return topology


def in_words(answer: OfflineAnswer) -> list[str]:
    """The answer as a person reads it in a terminal."""
    lines = [answer.verdict.summary]
    for number, suspect in enumerate(answer.suspects, 1):
        target = suspect.target
        name = f"{target.name} – {target.peer}" if target.peer else target.name
        lines.append(f"  {number}. {name}  {suspect.score:.2f} {suspect.role}")
        lines += [f"       + {finding.text}" for finding in suspect.findings]
    lines += [f"  → {one.action} {one.target.name}" for one in answer.recommendations]
    return lines + [f"  - {line}" for line in answer.trace]
