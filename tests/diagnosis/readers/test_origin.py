"""What a file's name tells of its origin (docs/contract.md, "Names in files")."""

import pytest

from diagnosis.readers.origin import Origin, origin_from_name

NAMES = [
    ("node-017.dmesg.log", Origin(host="node-017")),
    ("logs/node-017.train.log", Origin(host="node-017")),
    ("rank-3.log", Origin(rank=3)),
    ("job-48211.node-017.log", Origin(job="48211", host="node-017")),
    ("nccl_trace_rank_node-017_3", Origin(host="node-017", rank=3)),
    ("comm_lib_trace_rank_12", Origin(rank=12)),
    ("slurm-48211.log", Origin()),
    ("dmesg-node-05.log", Origin(host="node-05")),
    ("node-05_dmesg.txt", Origin(host="node-05")),
    ("node-05.dmesg", Origin(host="node-05")),
    ("nvidia-smi-dgx01.txt", Origin(host="dgx01")),
    ("gpu-a12.nvidia-smi", Origin(host="gpu-a12")),
    ("journal.gpu-a12.json", Origin(host="gpu-a12")),
    ("journal-boot-1.log", Origin()),
    ("kern.log.1", Origin()),
    ("messages-20261102", Origin()),
    ("run-2-dmesg.log", Origin()),
    ("node-06.log", Origin(host="node-06", guessed=True)),
    ("dmesg2.log", Origin()),
    ("node-004/dmesg", Origin(host="node-004")),
    ("all/gpu-a12.cluster.local/var/log/messages", Origin(host="gpu-a12")),
    ("sosreport-node-004-2026-12-01-abcdefg/sos_commands/kernel/dmesg", Origin(host="node-004")),
    ("incident-7/dmesg", Origin()),
    ("gpu03/dmesg", Origin(host="gpu03")),
    ("gpu0/stderr", Origin()),
    ("node-004/train.log", Origin()),
    ("latin1.log", Origin()),
]


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst", ".zstd"])
@pytest.mark.parametrize(("name", "origin"), NAMES)
def test_a_name_tells_its_origin_compressed_or_not(name: str, suffix: str, origin: Origin):
    assert origin_from_name(name + suffix) == origin
