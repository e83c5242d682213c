"""The demo's repaired hosts: a delivery check that holds two of them, and an offline diagnosis.

Runners and test groups answer here as hosts would; everything else is the real path.
"""

from collections.abc import Iterator

import numpy as np

from diagnosis.checks.suite import Item, Rule
from diagnosis.models import CheckRun, CheckRunner, CheckTask, OfflineDiagnosis
from diagnosis.services import check_runs, check_tasks, offline
from incidents.choices import Source
from incidents.roles import Actor
from incidents.services.topology import place_hosts

REPAIRED = [f"node-{number:03d}" for number in range(101, 109)]
#: The hosts of a job whose hang nobody could lay to a part.
IN_QUESTION = [f"node-{number:03d}" for number in range(201, 233)]
#: Host and item of each fault of the check, and what the item reads there.
FAULTS = {("node-105", "memory"): 5.2, ("node-107", "kernel"): "5.15.0-91 glibc-2.35"}
#: The host that spoils every group of the offline diagnosis.
CULPRIT = "node-214"
_READS: dict[str, float | str] = {
    "kernel": "6.8.0-45 glibc-2.39",
    "limits": "1048576",
    "mtu": "9000,9000,65536",
    "clock": 0.0,
    "memory": 11.6,
    "matmul": 118.0,
    "disk": 1850.0,
    "loopback": 62.0,
    "pair-network": 91.0,
}
_STEPS = 300


def fill(cluster: str) -> None:
    """Place the demo's hosts, check the repaired ones, and begin an offline diagnosis."""
    actor = Actor.system("demo", source=Source.CLI)
    names = [*(f"node-{number:03d}" for number in range(1, 5)), *REPAIRED, *IN_QUESTION]
    place_hosts(actor=actor, cluster=cluster, places=dict(_places(names)))
    _check(actor, cluster)
    _diagnose(actor, cluster)


def _places(names: list[str]) -> Iterator[tuple[str, tuple[str, str]]]:
    """Four hosts under a ToR, four ToRs in a pod."""
    for place, name in enumerate(names):
        yield name, (f"pod-{place // 16 + 1}", f"tor-{place // 4 + 1:02d}")


def _check(actor: Actor, cluster: str) -> CheckRun:
    for name in REPAIRED:
        check_tasks.register(actor=actor, name=name, cluster=cluster, version="demo")
    run = check_runs.start(actor=actor, suite="cpu", names=REPAIRED, cluster=cluster)
    runners = list(CheckRunner.objects.filter(host__checks__run=run).select_related("host"))
    rng = np.random.default_rng(4)
    for _ in range(_STEPS):
        run.refresh_from_db()
        if run.is_over:
            break
        for runner in runners:
            task = check_tasks.claim(actor=actor, runner=runner)
            if task is not None:
                said = _said(task, rng)
                check_tasks.take_output(
                    actor=actor, task=task, stdout=said, ending="exited", exit_code=0
                )
        check_runs.go_on(run.pk)
    return run


def _said(task: CheckTask, rng: np.random.Generator) -> str:
    item: Item = task.definition
    value = FAULTS.get((task.host.name, task.item), _READS[task.item])
    if isinstance(value, float) and item.criterion.rule == Rule.FLEET:
        value = round(value * float(rng.normal(1, 0.015)), 2)
    return f"reading {item.value} {value}\ndone\n"


def _diagnose(actor: Actor, cluster: str) -> OfflineDiagnosis:
    """One round is answered; the next one is open, with the topology picture half coloured."""
    diagnosis = offline.start(actor=actor, names=IN_QUESTION, cluster=cluster, confirm=True)
    results = [CULPRIT not in group for group in diagnosis.rounds[-1]["groups"]]
    return offline.answer(actor=actor, diagnosis=diagnosis, number=1, results=results)
