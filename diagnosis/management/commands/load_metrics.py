"""`manage.py load_metrics`: the shipped metric catalogue into the database."""

from typing import Any

from django.core.management.base import BaseCommand

from diagnosis.services import metrics
from incidents.choices import Source
from incidents.roles import Actor


class Command(BaseCommand):
    """Safe to run again: rows that people edited or added stay as they are."""

    help = "Load the shipped metric catalogue; rows that people edited stay as they are."

    def handle(self, *args: Any, **options: Any) -> None:
        done = metrics.load_shipped(actor=Actor.system("load_metrics", source=Source.CLI))
        if options["verbosity"] > 0:
            self.stdout.write(
                f"{done.added} metrics added, {done.updated} updated, {done.kept} of your own kept."
            )
