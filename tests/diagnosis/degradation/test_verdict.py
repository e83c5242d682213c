"""A judgement in the contract's words."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np

from diagnosis.core.metrics import MetricWindow
from diagnosis.degradation.catalogue import Catalogue
from diagnosis.degradation.detector import Detector
from diagnosis.degradation.verdict import report_of
from tests.diagnosis.degradation.windows import calm_window, slowed

SCHEMA = json.loads(Path("docs/diagnosis.schema.json").read_text())


def answer(window: MetricWindow) -> dict[str, Any]:
    judgement = Detector().judge(window)
    report = report_of(judgement, file="w.npz", catalogue=Catalogue.default())
    shape: dict[str, Any] = json.loads(json.dumps(report.to_dict()))
    return shape


def test_a_faulty_window_is_a_degradation_with_a_culprit() -> None:
    shape = answer(slowed(calm_window(hosts=16), 5, at=120, by=0.2))
    jsonschema.validate(shape, SCHEMA)
    assert (shape["verdict"]["kind"], shape["verdict"]["class"]) == ("degradation", "degradation")
    assert shape["suspects"][0]["target"]["host"] == "node-05"
    assert shape["suspects"][0]["role"] == "culprit"


def test_a_suspect_says_since_when_and_in_which_metrics() -> None:
    suspect = answer(slowed(calm_window(hosts=16), 5, at=120, by=0.2))["suspects"][0]
    assert suspect["metrics"] == ["tflops_actual"]
    assert suspect["onset"] < suspect["alarm_time"]


def test_a_healthy_window_accuses_nobody() -> None:
    shape = answer(calm_window(hosts=16))
    jsonschema.validate(shape, SCHEMA)
    assert (shape["verdict"]["kind"], shape["verdict"]["class"]) == ("none", "healthy")
    assert shape["suspects"] == []


def test_a_window_that_cannot_be_judged_says_what_is_missing() -> None:
    shape = answer(calm_window(hosts=2))
    jsonschema.validate(shape, SCHEMA)
    assert shape["verdict"]["class"] == "unknown"
    assert "peers" in shape["verdict"]["summary"]


def test_a_shift_of_the_fleet_is_one_finding_about_the_job() -> None:
    window = calm_window(hosts=16)
    values = window.values.copy()
    values[:2, :, 120:] *= 0.7
    found = answer(replace(window, values=values))["fleet_wide"]
    assert len(found) == 1
    assert found[0]["target"]["kind"] == "job"
    assert set(found[0]["metrics"]) == {"tflops_actual", "gpu_temp_c"}


def test_one_devices_shift_names_the_device() -> None:
    window = calm_window(hosts=16, metrics=("net_tx_gbps",))
    named = replace(window, devices=("mlx5_0",) * 16)
    suspect = answer(slowed(named, 5, at=120, by=0.3))["suspects"][0]
    assert (suspect["target"]["kind"], suspect["target"]["nic"]) == ("nic", "mlx5_0")


def test_silent_hosts_stand_in_the_coverage() -> None:
    window = calm_window(hosts=16)
    values = window.values.copy()
    values[:, 3] = np.nan
    coverage = answer(replace(window, values=values))["verdict"]["coverage"]
    assert coverage["silent_hosts"] == ["node-03"]
