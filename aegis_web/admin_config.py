"""How the apps of others are installed here."""

from axes.apps import AppConfig as AxesConfig
from django.contrib.admin.apps import AdminConfig


class SettingsConfig(AdminConfig):
    """The admin site is the product's own (`aegis_web.settings_site`)."""

    default_site = "aegis_web.settings_site.SettingsSite"


class LogInAttemptsConfig(AxesConfig):  # type: ignore[misc]  # axes has no types
    """Locks accounts after wrong passwords; its tables under a name that says so."""

    verbose_name = "Log-in attempts"
