"""What the commands that judge files share: options, refusals as text or JSON, exit codes."""

import sys
from pathlib import Path
from typing import Any, NoReturn

import orjson
from django.core.management.base import BaseCommand, CommandParser

from diagnosis.core.placement import Placement
from diagnosis.readers.errors import UnreadableEvidence
from diagnosis.readers.placement import read_placement

NOTHING_JUDGED = 3
UNUSABLE_ARGUMENTS = 2
EXIT_CODES = "Exit: 0 for every verdict, 3 when nothing could be judged, 2 for bad arguments."


class Unusable(Exception):  # noqa: N818 - it names the state of the arguments
    """The arguments cannot be used; the message says which and why."""


class JsonParser(CommandParser):
    """Says what is wrong with the arguments as JSON where `--json` stands among them."""

    def error(self, message: str) -> NoReturn:
        if "--json" not in sys.argv:
            super().error(message)
        sys.stdout.write(orjson.dumps({"error": message}).decode() + "\n")
        raise SystemExit(UNUSABLE_ARGUMENTS)


class EvidenceCommand(BaseCommand):
    """A command that needs no database: it judges files, never shows a traceback, and exits with
    0 for every verdict, 3 when nothing could be judged, 2 for arguments that cannot be used.
    """

    requires_system_checks: list[str] = []

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        parser.__class__ = JsonParser
        parser.epilog = (
            "Exit: 0 for every verdict, 3 when nothing could be judged, 2 for bad arguments."
        )
        parser.add_argument("--placement", type=Path, help="placement.json: which rank runs where")
        parser.add_argument("--json", action="store_true", help="print the contract's JSON")
        return parser

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            judged = self.judge(**options)
        except Unusable as error:
            self._refuse(str(error), as_json=options["json"])
        if not judged:
            raise SystemExit(NOTHING_JUDGED)

    def judge(self, **options: Any) -> bool:
        """Print the answer; whether anything could be judged. Raises `Unusable`."""
        raise NotImplementedError

    def _refuse(self, message: str, *, as_json: bool) -> NoReturn:
        if as_json:
            self.stdout.write(orjson.dumps({"error": message}).decode())
        else:
            self.stderr.write(message)
        raise SystemExit(UNUSABLE_ARGUMENTS)


def placement_at(path: Path | None) -> Placement | None:
    """The placement in the file of `--placement`. Raises `Unusable`."""
    if path is None:
        return None
    try:
        return read_placement(content_of(path, "--placement"))
    except UnreadableEvidence as error:
        raise Unusable(f"--placement {path}: {error}") from error


def content_of(path: Path, option: str) -> bytes:
    """The bytes of the file that an option names. Raises `Unusable`."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise Unusable(f"{option} {path}: {error.strerror or error}") from error
