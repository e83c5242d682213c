"""Ticket systems for tests: real web servers that speak the documented REST of each.

Jira Cloud (`/rest/api/3`), ServiceNow's Table API and a plain one. `faults` are answered first,
each once; `slow_openings` are tickets that are opened, but whose answer comes too late.
"""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from tests.receivers import Received, Receiver, Reply, receiver

#: Seconds that a slow opening takes; tests give up earlier.
TOO_LONG = 60.0


@dataclass
class TicketServer:
    """What all have in common: tickets by key, faults, and the receiver behind it."""

    tickets: dict[str, dict[str, Any]] = field(default_factory=dict)
    faults: list[Reply] = field(default_factory=list)
    slow_openings: int = 0
    receiver: Receiver = field(default_factory=lambda: Receiver(""))
    authorization: str = ""

    @property
    def url(self) -> str:
        return self.receiver.url

    def answer(self, request: Received) -> Reply:
        if self.faults:
            return self.faults.pop(0)
        if self.authorization and request.headers.get("authorization") != self.authorization:
            return Reply(401, body=b'{"error": "who are you?"}')
        parts = urlsplit(request.path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        body = json.loads(request.body) if request.body else {}
        return self.route(request, unquote(parts.path), query, body)

    def route(self, request: Received, path: str, query: dict[str, str], body: Any) -> Reply:
        raise NotImplementedError

    def opened(self, data: Any) -> Reply:
        """The answer to an opening: late, where it was asked to be."""
        late = self.slow_openings > 0
        self.slow_openings -= late
        return _json(data, status=201, delay=TOO_LONG if late else 0.0)


class JiraServer(TicketServer):
    """A project OPS with the workflow To Do → In Progress → Done."""

    STATUSES = ("To Do", "In Progress", "Done")

    def route(self, request: Received, path: str, query: dict[str, str], body: Any) -> Reply:
        path = path.removeprefix("/rest/api/3")
        if path == "/search/jql":
            return _json({"issues": [one for one in self.tickets.values() if _fits(one, query)]})
        if path == "/project/OPS":
            return _json({"key": "OPS"})
        if path == "/issue" and request.method == "POST":
            return self._open(body["fields"])
        found = re.fullmatch(r"/issue/([\w-]+)/(\w+)", path)
        if not found or found[1] not in self.tickets:
            return _json({"errorMessages": ["Issue does not exist"]}, status=404)
        return self._of_issue(self.tickets[found[1]], found[2], request.method, body)

    def _open(self, fields: Any) -> Reply:
        if fields["project"]["key"] != "OPS" or fields["description"]["type"] != "doc":
            return _json({"errors": {"project": "valid project is required"}}, status=400)
        key = f"OPS-{len(self.tickets) + 1}"
        fields = {**fields, "status": {"name": "To Do"}, "comment": {"comments": []}}
        self.tickets[key] = {"id": str(10_000 + len(self.tickets)), "key": key, "fields": fields}
        return self.opened({"id": self.tickets[key]["id"], "key": key, "self": f"/issue/{key}"})

    def _of_issue(self, issue: Any, what: str, method: str, body: Any) -> Reply:
        comments = issue["fields"]["comment"]["comments"]
        if what == "comment" and method == "GET":
            return _json({"comments": comments[::-1]})
        if what == "comment":
            self.comment(issue["key"], "Aegis", body["body"])
            return _json({"id": comments[-1]["id"]}, status=201)
        if method == "GET":
            moves = [{"id": str(n), "to": {"name": s}} for n, s in enumerate(self.STATUSES)]
            return _json({"transitions": moves})
        self.move(issue["key"], self.STATUSES[int(body["transition"]["id"])])
        return Reply(204)

    def comment(self, key: str, author: str, body: Any) -> None:
        comments = self.tickets[key]["fields"]["comment"]["comments"]
        number = str(100 + len(comments))
        comments.append({"id": number, "author": {"displayName": author}, "body": body})

    def move(self, key: str, status: str) -> None:
        self.tickets[key]["fields"]["status"] = {"name": status}

    def status(self, key: str) -> str:
        return str(self.tickets[key]["fields"]["status"]["name"])

    def notes(self, key: str) -> list[str]:
        comments = self.tickets[key]["fields"]["comment"]["comments"]
        return [json.dumps(one["body"]) for one in comments]


def _fits(issue: Any, query: dict[str, str]) -> bool:
    label = re.fullmatch(r'labels = "([\w-]+)"', query["jql"])
    if label:
        return label[1] in issue["fields"]["labels"]
    return issue["key"] in re.findall(r'"([\w-]+)"', query["jql"])


class ServiceNowServer(TicketServer):
    """The incident table, and the journal of its notes."""

    journal: list[dict[str, str]]

    def route(self, request: Received, path: str, query: dict[str, str], body: Any) -> Reply:
        if path == "/api/now/table/sys_journal_field":
            return _json({"result": self._noted(query["sysparm_query"])})
        if path == "/api/now/table/incident" and request.method == "POST":
            return self._open(body)
        if path == "/api/now/table/incident":
            return _json({"result": self._asked(query.get("sysparm_query", ""))})
        sys_id = path.removeprefix("/api/now/table/incident/")
        row = next((one for one in self.tickets.values() if one["sys_id"] == sys_id), None)
        if row is None:
            return _json({"error": {"message": "No Record found"}}, status=404)
        if "work_notes" in body:
            self.note(row["number"], "aegis", body.pop("work_notes"))
        row.update(body)
        return _json({"result": row})

    def _open(self, body: Any) -> Reply:
        number = f"INC{len(self.tickets) + 1:07}"
        row = {**body, "number": number, "sys_id": f"{len(self.tickets):032x}", "state": "1"}
        self.tickets[number] = row
        return self.opened({"result": row})

    def _asked(self, query: str) -> list[Any]:
        rows = list(self.tickets.values())
        if query.startswith("correlation_id="):
            return [row for row in rows if row["correlation_id"] == query.partition("=")[2]]
        if query.startswith("sys_idIN"):
            return [row for row in rows if row["sys_id"] in query[8:].split(",")]
        return rows

    def _noted(self, query: str) -> list[dict[str, str]]:
        found = re.match(r"element_id(?:IN|=)([\w,]+)", query)
        ids = found[1].split(",") if found else []
        text = re.search(r"valueLIKE(.*?)\^ORDERBY", query)
        rows = [one for one in self._journal() if one["element_id"] in ids]
        return [one for one in rows if text is None or text[1] in one["value"]]

    def note(self, number: str, author: str, text: str) -> None:
        row = {"element_id": self.tickets[number]["sys_id"], "element": "work_notes"}
        made = f"2026-11-30 06:{len(self._journal()):02}:00"
        row |= {"value": text, "sys_created_on": made, "sys_created_by": author, "sys_id": made}
        self._journal().append(row)

    def _journal(self) -> list[dict[str, str]]:
        if not hasattr(self, "journal"):
            self.journal = []
        return self.journal

    def move(self, key: str, status: str) -> None:
        self.tickets[key]["state"] = status

    def status(self, key: str) -> str:
        return str(self.tickets[key]["state"])

    def notes(self, key: str) -> list[str]:
        sys_id = self.tickets[key]["sys_id"]
        return [one["value"] for one in self._journal() if one["element_id"] == sys_id]


class PlainServer(TicketServer):
    """The plain form: tickets below one address, a note once an `Idempotency-Key`."""

    def route(self, request: Received, path: str, query: dict[str, str], body: Any) -> Reply:
        if request.method == "POST" and path in {"", "/"}:
            key = str(len(self.tickets) + 1)
            self.tickets[key] = {**body, "id": key, "status": "triggered", "notes": {}}
            return self.opened(self.tickets[key])
        if "external_id" in query:
            rows = self.tickets.values()
            return _json([one for one in rows if one["external_id"] == query["external_id"]])
        ticket = self.tickets.get(path.split("/")[1])
        if ticket is None:
            return _json({}, status=404)
        if request.method == "POST":
            ticket["notes"][request.headers["idempotency-key"]] = body["text"]
            ticket["status"] = body["status"] or ticket["status"]
        return _json(ticket)

    def move(self, key: str, status: str) -> None:
        self.tickets[key]["status"] = status

    def status(self, key: str) -> str:
        return str(self.tickets[key]["status"])

    def notes(self, key: str) -> list[str]:
        return list(self.tickets[key]["notes"].values())


@contextmanager
def ticket_server(server: TicketServer) -> Iterator[TicketServer]:
    """The server while the block lasts."""
    with receiver(answering=server.answer) as running:
        server.receiver = running
        yield server


def _json(data: Any, *, status: int = 200, delay: float = 0.0) -> Reply:
    body = json.dumps(data).encode()
    return Reply(status, {"Content-Type": "application/json"}, body, delay)
