"""Configuration snapshots of every form: told by content, read to comparable values."""

import pytest

from diagnosis.core.words import EvidenceKind
from diagnosis.readers.configuration import read_snapshot
from diagnosis.readers.errors import UnreadableEvidence
from diagnosis.readers.kinds import kind_of
from tests.diagnosis.readers.logs_evidence import log

NVIDIA_SMI = """
==============NVSMI LOG==============

Timestamp                                 : Tue Mar  4 02:00:00 2025
Driver Version                            : 550.54.15
CUDA Version                              : 12.4

Attached GPUs                             : 2
GPU 00000000:1B:00.0
    Product Name                          : NVIDIA H100 80GB HBM3
    Persistence Mode                      : Enabled
    MIG Mode
        Current                           : Disabled
        Pending                           : Disabled
    Serial Number                         : 1650000000000
    VBIOS Version                         : 96.00.74.00.01
    GPU Link Info
        PCIe Generation
            Max                           : 5
            Current                       : 5
        Link Width
            Max                           : 16x
            Current                       : 8x
    Temperature
        GPU Current Temp                  : 34 C
    ECC Mode
        Current                           : Enabled
GPU 00000000:43:00.0
    Product Name                          : NVIDIA H100 80GB HBM3
    VBIOS Version                         : 96.00.61.00.01
"""
IBSTAT = """CA 'mlx5_0'
	CA type: MT4129
	Number of ports: 1
	Firmware version: 28.39.1002
	Node GUID: 0xa088c2030098f0b4
	Port 1:
		State: Active
		Physical state: LinkUp
		Rate: 400
		Base lid: 12
		Link layer: InfiniBand
"""
DPKG = """Desired=Unknown/Install/Remove/Purge/Hold
| Status=Not/Inst/Conf-files/Unpacked/halF-conf/Half-inst/trig-aWait/Trig-pend
||/ Name           Version      Architecture Description
+++-==============-============-============-=================================
ii  libnccl2       2.21.5-1     amd64        NVIDIA Collective Communication Library
ii  mlnx-ofed:amd64 24.01-0.3.3 amd64        MLNX OFED
"""
FORMS = {
    "nvidia-smi": (
        NVIDIA_SMI,
        {
            "driver": "550.54.15",
            "gpu0.pcie_width": "8x",
            "gpu1.vbios": "96.00.61.00.01",
        },
    ),
    "ibstat": (IBSTAT, {"mlx5_0.firmware": "28.39.1002", "mlx5_0/1.rate": "400"}),
    "env": (
        "HOME=/root\nNCCL_DEBUG=INFO\nexport NCCL_IB_HCA='mlx5_0'\nHF_TOKEN=hf_x\n",
        {"env.NCCL_DEBUG": "INFO", "env.NCCL_IB_HCA": "mlx5_0"},
    ),
    "uname": (
        (
            "Linux node-07 5.15.0-105-generic #115-Ubuntu SMP Mon Apr 15 09:52:04 UTC 2024 "
            "x86_64 GNU/Linux\n"
        ),
        {"kernel": "5.15.0-105-generic"},
    ),
    "os-release": (
        (
            'PRETTY_NAME="Ubuntu 22.04.4 LTS"\nNAME="Ubuntu"\n'
            'VERSION_ID="22.04"\nID=ubuntu\nID_LIKE=debian\n'
        ),
        {"os": "ubuntu", "os_version": "22.04"},
    ),
    "dpkg": (DPKG, {"pkg.libnccl2": "2.21.5-1", "pkg.mlnx-ofed": "24.01-0.3.3"}),
    "rpm": (
        "kernel-core-5.14.0-427.el9.x86_64\nlibnccl-2.21.5-1+cuda12.4.x86_64\nbash-5.1.8-9.el9.x86_64\n",
        {"pkg.libnccl": "2.21.5-1+cuda12.4"},
    ),
    "pip": ("torch==2.6.0\nnumpy==1.26.4\nflash-attn==2.5.8\n", {"pip.torch": "2.6.0"}),
    "json": (
        (
            '{"host": "node-07", "time": "2025-03-04T02:00:00Z", '
            '"values": {"mtu.mlx5_0": 4200, "nccl": "2.21.5"}}'
        ),
        {"mtu.mlx5_0": "4200", "nccl": "2.21.5"},
    ),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_snapshot_is_told_by_its_content(form: str) -> None:
    assert kind_of(log(FORMS[form][0], "node-07.txt")) is EvidenceKind.CONFIGURATION


@pytest.mark.parametrize("form", FORMS)
def test_its_values_are_read(form: str) -> None:
    text, wanted = FORMS[form]
    values = read_snapshot(log(text, "node-07.snapshot.log")).values
    assert {name: values.get(name) for name in wanted} == wanted


@pytest.mark.parametrize("form", ["ibstat", "nvidia-smi"])
@pytest.mark.parametrize("part", [" ", "a ", "a: "])
def test_a_line_without_an_end_leaves_the_others_as_they_are(form: str, part: str) -> None:
    text, values = FORMS[form]
    found = read_snapshot(log(f"{text}\n{part * 300_000}", "node-07.log")).values
    assert values.items() <= found.items()


def test_the_host_comes_from_the_name_or_the_output() -> None:
    assert read_snapshot(log(FORMS["ibstat"][0], "node-07.ibstat.log")).host == "node-07"
    assert read_snapshot(log(FORMS["uname"][0], "uname.txt")).host == "node-07"


def test_a_snapshot_of_no_host_is_refused_with_the_way_out() -> None:
    with pytest.raises(UnreadableEvidence, match="name the file"):
        read_snapshot(log(DPKG, "packages.txt"))


def test_an_environment_keeps_no_secrets() -> None:
    text = "NCCL_DEBUG=INFO\nTORCH_API_KEY=abc\nAWS_SECRET_ACCESS_KEY=x\nDB_PASSWORD=y\n"
    assert set(read_snapshot(log(text, "node-07.env.log")).values) == {"env.NCCL_DEBUG"}


@pytest.mark.parametrize(
    "text",
    [
        "A=1\nB=2\nC=3\nTraceback (most recent call last):\n",
        "starting\n" + NVIDIA_SMI,
        "2025-03-04 02:00:00 Linux node-07 5.15 #1\n",
        "torch==2.6.0\nERROR: could not install numpy\nok==1\n",
    ],
)
def test_a_log_that_holds_such_lines_stays_a_log(text: str) -> None:
    assert kind_of(log(text, "train.log")) is EvidenceKind.LOG


def test_broken_json_is_refused_with_the_reason() -> None:
    with pytest.raises(UnreadableEvidence, match="not JSON"):
        read_snapshot(log('{"host": "node-07", "values": {"a": 1}', "a.json"))
