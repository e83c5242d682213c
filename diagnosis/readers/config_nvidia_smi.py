"""Reader of `nvidia-smi -q`: versions, counts and modes that should be alike on all hosts."""

import re

_FIELD = re.compile(r"^(?P<indent>\s*)(?P<name>[^\s:][^:]*)(?::\s(?P<value>.*))?$")
_GPU = re.compile(r"^GPU [0-9A-Fa-f]{4,8}:[0-9A-Fa-f:.]+\s*$")

#: Field of a GPU → our name. Clocks, temperatures, serial numbers and counters differ by nature.
_OF_A_GPU = {
    "Product Name": "name",
    "VBIOS Version": "vbios",
    "Persistence Mode": "persistence",
    "ECC Mode / Current": "ecc",
    "MIG Mode / Current": "mig",
    "Compute Mode": "compute_mode",
    "PCIe Generation / Max": "pcie_gen_max",
    "PCIe Generation / Host Max": "pcie_gen_host_max",
    "Link Width / Max": "pcie_width_max",
    "Link Width / Current": "pcie_width",
    "Fabric / State": "fabric_state",
    "Fabric / Status": "fabric_status",
    "GSP Firmware Version": "gsp",
}
_OF_THE_HOST = {"Driver Version": "driver", "CUDA Version": "cuda", "Attached GPUs": "gpus"}


def read_nvidia_smi(text: str) -> dict[str, tuple[str, int]]:
    """`driver`, `cuda`, `gpus`, and `gpu<i>.<field>` for every GPU in the order of the output."""
    values: dict[str, tuple[str, int]] = {}
    gpu, parents = -1, list[tuple[int, str]]()
    for number, line in enumerate(text.splitlines(), start=1):
        if _GPU.match(line):
            gpu, parents = gpu + 1, []
            continue
        found = _FIELD.match(line)
        if found is None:
            continue
        indent, name = len(found["indent"]), found["name"].strip()
        parents = [parent for parent in parents if parent[0] < indent]
        if found["value"] is None:
            parents.append((indent, name))
            continue
        value = found["value"].strip()
        if gpu < 0 and name in _OF_THE_HOST:
            values[_OF_THE_HOST[name]] = (value, number)
        known = _known(name, parents)
        if gpu >= 0 and known is not None:
            values[f"gpu{gpu}.{known}"] = (value, number)
    return values


def _known(name: str, parents: list[tuple[int, str]]) -> str | None:
    if not parents:
        return _OF_A_GPU.get(name)
    return _OF_A_GPU.get(f"{parents[-1][1]} / {name}") or (_OF_A_GPU.get(name))
