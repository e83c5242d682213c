"""Metric windows among evidence are told by their content."""

import io

import numpy as np
import pytest

from diagnosis.core.metrics import MetricWindow
from diagnosis.core.words import EvidenceKind
from diagnosis.readers.kinds import kind_of_head
from diagnosis.readers.metrics_block import pack_window


def npz() -> bytes:
    packed = io.BytesIO()
    np.savez(packed, values=np.zeros((1, 1, 2)), metrics=["m"], hosts=["h"], time=[0.0, 1.0])
    return packed.getvalue()


def block() -> bytes:
    values = np.zeros((1, 1, 2), np.float32)
    return pack_window(MetricWindow(values, ("m",), ("h",), np.array([0.0, 1.0])))


@pytest.mark.parametrize(
    "head",
    [
        block(),
        npz(),
        b"time,host,metric,value\n1,node-1,gpu_temp_c,60\n",
        b"timestamp,hostname,device,metric,value\n",
    ],
    ids=["block", "npz", "table", "table with devices"],
)
def test_metric_windows_are_told(head: bytes):
    assert kind_of_head(head) is EvidenceKind.METRICS


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (b"PK\x03\x04" + b"\x00" * 26 + b"logs/rank_0.log", EvidenceKind.ARCHIVE),
        (b"at that time the host wrote a metric {value: 3}\n", EvidenceKind.LOG),
    ],
)
def test_what_only_looks_like_metrics_is_told_as_what_it_is(head: bytes, kind: EvidenceKind):
    assert kind_of_head(head) is kind
