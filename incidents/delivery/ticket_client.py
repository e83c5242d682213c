"""Calls of a ticket system: guarded like webhooks, with its account, within one time budget."""

import time
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import quote

import orjson
from django.conf import settings

from incidents.delivery.address import destination_of
from incidents.delivery.http import ANSWER_BYTES, Answer, UnreachableError, request
from incidents.models import TicketConnector
from incidents.sealing import unseal
from incidents.ticket_kinds import options_of

#: How long the system has to answer one call, and everything that one message asks of it.
CALL_SECONDS, BUDGET_SECONDS = 15.0, 40.0
#: The longest answer that is read.
_MOST_BYTES = 4_000_000


@dataclass(frozen=True, slots=True)
class RemoteNote:
    """What someone wrote there. Cursors of one ticket ascend."""

    cursor: str
    author: str
    text: str


@dataclass(frozen=True, slots=True)
class RemoteTicket:
    """A ticket as its system knows it."""

    key: str
    remote_id: str
    url: str
    status: str
    notes: Sequence[RemoteNote] = ()


class TicketRefused(Exception):  # noqa: N818 - an answer, not a fault of ours
    """The system answered something else than success. `answer` is what it said."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(f"HTTP {answer.status}")
        self.answer = answer


class TicketSystem(Protocol):
    """What Aegis asks of every ticket system. `ticket` is what it was opened as."""

    def check(self) -> None:
        """Asks something harmless that needs the account and the place for tickets."""

    def find(self, lookup: str) -> RemoteTicket | None:
        """The ticket that was opened with this text, if there is one."""

    def open(self, *, lookup: str, title: str, text: str, severity: str) -> RemoteTicket:
        """A new ticket that `find` finds."""

    def tell(self, ticket: RemoteTicket, *, note: str, mark: str, status: str) -> str:
        """Adds a note unless one with the mark is there, and moves the ticket where `status` says.

        Returns the status that the ticket has then, where it was moved.
        """

    def ask(self, tickets: Sequence[RemoteTicket]) -> Sequence[RemoteTicket]:
        """The same tickets as they are now, with their notes; those that are gone are left out."""


class TicketClient:
    """One connector's calls. `last` is the last answer, `address` where it came from."""

    def __init__(self, connector: TicketConnector) -> None:
        self.url = connector.url.rstrip("/")
        self.options = options_of(connector.kind, connector.options)
        self.last: Answer | None = None
        self.address = ""
        self._authorization = _authorization(connector)
        self._ends = time.monotonic() + BUDGET_SECONDS

    def call(
        self, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None
    ) -> Any:
        """The JSON of a successful answer, None where it has no body.

        Raises `TicketRefused`, `UnreachableError`, `UnresolvedError`, `DestinationRefused`.
        """
        left = self._ends - time.monotonic()
        if left <= 0:
            raise UnreachableError(f"Not done within {BUDGET_SECONDS:g} seconds.")
        place = destination_of(self.url + path, allowed=settings.WEBHOOK_NETWORKS)
        self.address = place.address
        given = {
            "Accept": "application/json",
            "Authorization": self._authorization,
            "User-Agent": "Aegis-Tickets/1",
            **(headers or {}),
        }
        if body is not None:
            given["Content-Type"] = "application/json"
        answer = request(
            method,
            place,
            body=b"" if body is None else orjson.dumps(body),
            headers=given,
            seconds=min(CALL_SECONDS, left),
            answer_bytes=_MOST_BYTES,
        )
        self.last = Answer(answer.status, answer.headers, answer.text[:ANSWER_BYTES])
        if not answer.is_success:
            raise TicketRefused(self.last)
        return _read(answer)


def part(text: str) -> str:
    """A text as one part of an address."""
    return quote(text, safe="")


def _read(answer: Answer) -> Any:
    if not answer.text.strip():
        return None
    try:
        return orjson.loads(answer.text)
    except orjson.JSONDecodeError as error:
        raise UnreachableError(f"HTTP {answer.status}, but its body is no JSON.") from error


def _authorization(connector: TicketConnector) -> str:
    secret = unseal(connector.secret)
    if not connector.account:
        return f"Bearer {secret}"
    return f"Basic {b64encode(f'{connector.account}:{secret}'.encode()).decode()}"
