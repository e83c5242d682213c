"""Jira by its REST API: v3 of Jira Cloud, v2 of Data Center (option `api`).

https://developer.atlassian.com/cloud/jira/platform/rest/v3/. The lookup is a label of the issue.
"""

from collections.abc import Sequence
from typing import Any

from incidents.delivery.ticket_client import RemoteNote, RemoteTicket, TicketClient, part

_FIELDS = "status,comment"
#: Issues that one search asks for: their keys stand in the address.
_AT_ONCE = 50
_PRIORITIES = {
    "critical": "Highest",
    "high": "High",
    "medium": "Medium",
    "low": "Low",
    "info": "Lowest",
}


class Jira:
    """One project of a Jira."""

    def __init__(self, client: TicketClient) -> None:
        self._client, self._options = client, client.options
        self._rest = f"/rest/api/{part(str(client.options['api']))}"

    def check(self) -> None:
        self._client.call("GET", f"{self._rest}/project/{part(self._options['project'])}")

    def find(self, lookup: str) -> RemoteTicket | None:
        found = self._search(f'labels = "{lookup}"', most=1)
        return self._ticket(found[0]) if found else None

    def open(self, *, lookup: str, title: str, text: str, severity: str) -> RemoteTicket:
        fields = {
            "project": {"key": self._options["project"]},
            "issuetype": {"name": self._options["issue_type"]},
            "summary": " ".join(title.split()),
            "description": self._document(text),
            **self._options["fields"],
        }
        fields["labels"] = [*fields.get("labels", []), "aegis", lookup]
        if fields.get("priority") == "severity":
            fields["priority"] = {"name": _PRIORITIES[severity]}
        return self._ticket(self._client.call("POST", f"{self._rest}/issue", {"fields": fields}))

    def tell(self, ticket: RemoteTicket, *, note: str, mark: str, status: str) -> str:
        issue = f"{self._rest}/issue/{part(ticket.key)}"
        if not self._has_note(issue, mark):
            self._client.call("POST", f"{issue}/comment", {"body": self._document(note)})
        if not status or status.casefold() == ticket.status.casefold():
            return ""
        offered = self._client.call("GET", f"{issue}/transitions")["transitions"]
        for one in offered:
            if str(one["to"]["name"]).casefold() == status.casefold():
                moving = {"transition": {"id": one["id"]}}
                self._client.call("POST", f"{issue}/transitions", moving)
                return str(one["to"]["name"])
        return ""

    def ask(self, tickets: Sequence[RemoteTicket]) -> Sequence[RemoteTicket]:
        found: list[RemoteTicket] = []
        for start in range(0, len(tickets), _AT_ONCE):
            keys = ", ".join(f'"{one.key}"' for one in tickets[start : start + _AT_ONCE])
            issues = self._search(f"key in ({keys})", most=_AT_ONCE)
            found += [self._ticket(issue) for issue in issues]
        return found

    def _search(self, jql: str, *, most: int) -> list[Any]:
        """`/search/jql` of the Cloud; Data Center has `/search` alone."""
        place = "search" if self._options["api"] == "2" else "search/jql"
        query = f"jql={part(jql)}&maxResults={most}&fields={_FIELDS}"
        return list(self._client.call("GET", f"{self._rest}/{place}?{query}")["issues"])

    def _has_note(self, issue: str, mark: str) -> bool:
        page = self._client.call("GET", f"{issue}/comment?orderBy=-created&maxResults=50")
        return any(mark in _plain(one.get("body")) for one in page["comments"])

    def _ticket(self, issue: Any) -> RemoteTicket:
        fields, key = issue.get("fields") or {}, str(issue["key"])
        comments = (fields.get("comment") or {}).get("comments", [])
        return RemoteTicket(
            key=key,
            remote_id=str(issue.get("id", "")),
            url=f"{self._client.url}/browse/{key}",
            status=str((fields.get("status") or {}).get("name", "")),
            notes=[_note(one) for one in comments],
        )

    def _document(self, text: str) -> object:
        """v3 takes the Atlassian Document Format, v2 plain text."""
        if self._options["api"] == "2":
            return text
        lines = [line for line in text.splitlines() if line.strip()] or [text or "-"]
        content = [
            {"type": "paragraph", "content": [{"type": "text", "text": line}]} for line in lines
        ]
        return {"type": "doc", "version": 1, "content": content}


def _note(comment: Any) -> RemoteNote:
    return RemoteNote(
        cursor=str(comment["id"]).zfill(20),
        author=str((comment.get("author") or {}).get("displayName", "")),
        text=_plain(comment.get("body")).strip(),
    )


def _plain(body: object) -> str:
    """The text of a comment: plain, or the texts of a document's nodes."""
    if isinstance(body, str):
        return body
    if isinstance(body, list):
        return "".join(_plain(one) for one in body)
    if not isinstance(body, dict):
        return ""
    end = "\n" if body.get("type") in {"paragraph", "heading", "hardBreak", "listItem"} else ""
    return str(body.get("text", "")) + _plain(body.get("content")) + end
