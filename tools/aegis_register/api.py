"""The calls to Aegis's REST API that register a job, its attempt and its placement."""

from __future__ import annotations

import argparse
import json
import os
import sys
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

#: One rank's place, as `placement.json` has it.
Place = dict[str, Any]
_SECONDS = 30


class RegistrationError(Exception):
    """What kept a job from being registered, for a person to read."""


@dataclass(frozen=True)
class Registration:
    """One attempt of a job as Aegis wants to know it.

    `job` holds `external_id`, `source` and, where known, `cluster`, `name`, `owner`. `attempt` is
    None where the server shall count; `key` then keeps two calls from making two attempts.
    `outcome` (completed, failed, cancelled) is given where it has ended. Times are ISO 8601 with
    their zone.
    """

    job: dict[str, Any]
    placement: list[Place] = field(default_factory=list)
    attempt: int | None = None
    started_at: str | None = None
    outcome: str | None = None
    ended_at: str | None = None
    key: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """What `--print` shows."""
        attempt = {
            "number": self.attempt,
            "started_at": self.started_at,
            "outcome": self.outcome,
            "ended_at": self.ended_at,
        }
        known = {name: value for name, value in attempt.items() if value is not None}
        return {"job": self.job, "attempt": known, "placement": self.placement}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options that every script has."""
    parser.add_argument(
        "--url",
        default=os.environ.get("AEGIS_URL", ""),
        help="where Aegis is, http://aegis.example:8000 (or AEGIS_URL)",
    )
    parser.add_argument(
        "--token-file",
        type=Path,
        help="file with the API token (or AEGIS_TOKEN) of scopes read and register_jobs",
    )
    parser.add_argument("--cluster", default="", help="the cluster's name in Aegis")
    parser.add_argument(
        "--print", action="store_true", help="print what would be sent, and send nothing"
    )


def run(arguments: argparse.Namespace, registrations: list[Registration]) -> int:
    """Print or send. Returns the exit code."""
    if arguments.print:
        for one in registrations:
            sys.stdout.write(json.dumps(one.to_dict(), indent=1) + "\n")
        return 0
    server = Server(arguments.url, _token(arguments.token_file))
    for one in registrations:
        address = server.register(one)
        ranks = f"{len(one.placement)} ranks"
        sys.stdout.write(f"{one.job['external_id']}: {ranks} registered as {address}\n")
    return 0


def _token(file: Path | None) -> str:
    token = file.read_text().strip() if file else os.environ.get("AEGIS_TOKEN", "").strip()
    if not token:
        raise RegistrationError("no API token: set AEGIS_TOKEN or give --token-file")
    return token


class Server:
    """Aegis's REST API."""

    def __init__(self, url: str, token: str) -> None:
        if not url.startswith(("http://", "https://")):
            raise RegistrationError("no address of Aegis: set AEGIS_URL or give --url")
        self._base = url.rstrip("/") + "/api/v1/"
        self._token = token

    def register(self, one: Registration) -> str:
        """The attempt's address. Registering the same attempt again replaces its placement."""
        job, _ = self._call("POST", "jobs", one.job)
        attempts = f"jobs/{job['id']}/attempts"
        known = self._call("GET", attempts)[0]["results"] if one.attempt is not None else []
        attempt = next((a for a in known if a["number"] == one.attempt), None)
        if attempt is None:
            given = {"number": one.attempt, "started_at": one.started_at}
            known_of_it = {name: value for name, value in given.items() if value is not None}
            body = {**known_of_it, "placement": one.placement}
            attempt, _ = self._call("POST", attempts, body, _idempotency(one))
        elif one.placement:
            self._call("PUT", f"attempts/{attempt['id']}/placement", one.placement)
        if one.outcome is not None and attempt["ended_at"] is None:
            self._end(attempt["id"], one)
        return f"{self._base}attempts/{attempt['id']}"

    def _end(self, attempt: int, one: Registration) -> None:
        _, etag = self._call("GET", f"attempts/{attempt}")
        given = {"outcome": one.outcome, "ended_at": one.ended_at}
        body = {name: value for name, value in given.items() if value is not None}
        self._call("PATCH", f"attempts/{attempt}", body, {"If-Match": etag})

    def _call(
        self, method: str, path: str, body: object = None, more: dict[str, str] | None = None
    ) -> tuple[Any, str]:
        """The answer's JSON and its ETag. Raises `RegistrationError` with the server's words."""
        headers = {"Authorization": f"Bearer {self._token}", "Accept": "application/json"}
        headers["Content-Type"] = "application/json"
        request = urllib.request.Request(  # noqa: S310 - the scheme was checked
            self._base + path,
            data=None if body is None else json.dumps(body).encode(),
            headers={**headers, **(more or {})},
            method=method,
        )
        try:
            with urllib.request.urlopen(request, timeout=_SECONDS) as answer:  # noqa: S310
                return json.load(answer), answer.headers.get("ETag", "")
        except urllib.error.HTTPError as error:
            with error:
                said = error.read(2000).decode("utf-8", "replace")
            raise RegistrationError(f"{method} {path}: HTTP {error.code}: {said}") from error
        except (OSError, ValueError) as error:
            raise RegistrationError(f"{method} {self._base}{path}: {error}") from error


def _idempotency(one: Registration) -> dict[str, str]:
    return {"Idempotency-Key": one.key} if one.key else {}
