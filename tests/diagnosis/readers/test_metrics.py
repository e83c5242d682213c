"""Metric files of every kind end in a window, or in a reason why not."""

import contextlib
import io
import json
import zipfile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnosis.core.metrics import MetricWindow
from diagnosis.readers.errors import UnreadableEvidence
from diagnosis.readers.metrics import read_metric_bytes
from diagnosis.readers.metrics_block import pack_window

CSV = b"""time,host,device,metric,value
0,n1,,gpu_util,90
10,n1,,gpu_util,91
0,n2,,gpu_util,80
10,n2,,gpu_util,
0,n1,mlx5_0,net_tx_gbps,5
10,n1,mlx5_0,net_tx_gbps,6
"""


def npz(**arrays: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]
    return buffer.getvalue()


def good_arrays() -> dict[str, np.ndarray]:
    return {
        "values": np.arange(12, dtype=np.float32).reshape(1, 3, 4),
        "metrics": np.array(["gpu_util"]),
        "hosts": np.array(["a", "b", "c"]),
        "time": np.arange(4.0) * 10,
    }


def test_a_long_table_becomes_a_grid_with_devices_as_entities() -> None:
    window = read_metric_bytes(CSV)
    assert window.metrics == ("gpu_util", "net_tx_gbps")
    assert list(zip(window.hosts, window.devices, strict=True)) == [
        ("n1", None),
        ("n2", None),
        ("n1", "mlx5_0"),
    ]
    assert window.values[0, 0].tolist() == [90.0, 91.0]


def test_a_missing_value_is_a_missing_sample() -> None:
    assert np.isnan(read_metric_bytes(CSV).values[0, 1, 1])


@pytest.mark.parametrize("stamp", ["2025-06-15T15:06:40Z", "1750000000", "1750000000000"])
def test_times_are_iso_seconds_or_milliseconds(stamp: str) -> None:
    table = f"time,host,metric,value\n{stamp},n1,m,1\n".encode()
    assert read_metric_bytes(table).time.tolist() == [1_750_000_000.0]


def test_a_series_with_a_longer_interval_is_held_until_its_next_sample() -> None:
    rows = ["time,host,metric,value"]
    rows += [f"{t},n1,quick,{t}" for t in range(0, 120, 10)]
    rows += [f"{t},n2,quick,{t}" for t in range(0, 120, 10)]
    rows += [f"{t},n1,slow,{t}" for t in range(0, 120, 30)]
    window = read_metric_bytes("\n".join(rows).encode())
    assert window.values[1, 0].tolist() == [0, 0, 0, 30, 30, 30, 60, 60, 60, 90, 90, 90]


def test_openmetrics_labels_name_host_and_device() -> None:
    series = 'gpu_temp_c{instance="n1:9400",gpu="3"}'
    text = f"{series} 61 10\n{series} 62 20\n# EOF\n".encode()
    window = read_metric_bytes(text)
    assert (window.hosts, window.devices) == (("n1",), ("3",))
    assert window.values[0, 0].tolist() == [61.0, 62.0]


def test_openmetrics_counters_become_rates_and_survive_a_reset() -> None:
    totals = [0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000, 1100, 1200, 1300, 1400]
    totals += [1500, 1600, 1700, 1800, 1900, 2000, 50, 150]
    lines = ["# TYPE retrans counter"]
    lines += [f'retrans_total{{host="n1"}} {v} {10 * i}' for i, v in enumerate(totals)]
    rates = read_metric_bytes("\n".join(lines).encode()).values[0, 0]
    assert np.isnan(rates[0])
    assert rates[1:].tolist() == [10.0] * 20 + [5.0, 10.0]


def test_an_archive_is_read_as_it_is() -> None:
    window = read_metric_bytes(npz(**good_arrays()))
    assert window.hosts == ("a", "b", "c")
    assert window.values[0, 2].tolist() == [8.0, 9.0, 10.0, 11.0]


