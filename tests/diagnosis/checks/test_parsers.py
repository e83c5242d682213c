"""Outputs of the tools parse to the right values, and what is none of them to nothing.

Recorded from the tools: fio, STREAM, lspci-virtual, and the `-none` and `-error` ones. The others
are written in the tools' documented grammar.
"""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diagnosis.checks.output import Ending, Output, Unreadable, Value
from diagnosis.checks.parsers import PARSERS, read

OUTPUTS = Path(__file__).parent / "outputs"

EXPECTED: dict[str, dict[tuple[str, str], float | str]] = {
    "nvidia-smi": {
        ("gpus", ""): 2.0,
        ("name", "gpu0"): "NVIDIA H100 80GB HBM3",
        ("driver_version", "gpu1"): "550.54.15",
        ("pcie.link.width.current", "gpu1"): 8.0,
        ("clocks.current.sm", "gpu0"): 1980.0,
        ("ecc.errors.uncorrected.volatile.total", "gpu0"): 0.0,
    },
    "dcgmi-diag": {("failed", ""): 1.0, ("passed", ""): 2.0, ("pcie", ""): "Fail"},
    "dcgmi-diag.json": {("failed", ""): 1.0, ("gpu memory", "gpu1"): "Fail"},
    "gpu-burn": {("faulty", ""): 1.0, ("state", "gpu1"): "FAULTY", ("gflops", ""): 14207.0},
    "nccl-tests": {("busbw", ""): 469.15, ("wrong", ""): 0.0, ("peak_busbw", ""): 469.98},
    "ib-write-bw": {("bandwidth", ""): 393.95, ("peak_bandwidth", ""): 394.12},
    "ibstat": {
        ("active_ports", ""): 1.0,
        ("rate", "mlx5_0/1"): 400.0,
        ("physical_state", "mlx5_1/1"): "Polling",
    },
    "lspci": {
        ("devices", ""): 2.0,
        ("link_width", "18:00.0"): 8.0,
        ("downgraded", "17:00.0"): 0.0,
        ("downgraded", "18:00.0"): 1.0,
    },
    "lspci-virtual": {("devices", ""): 3.0},
    "stream": {("copy", ""): 2058.1, ("triad", ""): 3660.2},
    "dmidecode": {("modules", ""): 1.0, ("size_gb", "A1"): 64.0, ("speed", "A1"): 4400.0},
    "rocm-smi": {("cards", ""): 2.0, ("temperature (sensor junction) (c)", "card0"): 41.0},
    "amd-smi": {
        ("gpus", ""): 2.0,
        ("pcie.width", "gpu1"): 8.0,
        ("pcie.speed", "gpu0"): 32.0,
        ("ecc.total_uncorrectable_count", "gpu1"): 2.0,
    },
    "rvs": {("failed", ""): 1.0, ("pass", "gpu33367"): "TRUE", ("gflops", "gpu12345"): 900321.0},
    "transferbench": {("aggregate", ""): 45.11, ("bandwidth", "GPU 00"): 47.203},
    "fio": {("errors", ""): 0.0},
}
#: What a cut in the middle leaves of these is still a whole answer for the lines before it.
LINE_BY_LINE = {"nvidia-smi", "ibstat", "rvs"}
#: What each tool printed where it had nothing to work on.
NOTHING_THERE = ("dmidecode-none", "fio-error")


def recorded(name: str) -> str:
    return (OUTPUTS / f"{name}.txt").read_text()


def parser_of(name: str) -> str:
    return next(one for one in sorted(PARSERS, key=len, reverse=True) if name.startswith(one))


def as_dict(values: list[Value]) -> dict[tuple[str, str], float | str]:
    return {(one.name, one.device): one.value for one in values}


@pytest.mark.parametrize("name", EXPECTED)
def test_an_output_parses_to_its_values(name: str) -> None:
    found = as_dict(read(parser_of(name), Output(recorded(name))))
    assert EXPECTED[name].items() <= found.items()


def test_fio_gives_rates_and_latency() -> None:
    found = as_dict(read("fio", Output(recorded("fio"))))
    assert {name for name, _ in found} >= {"read_mbps", "read_iops", "read_p99_us"}
    assert ("write_mbps", "") not in found


@pytest.mark.parametrize("name", [name for name in EXPECTED if name not in LINE_BY_LINE])
def test_half_an_output_is_no_result(name: str) -> None:
    text = recorded(name)
    with pytest.raises(Unreadable):
        read(parser_of(name), Output(text[: len(text) // 2]))


@pytest.mark.parametrize("name", EXPECTED)
@given(data=st.data())
@settings(max_examples=50)
def test_an_output_that_breaks_off_in_a_line_is_no_result(name: str, data: st.DataObject) -> None:
    text = recorded(name)
    cut = data.draw(st.integers(0, len(text) - 2))
    if text[: cut + 1].endswith("\n") or text[cut + 1] == "\n":
        return
    with pytest.raises(Unreadable):
        read(parser_of(name), Output(text[: cut + 1]))


@pytest.mark.parametrize("name", NOTHING_THERE)
def test_what_a_tool_prints_that_finds_nothing_is_no_result(name: str) -> None:
    with pytest.raises(Unreadable):
        read(parser_of(name), Output(recorded(name)))


def test_perftest_without_a_device_is_no_result() -> None:
    said = " Did not detect devices \n Unable to find the Infiniband/RoCE device\n"
    with pytest.raises(Unreadable, match="code 1"):
        read("ib-write-bw", Output(stderr=said, exit_code=1))


@pytest.mark.parametrize("name", EXPECTED)
@pytest.mark.parametrize("code", [-9, 127, 137])
def test_a_command_that_was_killed_has_no_result(name: str, code: int) -> None:
    with pytest.raises(Unreadable, match="code"):
        read(parser_of(name), Output(recorded(name), exit_code=code))


@pytest.mark.parametrize("parser", PARSERS)
@pytest.mark.parametrize("text", ["", "Segmentation fault (core dumped)\n", "\x00\xff" * 40])
def test_garbage_is_no_result(parser: str, text: str) -> None:
    with pytest.raises(Unreadable):
        read(parser, Output(text))


@pytest.mark.parametrize("ending", [one for one in Ending if one != Ending.EXITED])
def test_a_command_that_did_not_end_by_itself_has_no_result(ending: Ending) -> None:
    with pytest.raises(Unreadable):
        read("stream", Output(recorded("stream"), exit_code=None, ending=ending))


@pytest.mark.parametrize("parser", PARSERS)
@given(text=st.text(max_size=300))
def test_any_text_gives_values_or_says_that_it_cannot_be_read(parser: str, text: str) -> None:
    with suppress(Unreadable):
        assert read(parser, Output(text))


def test_megabytes_a_second_of_perftest_become_gigabits() -> None:
    text = recorded("ib-write-bw").replace("Gb/sec", "MB/sec")
    found = as_dict(read("ib-write-bw", Output(text)))
    assert found["bandwidth", ""] == pytest.approx(3.3047, rel=1e-3)


def test_readings_name_devices_and_need_their_end() -> None:
    found = as_dict(read("readings", Output("reading speed@eth0 9.4 Gb/s\ndone\n")))
    assert found == {("speed", "eth0"): 9.4}
    with pytest.raises(Unreadable, match="done"):
        read("readings", Output("reading speed@eth0 9.4\n"))
