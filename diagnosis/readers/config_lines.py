"""Readers of `env`, `/etc/os-release` and `uname -a`."""

import re

_SETTING = re.compile(r"(?:export )?(?P<name>[A-Za-z_]\w*)=(?P<value>.*)")

#: Variables that say how a job runs. The rest of an environment may hold secrets.
_OF_A_JOB = re.compile(
    r"(?:NCCL|RCCL|UCX|GLOO|TORCH|PYTORCH|CUDA|NVIDIA|HSA|HIP|ROCR|OMP|MKL|MPI|OMPI|PMIX|FI|SHARP|TF|"
    r"XLA|LD_LIBRARY_PATH|LD_PRELOAD|PYTHONPATH|MASTER_ADDR|MASTER_PORT|WORLD_SIZE)(?:_\w+)?$"
)
_SECRET = re.compile(r"TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|API_?KEY", re.IGNORECASE)
#: Variables that tell the host, and ones that differ on every host by nature.
_HOST = ("SLURMD_NODENAME", "NODE_NAME", "HOSTNAME")
_OWN = re.compile(r"(?:OMPI_COMM_WORLD|OMPI_MCA_orte|PMIX)_\w+$|CUDA_VISIBLE_DEVICES$")
_UNAME = re.compile(r"Linux (?P<host>\S+) (?P<release>\S+) (?P<rest>#.*)")


def read_env(text: str) -> dict[str, tuple[str, int]]:
    """`env.<NAME>` for the variables that matter to a job."""
    values: dict[str, tuple[str, int]] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        found = _SETTING.match(line)
        if found is None:
            continue
        name, value = found["name"], found["value"].strip("'\"")
        if name in _HOST:
            values.setdefault("host", (value, number))
        if _OF_A_JOB.match(name) and not _SECRET.search(name) and not _OWN.match(name):
            values[f"env.{name}"] = (value, number)
    return values


def read_os_release(text: str) -> dict[str, tuple[str, int]]:
    """`os` and `os_version`."""
    names = {"ID": "os", "VERSION_ID": "os_version", "PRETTY_NAME": "os_name"}
    values: dict[str, tuple[str, int]] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        found = _SETTING.match(line)
        if found is not None and found["name"] in names:
            values[names[found["name"]]] = (found["value"].strip("'\""), number)
    return values


def read_uname(text: str) -> dict[str, tuple[str, int]]:
    """`kernel` and `kernel_build`, and the host."""
    found = _UNAME.match(text)
    if found is None:
        return {}
    return {
        "host": (found["host"], 1),
        "kernel": (found["release"], 1),
        "kernel_build": (found["rest"].strip(), 1),
    }
