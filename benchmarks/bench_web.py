"""Every page of a large site: p95 of the server's time, queries and bytes; ends in one JSON line.

A site of 100,000 incidents, 5,000 hosts and 2,000 jobs is written in bulk into a private
PostgreSQL and into SQLite, each measured in a process of its own through the whole of Django
(middleware, view, template), without the network. `p95_ms` is the clock's, the database's work
included; `cpu_ms` and `db_cpu_ms` are processor time of the page and of PostgreSQL, which
other work on the machine hardly changes.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path

import orjson

from tests.services import open_folder, postgres_bin, postgresql

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    options = _options()
    found = {}
    for name in options.databases.split(","):
        if name == "postgresql" and postgres_bin() is None:
            _say("PostgreSQL's server is missing (Debian: apt-get install postgresql): left out")
            continue
        found[name] = _in_its_own_process(name, options)
    _say(orjson.dumps(found).decode())


def _in_its_own_process(name: str, options: argparse.Namespace) -> Mapping[str, object]:
    with open_folder() as folder, tempfile.TemporaryDirectory(prefix="aegis-bench-") as data:
        server = postgresql(folder / "server") if name == "postgresql" else nullcontext("")
        with server as url:
            environment = _environment(data, url)
            command = [sys.executable, "manage.py", "shell", "--no-imports", "-c", _code(options)]
            done = subprocess.run(
                command, cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE
            )
    pages: Mapping[str, Mapping[str, float]] = orjson.loads(done.stdout.splitlines()[-1])
    _print_table(name, pages)
    return pages


def _environment(data: str, url: str) -> Mapping[str, str]:
    ours = {
        "AEGIS_DATA_DIR": data,
        "AEGIS_ALLOWED_HOSTS": "testserver",
        "AEGIS_LOG_LEVEL": "ERROR",
        "DATABASE_URL": url or f"sqlite:///{data}/site.sqlite3",
    }
    return {**os.environ, **ours}


def _code(options: argparse.Namespace) -> str:
    """What the process with Django does."""
    sizes = {"incidents": options.incidents, "hosts": options.hosts, "jobs": options.jobs}
    return (
        "from benchmarks.site_measured import measure\n"
        f"measure({sizes!r}, rounds={options.rounds}, only={options.only!r})"
    )


def _print_table(database: str, pages: Mapping[str, Mapping[str, float]]) -> None:
    _say(f"{database:34}{'p95 ms':>9}{'cpu ms':>9}{'db cpu':>9}{'queries':>9}{'bytes':>10}")
    for name, one in pages.items():
        _say(
            f"{name:34}{one['p95_ms']:9.1f}{one['cpu_ms']:9.1f}{one['db_cpu_ms']:9.1f}"
            f"{one['queries']:9.0f}{one['bytes']:10.0f}"
        )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--incidents", type=int, default=100_000)
    parser.add_argument("--hosts", type=int, default=5_000)
    parser.add_argument("--jobs", type=int, default=2_000)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--databases", default="postgresql,sqlite")
    parser.add_argument("--only", default="", help="measure the pages whose name has this")
    return parser.parse_args()


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
