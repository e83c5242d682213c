"""The project itself as an app: its signals are connected at start-up."""

from django.apps import AppConfig


class AegisConfig(AppConfig):
    """Commands, settings and what ties the apps together."""

    name = "aegis_web"

    def ready(self) -> None:
        """Listens for log-ins, and for those that fail."""
        from aegis_web import failed_logins, idle  # noqa: F401, PLC0415 - so does Django
