"""Parsers of the tools' outputs: text → values. A parser is one function and one line here.

Each raises `Unreadable` for output that lacks what the tool prints when it ends well, so that
garbage and half an output are never taken for a result.
"""

from collections.abc import Callable, Mapping

from diagnosis.checks.output import Ending, Output, Unreadable, Value
from diagnosis.checks.parsers import amd, host, network, nvidia

Parser = Callable[[str], list[Value]]

PARSERS: Mapping[str, Parser] = {
    "amd-smi": amd.amd_smi,
    "dcgmi-diag": nvidia.dcgmi_diag,
    "dmidecode": host.dmidecode,
    "fio": host.fio,
    "gpu-burn": nvidia.gpu_burn,
    "ib-write-bw": network.ib_write_bw,
    "ibstat": network.ibstat,
    "lspci": host.lspci,
    "nccl-tests": network.nccl_tests,
    "nvidia-smi": nvidia.nvidia_smi,
    "readings": host.readings,
    "rocm-smi": amd.rocm_smi,
    "rvs": amd.rvs,
    "stream": host.stream,
    "transferbench": amd.transferbench,
}


#: These print line by line and have no closing line: only their exit tells that they got to it.
NEED_SUCCESS = frozenset(
    {
        "amd-smi",
        "dmidecode",
        "fio",
        "ib-write-bw",
        "ibstat",
        "lspci",
        "nvidia-smi",
        "rocm-smi",
        "stream",
        "transferbench",
    }
)
_JSON = frozenset({"amd-smi", "dcgmi-diag", "fio", "rocm-smi"})
#: From here on a shell's exit code says that the command could not run, or which signal ended it.
_NOT_ENDED_ITSELF = 126


def read(parser: str, output: Output) -> list[Value]:
    """The values in an output. Raises `Unreadable` saying why there are none."""
    if output.ending == Ending.MISSING:
        raise Unreadable("the tool is not installed on the host")
    if output.ending == Ending.TIMED_OUT:
        raise Unreadable("the command ran into its time limit")
    if output.ending == Ending.LOST:
        raise Unreadable("the runner went away while the command ran")
    if parser not in PARSERS:
        raise Unreadable(f"there is no parser '{parser}'")
    code = output.exit_code or 0
    if code < 0 or code >= _NOT_ENDED_ITSELF or (code and parser in NEED_SUCCESS):
        raise Unreadable(f"the command ended with code {code}")
    ends = ("\n", "}", "]") if parser in _JSON else "\n"
    if output.stdout and not output.stdout.endswith(ends):
        raise Unreadable("the output breaks off in the middle of a line")
    values = PARSERS[parser](output.stdout)
    if not values:
        raise Unreadable("the output holds no value")
    return values
