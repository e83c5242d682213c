"""`manage.py simulate SCENARIO --out DIR`: write a simulated incident and the truth about it."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from diagnosis.simulator.options import parse_option
from diagnosis.simulator.scenarios import SCENARIOS, simulate


def listing() -> str:
    """The scenarios, one a line, with what each simulates."""
    width = max(map(len, SCENARIOS))
    return "\n".join(f"{name:{width}}  {item.summary}" for name, item in SCENARIOS.items())


def write_simulation(
    scenario: str, out: Path, *, seed: int, hosts: int, gpus: int, options: list[str]
) -> str:
    """Write the evidence to `out` and the truth to `out/truth/truth.json`; a line that says so.

    Raises `ValueError` for arguments that make no simulation, and when `out` holds files already.
    """
    if out.exists() and any(out.iterdir()):
        raise ValueError(f"{out} is not empty")
    chosen = dict(map(parse_option, options))
    simulation = simulate(scenario, seed=seed, hosts=hosts, gpus_per_host=gpus, **chosen)
    size = simulation.write(out)
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
        parser.add_argument("--list", action="store_true", help="name the scenarios and stop")

    def handle(self, *args: Any, **given: Any) -> None:
        if given["list"]:
            self.stdout.write(listing())
            return
        if not given["scenario"] or given["out"] is None:
            raise CommandError("name a scenario and --out DIR, or use --list")
        try:
            done = write_simulation(
                given["scenario"],
                given["out"],
                seed=given["seed"],
                hosts=given["hosts"],
                gpus=given["gpus"],
                options=given["set"],
            )
        except (ValueError, OSError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(done)
