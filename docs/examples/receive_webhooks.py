#!/usr/bin/env python3
"""Receives Aegis's webhooks: checks signatures, does each message once. Needs standardwebhooks.

AEGIS_WEBHOOK_SECRET=whsec_… receive_webhooks.py [port]
"""

import os
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

from standardwebhooks import Webhook, WebhookVerificationError

SECRET = Webhook(os.environ["AEGIS_WEBHOOK_SECRET"])
done: set[str] = set()  # keep it in your database: it must outlive a restart


def act(message: dict[str, Any]) -> None:
    data = message["data"]
    print(message["type"], data.get("reference", ""), data.get("commands", ""), flush=True)


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        try:
            message = SECRET.verify(body, dict(self.headers))
        except WebhookVerificationError:
            self.send_error(401)
            return
        if self.headers["webhook-id"] not in done:
            act(message)
            done.add(self.headers["webhook-id"])
        self.send_response(204)
        self.end_headers()


HTTPServer(("", int(sys.argv[1]) if len(sys.argv) > 1 else 9000), Handler).serve_forever()
