"""The commands that a recommendation comes down to, as text for a person to run.

Aegis recommends; nothing here executes anything.
"""

import shlex
from collections.abc import Mapping

from incidents.choices import Action


def commands_for(action: str, *, host: str, reference: str) -> Mapping[str, str]:
    """Scheduler → command line that carries the action out on `host`; empty where there is none."""
    if action != Action.ISOLATE_HOST or not host:
        return {}
    return {"slurm": drain_slurm(host, reference), "kubernetes": cordon_kubernetes(host)}


def drain_slurm(host: str, reference: str) -> str:
    """Slurm: no new work on the node, what runs may end (scontrol(1), `State=DRAIN`)."""
    node, reason = shlex.quote(f"nodename={host}"), shlex.quote(f"reason={reference}")
    return f"scontrol update {node} state=drain {reason}"


def cordon_kubernetes(host: str) -> str:
    """Kubernetes: no new pods on the node."""
    return f"kubectl cordon -- {shlex.quote(host)}"
