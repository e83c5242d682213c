"""The executor as the environment describes it."""

import pytest

from aegis_web.executor_settings import executors_of


def test_without_a_name_it_is_off():
    assert executors_of({}) == {}


def test_named_ones_come_with_their_commands():
    assert executors_of({"AEGIS_EXECUTOR": "kubernetes"}) == {
        "kubernetes": ["kubectl", "cordon", "--", "{host}"]
    }


def test_a_template_is_taken_as_it_is():
    template = '["sudo", "scontrol", "update", "nodename={host}", "state=drain"]'
    found = executors_of({"AEGIS_EXECUTOR": "slurm", "AEGIS_EXECUTOR_SLURM": template})
    assert found["slurm"][0] == "sudo"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("AEGIS_EXECUTOR", "lsf"),
        ("AEGIS_EXECUTOR_SLURM", "scontrol update"),
        ("AEGIS_EXECUTOR_SLURM", '["scontrol"]'),
        ("AEGIS_EXECUTOR_SLURM", '["{host}"]'),
        ("AEGIS_EXECUTOR_SLURM", '["scontrol", 1]'),
        ("AEGIS_EXECUTOR_SLURM", "[]"),
        ("AEGIS_EXECUTOR_SLURM", '["scontrol", "-M", "{clutser}", "{host}"]'),
    ],
)
def test_what_is_unsound_is_refused_by_name(name: str, value: str):
    with pytest.raises(ValueError, match=name):
        executors_of({"AEGIS_EXECUTOR": "slurm", name: value})
