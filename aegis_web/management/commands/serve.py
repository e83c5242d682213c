"""`manage.py serve`: the embedded set-up in one command. Ends cleanly on Ctrl-C."""

import os
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser

from aegis_web.embedded.address import EVERYWHERE
from aegis_web.embedded.broker import BrokerUnavailable
from aegis_web.embedded.first_login import first_login
from aegis_web.embedded.supervisor import CannotServe, Embedded, free_port, only_one_here
from incidents.models import Incident


class Command(BaseCommand):
    """Migrate, start broker, worker and web, fill an empty instance with the demo, say where."""

    help = "Run Aegis on this machine: database, broker, worker and web in one command."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default=settings.EMBEDDED_HOST)
        parser.add_argument("--port", type=int, default=settings.EMBEDDED_PORT)
        parser.add_argument("--no-demo", action="store_true", help="start with an empty desk")

    def handle(self, *args: Any, **options: Any) -> None:
        os.umask(0o077)
        try:
            with only_one_here(settings.DATA_DIR):
                code = self._run(**options)
        except (CannotServe, BrokerUnavailable) as error:
            raise CommandError(str(error)) from error
        self.stdout.write("Stopped.")
        if code:
            raise SystemExit(code)

    def _run(self, **options: Any) -> int:
        port = free_port(options["host"], options["port"])
        self._say("Preparing database, taxonomy and static files ...")
        call_command("migrate", interactive=False, verbosity=0)
        call_command("load_taxonomy", verbosity=0)
        call_command("load_metrics", verbosity=0)
        call_command("collectstatic", interactive=False, verbosity=0)
        login = first_login(settings.DATA_DIR)
        self._say("Starting broker, worker and web ...")
        # What is started reads where it listens from there: names that it serves, links to it.
        os.environ |= {"AEGIS_HOST": options["host"], "AEGIS_PORT": str(port)}
        instance = Embedded(
            data_dir=settings.DATA_DIR,
            host=options["host"],
            port=port,
            broker_socket=settings.BROKER_SOCKET,
            web_workers=settings.EMBEDDED_WEB_WORKERS,
            task_workers=settings.EMBEDDED_TASK_WORKERS,
        )
        return instance.serve(
            prepare=lambda: self._fill(demo=not options["no_demo"]),
            announce=lambda: self._announce(instance, login, wanted=options["port"]),
        )

    def _say(self, text: str) -> None:
        self.stdout.write(text)
        self.stdout.flush()

    def _fill(self, *, demo: bool) -> None:
        if demo and not Incident.objects.exists():
            call_command("demo", stdout=self.stdout)

    def _announce(self, instance: Embedded, login: str, *, wanted: int) -> None:
        self._say(f"\nAegis is running at {instance.address}")
        if instance.port != wanted:
            self._say(f"  port:   {wanted} is taken by something else; AEGIS_PORT chooses another")
        if instance.host == EVERYWHERE:
            self._say(
                "  names:  served by this one; AEGIS_ALLOWED_HOSTS lists others, and addresses"
            )
        self._say(f"  log in: {login}")
        self._say(f"  data:   {settings.DATA_DIR}  (logs in {settings.DATA_DIR / 'logs'})")
        self._say(f"  stop:   Ctrl-C, or kill {os.getpid()}")
