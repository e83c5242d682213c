import io
import json
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from diagnosis.core.evidence import Evidence
from diagnosis.management.commands.simulate import (
    SLOW_NIC,
    listing,
    write_simulation,
    write_slow_nic,
)
from diagnosis.readers.metrics import read_metrics
from diagnosis.readers.progress_reports import read_reports
from diagnosis.simulator.scenarios import SCENARIOS, simulate

ARGUMENTS: Any = {"seed": 2, "hosts": 1, "gpus": 4}


def test_the_list_names_every_scenario():
    assert [line.split()[0] for line in listing().splitlines()] == [*SCENARIOS, SLOW_NIC]


def test_evidence_and_truth_are_written_apart(tmp_path):
    write_simulation("cuda_oom", tmp_path / "out", options=[], **ARGUMENTS)
    expected = simulate("cuda_oom", seed=2, hosts=1, gpus_per_host=4)
    written = {path.name for path in (tmp_path / "out").iterdir() if path.is_file()}
    assert written == set(expected.files)
    truth = json.loads((tmp_path / "out/truth/truth.json").read_bytes())
    assert truth == json.loads(json.dumps(expected.truth.to_dict()))


def test_options_reach_the_simulation(tmp_path):
    write_simulation("healthy", tmp_path, options=["fr_form=json"], **ARGUMENTS)
    assert (tmp_path / "comm_lib_trace_rank_0.json").exists()


def test_a_folder_with_files_is_left_alone(tmp_path):
    (tmp_path / "mine.txt").write_text("keep")
    with pytest.raises(ValueError, match="not empty"):
        write_simulation("healthy", tmp_path, options=[], **ARGUMENTS)


def test_progress_reports_are_written_as_they_would_be_posted(tmp_path):
    write_simulation("hang_compute", tmp_path, options=[], progress=True, **ARGUMENTS)

    lines = (tmp_path / "progress.jsonl").read_bytes().splitlines()

    assert len(lines) > 10
    assert read_reports(json.loads(lines[-1])).ranks.tolist() == [0, 1, 2, 3]


def test_a_slow_nic_is_written_as_metrics_with_its_truth(tmp_path):
    write_slow_nic(tmp_path / "out", seed=2, hosts=3, gpus=1)

    window = read_metrics(Evidence.from_path(tmp_path / "out/metrics.om"))
    truth = json.loads((tmp_path / "out/truth/truth.json").read_bytes())

    assert truth["host"] in window.hosts
    assert "node_infiniband_np_ecn_marked_roce_packets_received_total" in window.metrics


def test_the_command_lists_without_a_folder():
    out = io.StringIO()
    call_command("simulate", "--list", stdout=out)
    assert "hang_compute" in out.getvalue()


@pytest.mark.parametrize("arguments", [["meteor"], []])
def test_the_command_refuses_what_it_cannot_do(tmp_path, arguments):
    with pytest.raises(CommandError):
        call_command("simulate", *arguments, "--out", str(tmp_path / "out"))
