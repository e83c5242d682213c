"""Where a message may go: a host is looked up once, judged, and connected to by that address.

Aegis stands inside a cluster's network, so a webhook to a private address would reach what its
owner may not (server-side request forgery). Private addresses are refused unless an operator of
the machine allows their network; the name is never looked up a second time (DNS rebinding).
"""

import ipaddress
import socket
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from incidents.exceptions import DestinationRefused

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_PORTS = {"http": 80, "https": 443}
#: IPv6 forms that carry an IPv4 address (RFC 6052, RFC 3056): judged as what they carry.
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


class UnresolvedError(OSError):
    """The host's name leads nowhere at the moment."""


@dataclass(frozen=True, slots=True)
class Destination:
    """A checked place: `address` is what is connected to, `host` what is asked and certified."""

    scheme: str
    host: str
    port: int
    target: str
    address: str

    @property
    def authority(self) -> str:
        """The Host header's value."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"


def checked_url(url: str) -> SplitResult:
    """The parts of an address that a message could go to. Raises `DestinationRefused`."""
    try:
        parts = urlsplit(url.strip())
        port = parts.port
    except ValueError as error:
        raise DestinationRefused(f"{url[:200]} is not an address.") from error
    if parts.scheme not in _PORTS or not parts.hostname or port == 0:
        raise DestinationRefused("Give an address that begins with https:// or http://.")
    if parts.username is not None or parts.password is not None or parts.fragment:
        raise DestinationRefused("The address must hold neither a user nor a fragment (#).")
    if any(ord(letter) <= 32 or ord(letter) == 127 for letter in url.strip()):
        raise DestinationRefused("The address holds a space or a control character.")
    return parts


def sendable_url(url: str, *, allowed: Sequence[Network]) -> str:
    """An address as it may be kept: delivery would go there by what is known now.

    A name that leads nowhere at the moment is kept; delivery judges it again. Raises
    `DestinationRefused`.
    """
    with suppress(UnresolvedError):
        destination_of(url, allowed=allowed)
    return url.strip()


def destination_of(url: str, *, allowed: Sequence[Network]) -> Destination:
    """Looks the host up and picks its first address that may be connected to.

    Raises `UnresolvedError`, and `DestinationRefused` where no address may be.
    """
    parts = checked_url(url)
    host, port = parts.hostname or "", parts.port or _PORTS[parts.scheme]
    found = _looked_up(host, port)
    may = [one for one in found if _may(one, parts.scheme, allowed)]
    if not may:
        raise DestinationRefused(_refusal(host, found[0], parts.scheme))
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Destination(parts.scheme, host, port, target, str(may[0]))


def networks(texts: Sequence[str]) -> list[Network]:
    """Networks in CIDR notation, or single addresses. Raises `ValueError`."""
    return [ipaddress.ip_network(text.strip(), strict=False) for text in texts if text.strip()]


def _looked_up(host: str, port: int) -> list[Address]:
    try:
        answers = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise UnresolvedError(f"{host} cannot be resolved: {error}") from error
    texts = dict.fromkeys(str(answer[4][0]).partition("%")[0] for answer in answers)
    if not texts:
        raise UnresolvedError(f"{host} has no address.")
    return [ipaddress.ip_address(text) for text in texts]


def _may(address: Address, scheme: str, allowed: Sequence[Network]) -> bool:
    plain = carried(address)
    if any(plain.version == network.version and plain in network for network in allowed):
        return True
    return scheme == "https" and plain.is_global and not plain.is_multicast


def carried(address: Address) -> Address:
    """The IPv4 address that an IPv6 one stands for, else the address itself."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or address


def _refusal(host: str, address: Address, scheme: str) -> str:
    if scheme == "http" and carried(address).is_global:
        return f"{host} is outside of the allowed networks: only https:// goes there."
    return (
        f"{host} is at the private address {address}; whoever runs this instance can allow it "
        "with AEGIS_WEBHOOK_NETWORKS."
    )
