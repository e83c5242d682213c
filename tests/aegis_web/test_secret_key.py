"""The key of an instance that was given none."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from aegis_web.secret_key import kept_secret


def test_it_stays_the_same_and_is_its_owners_alone(tmp_path: Path):
    folder = tmp_path / "data"

    made = kept_secret(folder)

    assert len(made) > 50
    assert kept_secret(folder) == made
    assert (folder / "secret-key").stat().st_mode & 0o077 == 0


def test_two_instances_have_two(tmp_path: Path):
    assert kept_secret(tmp_path / "one") != kept_secret(tmp_path / "other")


def test_whoever_starts_at_the_same_moment_gets_the_same(tmp_path: Path):
    start = threading.Barrier(8)

    def begin(_: int) -> str:
        start.wait()
        return kept_secret(tmp_path)

    with ThreadPoolExecutor(8) as processes:
        (found,) = set(processes.map(begin, range(8)))
    assert found == (tmp_path / "secret-key").read_text()
