"""`manage.py load_taxonomy`: the shipped fault taxonomy into the database."""

from importlib import resources
from typing import Any

import yaml
from django.core.management.base import BaseCommand

from diagnosis.services import taxonomy
from incidents.choices import Source
from incidents.roles import Actor


class Command(BaseCommand):
    """Safe to run again: rows that people edited or added stay as they are."""

    help = "Load the shipped fault taxonomy; rows that people edited stay as they are."

    def handle(self, *args: Any, **options: Any) -> None:
        shipped = resources.files("diagnosis.taxonomy").joinpath("default.yaml")
        rows = yaml.safe_load(shipped.read_text("utf-8"))["signatures"]
        actor = Actor.system("load_taxonomy", source=Source.CLI)
        done = taxonomy.load_shipped(actor=actor, shipped=rows)
        if options["verbosity"] > 0:
            self.stdout.write(
                f"{done.added} signatures added, {done.updated} updated, "
                f"{done.kept} of your own kept, {done.switched_off} switched off."
            )
