"""Writes the site and measures its pages, in a process with Django: what `bench_web` starts."""

import gc
import os
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
import orjson
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from benchmarks import site_incidents, site_jobs
from benchmarks.site_pages import pages
from incidents.choices import Role
from incidents.models import Incident, User

#: Incidents that are open at one time, of all: a site that is behind with its triage.
STILL_OPEN = 0.01


@dataclass(frozen=True, slots=True)
class Measured:
    """One page: milliseconds of the slowest twentieth, of processor time; queries; bytes sent.

    `cpu_ms` is the median of the process's own processor time, `db_cpu_ms` that of PostgreSQL's
    for this connection; in SQLite both are one.
    """

    p95_ms: float
    cpu_ms: float
    db_cpu_ms: float
    queries: int
    bytes: int


def measure(sizes: Mapping[str, int], *, rounds: int, only: str = "") -> None:
    """Prints one JSON line: what each page whose name has `only` takes."""
    began = perf_counter()
    _prepare(**sizes)
    sys.stderr.write(f"the site was written in {perf_counter() - began:.0f} s\n")
    gc.collect()
    gc.freeze()  # a server does not carry what the writing of a site leaves behind
    client = Client()
    client.force_login(User.objects.get_or_create(username="bench", role=Role.ADMIN)[0])
    found = {
        name: asdict(_measured(client, path, headers, rounds))
        for name, (path, headers) in pages().items()
        if only in name
    }
    sys.stdout.write(orjson.dumps(found).decode() + "\n")


def _prepare(*, incidents: int, hosts: int, jobs: int) -> None:
    call_command("collectstatic", interactive=False, verbosity=0)
    call_command("migrate", verbosity=0)
    call_command("load_taxonomy", verbosity=0)
    if Incident.objects.exists():
        return  # this database was filled before
    rng, now = np.random.default_rng(2026), datetime.now(UTC)
    site = site_jobs.build(rng, hosts=hosts, jobs=jobs, now=now)
    site_incidents.fill(rng, site, count=incidents, still_open=int(incidents * STILL_OPEN), now=now)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def _measured(client: Client, path: str, headers: Mapping[str, str], rounds: int) -> Measured:
    """Queries and bytes of the second asking: the first fills caches of templates and the like."""
    _ask(client, path, headers)
    with CaptureQueriesContext(connection) as captured:
        size = _ask(client, path, headers)
    queries = len(captured)
    walls, cpus, theirs = [], [], []
    for _ in range(rounds):
        wall, cpu, their = perf_counter(), process_time(), _database_seconds()
        _ask(client, path, headers)
        walls.append(1000 * (perf_counter() - wall))
        cpus.append(1000 * (process_time() - cpu))
        theirs.append(1000 * (_database_seconds() - their))
    return Measured(
        p95_ms=round(float(np.percentile(walls, 95)), 1),
        cpu_ms=round(float(np.median(cpus)), 1),
        db_cpu_ms=round(float(np.mean(theirs)), 1),
        queries=queries,
        bytes=size,
    )


def _database_seconds() -> float:
    """Processor time of this connection's PostgreSQL process so far (proc(5)); 0 for SQLite."""
    if connection.vendor != "postgresql":
        return 0.0
    connection.ensure_connection()
    pid = connection.connection.info.backend_pid
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _ask(client: Client, path: str, headers: Mapping[str, str]) -> int:
    """How many bytes the page has. Raises where the answer is none."""
    answer = client.get(path, headers=dict(headers))
    if answer.status_code != 200:
        raise RuntimeError(f"{path} answers {answer.status_code}")
    return len(answer.content)
