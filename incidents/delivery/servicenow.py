"""ServiceNow by its Table API, `/api/now/table/incident`. The lookup is the `correlation_id`.

Notes go to `work_notes`; what others wrote is read from `sys_journal_field`.
"""

from collections.abc import Sequence
from typing import Any

from incidents.delivery.ticket_client import RemoteNote, RemoteTicket, TicketClient, part

_FIELDS = "sys_id,number,state"
_AT_ONCE = 50
_IMPACTS = {"critical": "1", "high": "1", "medium": "2", "low": "3", "info": "3"}
_URGENCIES = {"critical": "1", "high": "2", "medium": "2", "low": "3", "info": "3"}
_RESOLVED = "6"
_NOTES = "element_id,element,value,sys_created_on,sys_created_by,sys_id"


class ServiceNow:
    """The incident table of an instance, or the one that the options name."""

    def __init__(self, client: TicketClient) -> None:
        self._client, self._options = client, client.options
        self._table = f"/api/now/table/{part(client.options['table'])}"

    def check(self) -> None:
        self._client.call("GET", f"{self._table}?sysparm_limit=1&sysparm_fields=sys_id")

    def find(self, lookup: str) -> RemoteTicket | None:
        rows = self._rows(self._table, f"correlation_id={lookup}", fields=_FIELDS, most=1)
        return self._ticket(rows[0]) if rows else None

    def open(self, *, lookup: str, title: str, text: str, severity: str) -> RemoteTicket:
        record = {
            "short_description": " ".join(title.split())[:160],
            "description": text,
            "correlation_id": lookup,
            "correlation_display": "Aegis",
            "impact": _IMPACTS[severity],
            "urgency": _URGENCIES[severity],
            **self._options["fields"],
        }
        made = self._client.call("POST", f"{self._table}?sysparm_fields={_FIELDS}", record)
        return self._ticket(made["result"])

    def tell(self, ticket: RemoteTicket, *, note: str, mark: str, status: str) -> str:
        change: dict[str, str] = {}
        if not self._has_note(ticket, mark):
            change["work_notes"] = note
        if status and status != ticket.status:
            change["state"] = status
        if change.get("state") == _RESOLVED:
            change["close_code"] = self._options["close_code"]
            change["close_notes"] = note
        if change:
            one = f"{self._table}/{part(ticket.remote_id)}?sysparm_fields={_FIELDS}"
            self._client.call("PATCH", one, change)
        return change.get("state", "")

    def ask(self, tickets: Sequence[RemoteTicket]) -> Sequence[RemoteTicket]:
        found: list[RemoteTicket] = []
        for start in range(0, len(tickets), _AT_ONCE):
            ids = ",".join(one.remote_id for one in tickets[start : start + _AT_ONCE])
            rows = self._rows(self._table, f"sys_idIN{ids}", fields=_FIELDS, most=_AT_ONCE)
            notes = self._notes(f"element_idIN{ids}^elementINwork_notes,comments")
            found += [self._ticket(row, notes) for row in rows]
        return found

    def _has_note(self, ticket: RemoteTicket, mark: str) -> bool:
        asked = f"element_id={ticket.remote_id}^element=work_notes^valueLIKE{mark}"
        return bool(self._notes(asked))

    def _notes(self, asked: str) -> list[Any]:
        table = "/api/now/table/sys_journal_field"
        return self._rows(table, f"{asked}^ORDERBYsys_created_on", fields=_NOTES, most=500)

    def _rows(self, table: str, asked: str, *, fields: str, most: int) -> list[Any]:
        query = f"sysparm_query={part(asked)}&sysparm_limit={most}&sysparm_fields={fields}"
        return list(self._client.call("GET", f"{table}?{query}")["result"])

    def _ticket(self, row: Any, notes: Sequence[Any] = ()) -> RemoteTicket:
        number, sys_id = str(row["number"]), str(row["sys_id"])
        target = part(f"{self._options['table']}.do?sys_id={sys_id}")
        return RemoteTicket(
            key=number,
            remote_id=sys_id,
            url=f"{self._client.url}/nav_to.do?uri={target}",
            status=str(row.get("state", "")),
            notes=[_note(one) for one in notes if one["element_id"] == sys_id],
        )


def _note(row: Any) -> RemoteNote:
    return RemoteNote(
        cursor=f"{row['sys_created_on']} {row['sys_id']}",
        author=str(row.get("sys_created_by", "")),
        text=str(row.get("value", "")).strip(),
    )
