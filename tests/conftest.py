"""What every test gets: a data folder of its own, no network beyond this machine, quick hashing."""

import os
from pathlib import Path

import hypothesis
import pytest
from hypothesis import HealthCheck
from pytest_socket import socket_allow_hosts

# The same examples in every run, for as long as they take: whether a test passes depends on the
# code alone. `--hypothesis-profile=search` draws others.
hypothesis.settings.register_profile(
    "repeatable", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
hypothesis.settings.register_profile(
    "search", hypothesis.settings.get_profile("repeatable"), derandomize=False
)
hypothesis.settings.load_profile("repeatable")


def pytest_runtest_setup() -> None:
    socket_allow_hosts(["127.0.0.1", "::1", "localhost"], allow_unix_socket=True)


@pytest.fixture(autouse=True)
def _own_settings(settings, tmp_path: Path) -> None:
    settings.EVIDENCE_DIR = tmp_path / "evidence"
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    }
    settings.WHITENOISE_AUTOREFRESH = True  # no collected files needed
    settings.AXES_ENABLED = False
    memory = {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": str(tmp_path)}
    settings.CACHES = {"default": memory}
    settings.WHITENOISE_AUTOREFRESH = True  # collects nothing, and needs no folder


@pytest.fixture(scope="session")
def cases() -> Path:
    """The folder of recorded cases with known answers."""
    return cases_dir()


def cases_dir() -> Path:
    """The recorded cases, or a skip that says how to get them."""
    folder = os.environ.get("AEGIS_CASES_DIR")
    if not folder:
        pytest.skip("recorded cases: set AEGIS_CASES_DIR to their folder")
    return Path(folder)
