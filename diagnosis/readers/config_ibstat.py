"""Reader of `ibstat`: firmware, state and rate of every channel adapter and port."""

import re

_ADAPTER = re.compile(r"^CA '(?P<name>[\w.-]+)'")
_PORT = re.compile(r"^\s+Port (?P<number>\d+):\s*$")
_FIELD = re.compile(r"^\s+(?P<name>[^\s:][^:]*):(?P<value>.*)$")
_OF_AN_ADAPTER = {"CA type": "type", "Firmware version": "firmware", "Hardware version": "hardware"}
_OF_A_PORT = {
    "State": "state",
    "Physical state": "physical_state",
    "Rate": "rate",
    "Link layer": "link_layer",
}


def read_ibstat(text: str) -> dict[str, tuple[str, int]]:
    """`<device>.<field>` and `<device>/<port>.<field>`; addresses differ by nature."""
    values: dict[str, tuple[str, int]] = {}
    adapter, port = "", ""
    for number, line in enumerate(text.splitlines(), start=1):
        if found := _ADAPTER.match(line):
            adapter, port = found["name"], ""
        elif found := _PORT.match(line):
            port = found["number"]
        elif found := _FIELD.match(line):
            names = _OF_A_PORT if port else _OF_AN_ADAPTER
            if found["name"] in names:
                device = f"{adapter}/{port}" if port else adapter
                values[f"{device}.{names[found['name']]}"] = (found["value"].strip(), number)
    return values
