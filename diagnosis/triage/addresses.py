"""Whose address it is, where a host's own log, which would tell, was not handed in."""

import ipaddress
import re
from collections.abc import Collection, Iterable, Mapping

from diagnosis.core.target import normalise_host

_IPV4 = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}")


def left_over(
    told: Mapping[str, str], peers: Iterable[str], hosts: Collection[str]
) -> Mapping[str, str]:
    """The one unknown address of the job and the one placed host whose address nothing tells.

    Empty where either is not the only one, or where the address is not of the network of the
    others': a host has addresses of its rails too, which the collective library does not print.
    """
    unknown = {peer for peer in peers if _IPV4.fullmatch(peer) and peer not in told}
    known = {normalise_host(host) for host in told.values()}
    silent = [host for host in hosts if normalise_host(host) not in known]
    if len(unknown) != 1 or len(silent) != 1 or len(known) < 2:
        return {}
    address = unknown.pop()
    same = any(_network(address) == _network(other) for other in told)
    return {address: silent[0]} if same else {}


def is_loopback(address: str) -> bool:
    """Is it each machine's own address for itself, which tells no machine from another?"""
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return address == "localhost"


def _network(address: str) -> str:
    return address.rsplit(".", 2)[0]
