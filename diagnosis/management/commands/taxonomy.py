"""`manage.py taxonomy export|import`: the rules as a file, and a file as the rules."""

import getpass
import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from diagnosis.services import exchange
from diagnosis.taxonomy.changes import ChangeKind, RowChange
from incidents.choices import Source
from incidents.roles import Actor

_SIGN = {ChangeKind.ADDED: "+", ChangeKind.CHANGED: "~", ChangeKind.REMOVED: "-"}


class Command(BaseCommand):
    """A file is taken in whole or not at all; `--dry-run` shows what it would change."""

    help = "Export the fault taxonomy as YAML, or import it."

    def add_arguments(self, parser: CommandParser) -> None:
        doing = parser.add_subparsers(dest="doing", required=True)
        out = doing.add_parser("export", help="write all rules to a file, or to the terminal")
        out.add_argument("file", nargs="?", type=Path, metavar="FILE")
        into = doing.add_parser("import", help="make the rules what a file says")
        into.add_argument("file", type=Path, metavar="FILE")
        into.add_argument("--dry-run", action="store_true", help="only show what would change")
        into.add_argument("--why", default="", help="the reason, kept with the version")
        into.add_argument(
            "--remove-missing",
            action="store_true",
            help="remove signatures that the file leaves out (shipped ones are switched off)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            if options["doing"] == "export":
                self._export(options["file"])
            else:
                self._import(**options)
        except exchange.ImportRefused as error:
            raise CommandError("Nothing was changed.\n" + "\n".join(error.problems)) from error
        except OSError as error:
            raise CommandError(f"{options['file']}: {error.strerror or error}") from error

    def _export(self, file: Path | None) -> None:
        text = exchange.export()
        if file is None:
            self.stdout.write(text, ending="")
        else:
            file.write_text(text, encoding="utf-8")

    def _import(self, file: Path, dry_run: bool, why: str, remove_missing: bool, **_: Any) -> None:
        content = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
        if dry_run:
            self._show(exchange.preview(content, remove_missing=remove_missing))
            self.stdout.write("Dry run: nothing was changed.")
            return
        if not why.strip():
            raise CommandError("Say why, for whoever looks at this later: --why TEXT")
        actor = Actor.system(getpass.getuser(), source=Source.CLI)
        seen, version = exchange.take_in(
            actor=actor, content=content, why=why, remove_missing=remove_missing
        )
        self._show(seen)
        said = f"Taxonomy is now {version.version}." if version else "Nothing differs."
        self.stdout.write(said)

    def _show(self, seen: exchange.Preview) -> None:
        for section, changes in seen.changes.items():
            self.stdout.write(f"{section}:")
            for change in changes:
                self._show_change(change)
        counts = ", ".join(f"{count} {kind}" for kind, count in seen.counts.items())
        kept = f"; {seen.kept} that the file leaves out stay" if seen.kept else ""
        self.stdout.write(f"{counts}{kept}.")

    def _show_change(self, change: RowChange) -> None:
        self.stdout.write(f"  {_SIGN[change.kind]} {change.name}")
        if change.kind is ChangeKind.CHANGED:
            for field in change.fields:
                self.stdout.write(f"      {field.name}: {field.before!r} -> {field.after!r}")
