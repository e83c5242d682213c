"""A row of the taxonomy to change in tests."""


def row(**changes: object) -> dict[str, object]:
    """A valid row, with fields changed; a field set to None is left out."""
    fields: dict[str, object] = {
        "code": "test-fault",
        "title": "Test fault",
        "component": "gpu",
        "class": "critical",
        "severity": "high",
        "stream": "kernel",
        "pattern": r"TESTFAULT (?P<pci>[0-9a-f:.]+)",
        "examples": ["TESTFAULT 0000:9b:00"],
        "implicates": "gpu",
        "action": "isolate-host",
        "priority": 50,
    }
    fields.update(changes)
    return {name: value for name, value in fields.items() if value is not None}
