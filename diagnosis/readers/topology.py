"""Reader of `topology.json` (docs/contract.md)."""

from collections.abc import Mapping

import orjson

from diagnosis.core.target import normalise_host
from diagnosis.core.topology import Cable, HostWiring, Topology
from diagnosis.readers.errors import UnreadableEvidence


def read_topology(content: bytes) -> Topology:
    """The topology in `{"hosts": [{"name", "pod", "tor", "rails"?}], "links"?: [{"a", "b"}]}`.

    Raises `UnreadableEvidence` naming the row that is wrong; a host may stand in one row only.
    """
    try:
        document = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise UnreadableEvidence(f"topology is not JSON: {error}") from error
    if not isinstance(document, dict):
        raise UnreadableEvidence("topology must be a JSON object with 'hosts'")
    hosts = tuple(_host(number, row) for number, row in enumerate(_rows(document, "hosts")))
    names = [normalise_host(host.name) for host in hosts]
    if len(set(names)) < len(names):
        raise UnreadableEvidence("topology names a host twice")
    cables = tuple(_cable(number, row) for number, row in enumerate(_rows(document, "links")))
    return Topology(hosts, cables)


def _rows(document: Mapping[str, object], name: str) -> list[object]:
    rows = document.get(name, [])
    if not isinstance(rows, list):
        raise UnreadableEvidence(f"topology: '{name}' must be a list")
    return rows


def _host(number: int, row: object) -> HostWiring:
    where = f"topology host {number}"
    if not isinstance(row, Mapping):
        raise UnreadableEvidence(f"{where} is not an object")
    name, pod = row.get("name"), row.get("pod")
    if not isinstance(name, str) or not name.strip():
        raise UnreadableEvidence(f"{where}: 'name' must be a name")
    tors = row.get("tor") or []
    tors = [tors] if isinstance(tors, str) else tors
    rails = row.get("rails") or {}
    if not isinstance(tors, list) or not all(isinstance(tor, str) for tor in tors):
        raise UnreadableEvidence(f"{where}: 'tor' must be a list of names")
    if not isinstance(rails, Mapping) or not all(isinstance(tor, str) for tor in rails.values()):
        raise UnreadableEvidence(f"{where}: 'rails' must map NICs to ToR names")
    if pod is not None and not isinstance(pod, str | int):
        raise UnreadableEvidence(f"{where}: 'pod' must be a name")
    every = dict.fromkeys([*tors, *rails.values()])
    return HostWiring(name, None if pod is None else str(pod), tuple(every), dict(rails))


def _cable(number: int, row: object) -> Cable:
    ends = (row.get("a"), row.get("b")) if isinstance(row, Mapping) else (None, None)
    a, b = ends
    if not isinstance(a, str) or not isinstance(b, str):
        raise UnreadableEvidence(f"topology link {number}: 'a' and 'b' must be names")
    return Cable(a, b)
