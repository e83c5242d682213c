"""`manage.py simulate SCENARIO --out DIR`: write a simulated incident and the truth about it."""

from argparse import ArgumentParser
from dataclasses import asdict
from pathlib import Path
from typing import Any

import orjson
from django.core.management.base import BaseCommand, CommandError

from diagnosis.simulator.exposition import Exposition
from diagnosis.simulator.fleet_paper import paper_case
from diagnosis.simulator.options import parse_option
from diagnosis.simulator.progress import LiveJob
from diagnosis.simulator.scenarios import SCENARIOS, simulate
from diagnosis.simulator.simulation import Simulation
from diagnosis.simulator.writers import manifest


def listing() -> str:
    """The scenarios, one a line, with what each simulates."""
    width = max(map(len, SCENARIOS))
    lines = [f"{name:{width}}  {item.summary}" for name, item in SCENARIOS.items()]
    lines.append(f"{SLOW_NIC:{width}}  One NIC loses packets and slows the job; as metrics.")
    return "\n".join(lines)


#: The case that is told by metrics in place of files.
SLOW_NIC = "slow_nic"
#: Seconds between two progress reports, and how long a job moves before it stops.
EVERY, MOVES_FOR = 30.0, 300.0


def write_slow_nic(out: Path, *, seed: int, hosts: int, gpus: int) -> str:
    """Write two hours of a running job's metrics in OpenMetrics, its placement, and the truth."""
    require_empty(out)
    window, truth, placement = paper_case(seed, hosts=hosts)
    exposition = Exposition(gpus=gpus, faulty=(truth.host, truth.nic))
    (out / "truth").mkdir(parents=True)
    (out / "metrics.om").write_text(exposition.text(window))
    (out / "placement.json").write_bytes(manifest.placement_json(placement))
    (out / "truth" / "truth.json").write_bytes(orjson.dumps(asdict(truth)))
    return f"{SLOW_NIC}: metrics of {hosts} hosts in {out}; truth in {out / 'truth'}"


def write_progress(simulation: Simulation, out: Path) -> int:
    """Write `progress.jsonl`, one body of the progress call a line, on to five minutes after the
    fault; how many lines.
    """
    start = simulation.run.job.start_ns / 1e9
    job = LiveJob.that_stops_after(simulation.run, start=start, seconds=MOVES_FOR)
    count = int((job.stops_at + MOVES_FOR - start) / EVERY)
    lines = [orjson.dumps(job.body(start + EVERY * number)) for number in range(count)]
    (out / "progress.jsonl").write_bytes(b"\n".join([*lines, b""]))
    return len(lines)


def require_empty(out: Path) -> None:
    """Raises `ValueError` when `out` holds files already."""
    if out.exists() and any(out.iterdir()):
        raise ValueError(f"{out} is not empty")


def write_simulation(
    scenario: str,
    out: Path,
    *,
    seed: int,
    hosts: int,
    gpus: int,
    options: list[str],
    progress: bool = False,
) -> str:
    """Write the evidence to `out` and the truth to `out/truth/truth.json`; a line that says so.

    Raises `ValueError` for arguments that make no simulation, and when `out` holds files already.
    """
    require_empty(out)
    chosen = dict(map(parse_option, options))
    simulation = simulate(scenario, seed=seed, hosts=hosts, gpus_per_host=gpus, **chosen)
    size = simulation.write(out)
    if progress:
        write_progress(simulation, out)
    return (
        f"{scenario}: {len(simulation.files)} files, {size / 1e6:.1f} MB in {out}; "
        f"truth in {out / 'truth' / 'truth.json'}"
    )


class Command(BaseCommand):
    help = "Write a simulated incident's evidence files, and the truth about it, into a folder."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("scenario", nargs="?", help="its name; see --list")
        parser.add_argument("--out", type=Path, help="the folder to write to; new or empty")
        parser.add_argument("--seed", type=int, default=1, help="all chance comes from it")
        parser.add_argument("--hosts", type=int, default=4)
        parser.add_argument("--gpus", type=int, default=8, help="GPUs, and ranks, per host")
        parser.add_argument(
            "--set",
            action="append",
            default=[],
            metavar="NAME=VALUE",
            help="an option of the simulation, such as ring=50 or fr_version=2.9",
        )
        parser.add_argument(
            "--progress", action="store_true", help="the job's progress reports as well"
        )
        parser.add_argument("--list", action="store_true", help="name the scenarios and stop")

    def handle(self, *args: Any, **given: Any) -> None:
        if given["list"]:
            self.stdout.write(listing())
            return
        if not given["scenario"] or given["out"] is None:
            raise CommandError("name a scenario and --out DIR, or use --list")
        try:
            size = {name: given[name] for name in ("seed", "hosts", "gpus")}
            if given["scenario"] == SLOW_NIC:
                done = write_slow_nic(given["out"], **size)
            else:
                done = write_simulation(
                    given["scenario"],
                    given["out"],
                    options=given["set"],
                    progress=given["progress"],
                    **size,
                )
        except (ValueError, OSError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(done)
