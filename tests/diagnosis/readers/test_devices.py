"""Serial numbers and UUIDs in what the tools print."""

from hypothesis import given
from hypothesis import strategies as st

from diagnosis.core.words import TargetKind
from diagnosis.readers.devices import devices_in

SMI = """
==============NVSMI LOG==============

Driver Version                            : 550.54.15
Attached GPUs                             : 2
GPU 00000000:18:00.0
    Product Name                          : NVIDIA H100 80GB HBM3
    Serial Number                         : 1650923000001
    GPU UUID                              : GPU-00000000-0000-0000-0000-000000000001
    PCI
        Bus Id                            : 00000000:18:00.0
GPU 00000000:2A:00.0
    Product Name                          : NVIDIA H100 80GB HBM3
    Serial Number                         : N/A
    GPU UUID                              : GPU-00000000-0000-0000-0000-000000000002
"""
IBSTAT = """CA 'mlx5_0'
	CA type: MT4129
	Number of ports: 1
	Firmware version: 28.39.1002
	Node GUID: 0x0000000000000001
	System image GUID: 0x0000000000000009
	Port 1:
		State: Active
		Port GUID: 0x0000000000000007
CA 'mlx5_1'
	CA type: MT4129
	Node GUID: 0x0000000000000000
"""


def test_gpus_are_told_with_serial_uuid_and_place() -> None:
    first, second = devices_in(SMI, "node-1")
    assert (first.serial, first.uuid[-1], first.pci, first.index) == (
        "1650923000001",
        "1",
        "0000:18:00.0",
        0,
    )
    assert (second.serial, second.identity[-1], second.index) == ("", "2", 1)
    assert first.model == "NVIDIA H100 80GB HBM3"


def test_adapters_are_told_by_their_guid_and_one_without_is_left_out() -> None:
    (nic,) = devices_in(IBSTAT, "node-1")
    assert (nic.kind, nic.name, nic.uuid) == (TargetKind.NIC, "mlx5_0", "0x0000000000000001")


@given(st.text(max_size=200))
def test_any_text_is_read_without_an_error(text: str) -> None:
    devices_in("GPU 00000000:18:00.0\n" + text, "node-1")
