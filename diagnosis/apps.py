"""How a fault is found."""

from django.apps import AppConfig


class DiagnosisConfig(AppConfig):
    name = "diagnosis"
    verbose_name = "Diagnosis"

    def ready(self) -> None:
        """Listens for incidents that want a diagnosis."""
        from diagnosis import receivers  # noqa: F401, PLC0415 - Django connects signals at start-up