def test_an_archive_with_times_out_of_order_is_sorted() -> None:
    arrays = good_arrays() | {"time": np.array([30.0, 0.0, 10.0, 20.0])}
    assert read_metric_bytes(npz(**arrays)).values[0, 0].tolist() == [1.0, 2.0, 3.0, 0.0]


def test_pickled_objects_in_an_archive_are_never_opened() -> None:
    arrays = good_arrays() | {"hosts": np.array(["a", "b", None], dtype=object)}
    with pytest.raises(UnreadableEvidence, match="pickled"):
        read_metric_bytes(npz(**arrays))


def test_an_archive_that_promises_more_than_it_holds_is_refused() -> None:
    header = io.BytesIO()
    shape = {"descr": "<f4", "fortran_order": False, "shape": (10, 1000, 10000)}
    np.lib.format.write_array_header_1_0(header, shape)
    buffer = io.BytesIO(npz(**good_arrays()))
    damaged = io.BytesIO()
    with zipfile.ZipFile(buffer) as source, zipfile.ZipFile(damaged, "w") as target:
        for name in source.namelist():
            content = header.getvalue() if name == "values.npy" else source.read(name)
            target.writestr(name, content)
    with pytest.raises(UnreadableEvidence, match="cut off"):
        read_metric_bytes(damaged.getvalue())


@pytest.mark.parametrize("missing", ["values", "metrics", "hosts", "time"])
def test_an_archive_without_an_array_says_which(missing: str) -> None:
    arrays = good_arrays()
    del arrays[missing]
    with pytest.raises(UnreadableEvidence, match=missing):
        read_metric_bytes(npz(**arrays))


def test_names_that_do_not_fit_the_values_are_refused() -> None:
    arrays = good_arrays() | {"hosts": np.array(["a", "b"])}
    with pytest.raises(UnreadableEvidence, match="fit"):
        read_metric_bytes(npz(**arrays))


def test_a_packed_block_comes_back_as_it_was() -> None:
    window = read_metric_bytes(CSV)
    again = read_metric_bytes(pack_window(window))
    assert (again.metrics, again.hosts, again.devices) == (
        window.metrics,
        window.hosts,
        window.devices,
    )
    assert np.array_equal(again.values, window.values, equal_nan=True)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "empty"),
        (b"time,host,value\n1,2,3\n", "lines|column"),
        (b"time,host,metric,value\nx,y,z,1\n", "no readable time"),
        (b"\x00\x01\x02", "binary"),
        (b"PK\x03\x04broken", "NPZ"),
        (b"PAR1broken", "Parquet"),
        (b"time,host,metric,value\n\xff\xfe,a,b,1\n", "UTF-8"),
        (b"gpu_util{} 1\n", "host label"),
    ],
)
def test_what_cannot_be_read_says_why(content: bytes, reason: str) -> None:
    with pytest.raises(UnreadableEvidence, match=reason):
        read_metric_bytes(content)


WHOLE = {
    "csv": CSV,
    "npz": npz(**good_arrays()),
    "openmetrics": b'a{host="n"} 1 1\na{host="n"} 2 2\n# EOF\n',
    "block": pack_window(read_metric_bytes(CSV)),
}


@pytest.mark.parametrize("kind", WHOLE)
@settings(max_examples=60)
@given(data=st.data())
def test_damaged_files_end_in_a_window_or_a_reason(kind: str, data: st.DataObject) -> None:
    content = bytearray(WHOLE[kind][: data.draw(st.integers(0, len(WHOLE[kind])))])
    for _ in range(data.draw(st.integers(0, 4)) if content else 0):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(UnreadableEvidence):
        assert isinstance(read_metric_bytes(bytes(content)), MetricWindow)


def test_a_block_whose_header_lies_about_its_size_is_refused() -> None:
    content = pack_window(read_metric_bytes(CSV))
    header = json.loads(content[12 : 12 + int.from_bytes(content[8:12], "little")])
    header["samples"] = 10**12
    text = json.dumps(header).encode()
    forged = content[:8] + len(text).to_bytes(4, "little") + text + b"\x28\xb5\x2f\xfd"
    with pytest.raises(UnreadableEvidence, match="too large"):
        read_metric_bytes(forged)
