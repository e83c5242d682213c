"""`manage.py demo`: a believable cluster with jobs and incidents, through the real ingest path."""

from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from diagnosis.services import demo


class Command(BaseCommand):
    """Register the demo's jobs, open its incidents, hand in their evidence."""

    help = "Fill the instance with a demo cluster: jobs, incidents, a check of repaired hosts."

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(
            "Filling the demo: a small cluster, four jobs, five incidents, a delivery check ..."
        )
        for incident in demo.fill(now=timezone.now()):
            self.stdout.write(f"  {incident.reference}  {incident.title}")
