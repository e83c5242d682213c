"""Schemathesis over the whole document, by every role: no 5xx, no answer that is not described.

`python -m tests.fuzz.campaign [--examples N]` runs it long, on a fresh database, and ends with one
JSON line: cases, server_errors, undocumented.
"""

import argparse
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any

import hypothesis
import schemathesis
from hypothesis import HealthCheck, Phase
from schemathesis import GenerationMode
from schemathesis.core.failures import FailureGroup
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

#: Addresses whose writes would end the campaign's own access.
_SPARED = {("DELETE", "/api/v1/tokens/{id}")}
_CHECKS = (
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
)


@dataclass
class Findings:
    """What a campaign saw."""

    cases: int = 0
    server_errors: Counter[str] = field(default_factory=Counter)
    undocumented: Counter[str] = field(default_factory=Counter)

    def summary(self) -> str:
        """One line of JSON."""
        return json.dumps(
            {
                "cases": self.cases,
                "server_errors": self.server_errors.total(),
                "undocumented": self.undocumented.total(),
            }
        )

    def told(self) -> str:
        """What went wrong, the most frequent first; empty where nothing did."""
        rows = [*self.server_errors.most_common(), *self.undocumented.most_common()]
        return "\n".join(f"{count} × {text}" for text, count in rows)


def campaign(app: Any, tokens: Mapping[str, str], *, examples: int, seed: int = 1) -> Findings:
    """Sends `examples` calls of each operation, valid and invalid, once as everyone."""
    found = Findings()
    schema = schemathesis.openapi.from_wsgi("/api/v1/schema", app, headers=_headers(tokens))
    for operation in operations(schema):
        _try(operation, tokens, found, examples=examples, seed=seed)
    return found


def brief(app: Any, tokens: Mapping[str, str], *, seed: int = 1) -> Findings:
    """One call of each operation, the roles taking turns."""
    found = Findings()
    schema = schemathesis.openapi.from_wsgi("/api/v1/schema", app, headers=_headers(tokens))
    for operation, role in zip(operations(schema), cycle(tokens)):
        _try(operation, {role: tokens[role]}, found, examples=1, seed=seed)
    return found


def operations(schema: Any) -> Iterator[Any]:
    """Every operation of the document but those that would end the campaign."""
    for one in schema.get_all_operations():
        operation = one.ok()
        if (operation.method.upper(), operation.path) not in _SPARED:
            yield operation


def _headers(tokens: Mapping[str, str]) -> dict[str, str]:
    return {"Authorization": f"Bearer {next(iter(tokens.values()))}"}


def _try(
    operation: Any, tokens: Mapping[str, str], found: Findings, *, examples: int, seed: int
) -> None:
    strategy = operation.as_strategy(
        generation_mode=GenerationMode.POSITIVE
    ) | operation.as_strategy(generation_mode=GenerationMode.NEGATIVE)

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @hypothesis.given(case=strategy)
    def one_operation(case: Any) -> None:
        for role, token in tokens.items():
            _call(case, role, token, found)

    one_operation()


def _call(case: Any, role: str, token: str, found: Findings) -> None:
    answer = case.call(headers={"Authorization": f"Bearer {token}"})
    found.cases += 1
    operation = case.operation
    where = f"{role}: {operation.method.upper()} {operation.path} → {answer.status_code}"
    if answer.status_code >= 500:
        found.server_errors[where] += 1
    for check in _CHECKS:
        try:
            case.validate_response(answer, checks=[check])
        except FailureGroup as group:
            lines = str(group.exceptions[0]).splitlines()
            told = " ".join(line.strip() for line in lines[:3] if line.strip())
            found.undocumented[f"{where}: {told}"] += 1


def _long(examples: int) -> int:
    """A campaign in this process: on the database that the environment names."""
    import django  # noqa: PLC0415 - settings are needed first

    django.setup()
    from django.core.management import call_command  # noqa: PLC0415
    from django.test.utils import setup_test_environment, teardown_test_environment  # noqa: PLC0415

    from aegis_web.wsgi import application  # noqa: PLC0415
    from tests.fuzz.world import tokens_of_every_role  # noqa: PLC0415

    setup_test_environment()
    call_command("migrate", verbosity=0, interactive=False)
    found = campaign(application, tokens_of_every_role(), examples=examples)
    teardown_test_environment()
    if found.told():
        sys.stdout.write(found.told() + "\n")
    sys.stdout.write(found.summary() + "\n")
    return 1 if found.told() else 0


def main() -> int:
    """Runs the long campaign in a data folder of its own."""
    import tempfile  # noqa: PLC0415

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=10, help="for each operation and role")
    arguments = parser.parse_args()
    if "AEGIS_FUZZ_INSIDE" in os.environ:
        return _long(arguments.examples)
    with tempfile.TemporaryDirectory() as folder:
        inside = {**os.environ, "AEGIS_DATA_DIR": folder, "AEGIS_FUZZ_INSIDE": "1"}
        inside.setdefault("DJANGO_SETTINGS_MODULE", "aegis_web.settings")
        inside["AEGIS_LOG_LEVEL"] = "CRITICAL"
        command = [sys.executable, "-m", "tests.fuzz.campaign", *sys.argv[1:]]
        return subprocess.run(command, env=inside, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
