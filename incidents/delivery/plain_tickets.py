"""Any ticket system that takes JSON over HTTP; the options say where, and what its answers mean.

The lookup goes along as `external_id` and as `Idempotency-Key`.
"""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

import jmespath

from incidents.delivery.ticket_client import RemoteTicket, TicketClient, TicketRefused, part


class PlainTickets:
    """Tickets below one address: POST opens one, `find` asks by our id, `notes` takes notes."""

    def __init__(self, client: TicketClient) -> None:
        self._client, self._options = client, client.options

    def check(self) -> None:
        self.find("aegis-test")

    def find(self, lookup: str) -> RemoteTicket | None:
        try:
            found = self._client.call("GET", self._at("find", lookup=lookup))
        except TicketRefused as refused:
            if refused.answer.status == HTTPStatus.NOT_FOUND:
                return None
            raise
        one = found[0] if isinstance(found, list) and found else found
        return self._ticket(one) if one else None

    def open(self, *, lookup: str, title: str, text: str, severity: str) -> RemoteTicket:
        body = {
            "external_id": lookup,
            "title": title,
            "text": text,
            "severity": severity,
            **self._options["fields"],
        }
        return self._ticket(self._client.call("POST", "", body, {"Idempotency-Key": lookup}))

    def tell(self, ticket: RemoteTicket, *, note: str, mark: str, status: str) -> str:
        body = {"text": note, "status": status or None}
        path, key = self._at("notes", key=ticket.key), {"Idempotency-Key": mark.strip("[]")[6:]}
        self._client.call("POST", path, body, key)
        return status

    def ask(self, tickets: Sequence[RemoteTicket]) -> Sequence[RemoteTicket]:
        found: list[RemoteTicket] = []
        for one in tickets:
            try:
                found.append(self._ticket(self._client.call("GET", self._at("one", key=one.key))))
            except TicketRefused as refused:
                if refused.answer.status not in {HTTPStatus.NOT_FOUND, HTTPStatus.GONE}:
                    raise
        return found

    def _at(self, option: str, **names: str) -> str:
        path = str(self._options[option])
        for name, value in names.items():
            path = path.replace(f"{{{name}}}", part(value))
        return path

    def _ticket(self, data: Any) -> RemoteTicket:
        key = self._read("key", data)
        return RemoteTicket(key, key, self._read("link", data), self._read("status", data))

    def _read(self, option: str, data: Any) -> str:
        found = jmespath.search(self._options[option], data)
        return "" if found is None else str(found)
