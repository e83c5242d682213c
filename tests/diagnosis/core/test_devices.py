"""Devices by serial number or UUID, and the places that they are found by."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diagnosis.core.devices import DeviceSeat, Seats, pci_address
from diagnosis.core.words import TargetKind

GPU = DeviceSeat(TargetKind.GPU, "node-1.example", uuid="GPU-7f", pci="0000:9b:00.0", index=3)


@pytest.mark.parametrize(
    "spelling",
    [
        "PCI:0000:9b:00",
        "0000:9b:00.0",
        "00000000:9B:00.0",
        "9b:00.0",
        "0000:9B:00",
        "PCI:0000:9b:00:",
    ],
)
def test_every_tool_s_spelling_of_a_pci_address_is_one(spelling: str) -> None:
    assert pci_address(spelling) == "0000:9b:00.0"


@given(st.text(max_size=30))
def test_what_is_no_address_becomes_none_and_an_address_stays_what_it_is(text: str) -> None:
    address = pci_address(text)
    assert address == "" or pci_address(address) == address


@pytest.mark.parametrize("part", ["9b:00.0", "3", "GPU-7f", "gpu-7F"])
def test_a_device_is_found_by_whatever_its_host_calls_it(part: str) -> None:
    assert Seats((GPU,)).at("NODE-1", part) == GPU


def test_the_same_address_on_another_host_is_another_device() -> None:
    assert Seats((GPU,)).at("node-2", "9b:00.0") is None


def test_a_device_without_serial_or_uuid_identifies_nobody() -> None:
    assert (
        Seats((DeviceSeat(TargetKind.GPU, "node-1", pci="0000:9b:00.0"),)).at("node-1", "9b:00.0")
        is None
    )


def test_who_is_told_first_holds_the_place() -> None:
    later = DeviceSeat(TargetKind.GPU, "node-1", uuid="GPU-aa", pci="0000:9b:00.0")
    found = Seats((GPU, later)).at("node-1", "9b:00.0")
    assert found is not None
    assert found.identity == "GPU-7f"
