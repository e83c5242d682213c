"""NCCL's own lines (NCCL_DEBUG=INFO): initialisation, and what transports say when they break.

INFO: `host:pid:tid [cudaDev] NCCL INFO msg`; WARN: a blank line, then the same with its source.
(NCCL src/debug.cc; forms of NCCL 2.20 to 2.28.)
"""

from collections.abc import Iterator

from diagnosis.simulator.cluster import Nic
from diagnosis.simulator.job import Job
from diagnosis.simulator.story import Line


def initialisation(job: Job, rank: int) -> Iterator[Line]:
    """The lines of the default group's communicator as it comes up."""
    cluster, host = job.cluster, job.cluster.host_of(rank)
    local, pid = cluster.local_rank(rank), cluster.pid_of(rank)
    own = job.rng("comm", rank)
    comm = f"{0x55D0_0000_0000 + 64 * int(own.integers(2**26)):#x}"
    bus = host.gpus[local].pci.split(":")[1].lstrip("0") + "000"
    commid = f"{int(job.rng('commid').integers(2**62)):#x}"
    nics = " ".join(f"[{n}]{nic.name}:1/RoCE" for n, nic in enumerate(host.nics))
    main, worker = prefix(job, rank, pid), prefix(job, rank)
    where = (
        f"comm {comm} rank {rank} nranks {job.world} cudaDev {local} nvmlDev {local} busId {bus}"
    )
    if rank == 0:
        yield Line(-6.30, f"{main} NCCL INFO Bootstrap: Using eth0:{host.address}<0>")
        yield Line(-6.29, f"{main} NCCL INFO cudaDriverVersion 12080")
        yield Line(-6.28, f"NCCL version {job.release.nccl}+cuda12.8")
    yield Line(-5.8, f"{worker} NCCL INFO NET/IB : Using {nics} [RO]; OOB eth0:{host.address}<0>")
    yield Line(-5.7, f"{worker} NCCL INFO Using network IB")
    yield Line(-5.6, f"{worker} NCCL INFO {where} commId {commid} - Init START")
    yield Line(
        -3.2,
        f"{worker} NCCL INFO 16 coll channels, 16 collnet channels, 0 nvls channels, "
        "16 p2p channels, 16 p2p channels per peer",
    )
    yield Line(-3.1, f"{worker} NCCL INFO {where} commId {commid} - Init COMPLETE")


def prefix(job: Job, rank: int, tid: int | None = None) -> str:
    """`host:pid:tid [cudaDev]`; without a tid the group's helper thread."""
    pid = job.cluster.pid_of(rank)
    thread = pid + 1200 + 8 * job.cluster.local_rank(rank) if tid is None else tid
    return f"{job.cluster.host_of(rank).name}:{pid}:{thread} [{job.cluster.local_rank(rank)}]"


def info(job: Job, rank: int, at: float, text: str) -> Line:
    return Line(at, f"{prefix(job, rank)} NCCL INFO {text}")


def warn(job: Job, rank: int, at: float, source: str, text: str) -> Line:
    return Line(at, f"\n{prefix(job, rank)} {source} NCCL WARN {text}")


def port_error(job: Job, rank: int, at: float, nic: Nic) -> Line:
    """The asynchronous event that NCCL's thread reports on the host whose port went down."""
    text = f"NET/IB : {nic.name}:1 Got non-fatal async event: port error(10)"
    return warn(job, rank, at, "transport/net_ib.cc:179", text)


def completion_error(
    job: Job, rank: int, at: float, *, peer: int, status: int, direction: str
) -> tuple[Line, ...]:
    """A failed work request on this rank towards a peer; 12 is a retry exceeded, 5 a flush."""
    nic, far = job.cluster.nic_of(rank), job.cluster.host_of(peer)
    port = 32_768 + int(job.rng("port", rank, peer).integers(28_000))
    vendor = 129 if status == 12 else 249
    opcode, length = (129, 1_048_576) if status == 12 else (32_552, 32_549)
    text = (
        f"NET/IB: Got completion from peer {far.address}<{port}> with status={status} "
        f"opcode={opcode} len={length} vendor err {vendor} ({direction}) "
        f"localGid ::ffff:{_rail(job, rank)} remoteGids::ffff:{_rail(job, peer)} hca {nic.name}"
    )
    return (
        warn(job, rank, at, "transport/net_ib.cc:2244", text),
        info(job, rank, at + 1e-5, "transport/net.cc:1362 -> 6"),
        info(job, rank, at + 2e-5, "proxy.cc:726 -> 6"),
        info(job, rank, at + 3e-5, "proxy.cc:910 -> 6 [Progress Thread]"),
    )


def connection_reset(job: Job, rank: int, at: float, peer: int) -> tuple[tuple[Line, ...], str]:
    """What a rank says whose connection to a peer broke, and the error that it remembers."""
    port = 32_768 + int(job.rng("port", rank, peer).integers(28_000))
    address = job.cluster.host_of(peer).address
    text = (
        f"socketProgressOpt: Call to recv from {address}<{port}> failed : Connection reset by peer"
    )
    lines = (
        warn(job, rank, at - 0.02, "misc/socket.cc:68", text),
        info(job, rank, at - 0.0199, "misc/socket.cc:776 -> 6"),
        info(job, rank, at - 0.0198, "transport/net_socket.cc:505 -> 6"),
        info(job, rank, at - 0.0197, "proxy.cc:910 -> 6 [Progress Thread]"),
    )
    return lines, text


def _rail(job: Job, rank: int) -> str:
    """The address of the rank's NIC in its rail's subnet."""
    octets = job.cluster.host_of(rank).address.split(".")
    return f"10.{100 + job.cluster.local_rank(rank)}.{octets[2]}.{octets[3]}"
