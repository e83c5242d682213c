"""docs/integrating.md: its commands, run as they stand there against a whole instance."""

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from diagnosis.simulator.scenarios import simulate
from tests.e2e.instances import ROOT, Instance, embedded
from tests.services import needed

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]
_BLOCKS = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[Instance]:
    needed("jq", "jq")
    needed("curl", "curl")
    with embedded(tmp_path, "--no-demo") as running:
        yield running


def commands() -> str:
    return "\n".join(_BLOCKS.findall((ROOT / "docs" / "integrating.md").read_text()))


def test_the_commands_lead_from_evidence_to_a_decision(instance: Instance, tmp_path: Path):
    simulation = simulate("hang_compute", seed=3, hosts=2, gpus_per_host=4)
    simulation.write(tmp_path / "evidence")
    environment = {
        **os.environ,
        "AEGIS": f"{instance.address}api/v1",
        "TOKEN": instance.token("read", "respond", "register_jobs"),
    }
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", commands()],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert f'"host": "{simulation.truth.culprit_hosts[0]}"' in done.stdout
    assert "recommendation.accepted: " in done.stdout
