"""An OpenID Connect provider for tests: a real HTTP server that signs with keys of its own."""

import base64
import hashlib
import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

CLIENT, SECRET = "aegis", "a-secret-of-the-client"


def new_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


_OWN_KEY = new_key()


@dataclass
class Provider:
    """What it says of the one person who signs in; a test bends what it wants to be wrong."""

    url: str = ""
    userinfo: dict[str, Any] = field(default_factory=dict)
    token: dict[str, Any] = field(default_factory=dict)
    signing_key: rsa.RSAPrivateKey = field(default_factory=lambda: _OWN_KEY)
    published_key: rsa.RSAPrivateKey | None = None
    asked: dict[str, str] = field(default_factory=dict)

    def allow(self, authorization: str) -> dict[str, str]:
        """What the browser brings back after the person agreed: code and state."""
        query = parse_qs(urlsplit(authorization).query)
        self.asked = {name: values[0] for name, values in query.items()}
        return {"code": "the-code", "state": self.asked["state"]}

    def answer_token(self, form: dict[str, str]) -> tuple[int, dict[str, Any]]:
        challenge = base64.urlsafe_b64encode(
            hashlib.sha256(form["code_verifier"].encode()).digest()
        )
        if (
            form["code"] != "the-code"
            or form["client_secret"] != SECRET
            or form["redirect_uri"] != self.asked["redirect_uri"]
            or challenge.rstrip(b"=").decode() != self.asked["code_challenge"]
        ):
            return 400, {"error": "invalid_grant"}
        claims = {
            "iss": self.url,
            "aud": CLIENT,
            "sub": self.userinfo["sub"],
            "iat": int(time.time()),
            "exp": int(time.time()) + 300,
            "nonce": self.asked["nonce"],
            **self.token,
        }
        signed = jwt.encode(claims, self.signing_key, algorithm="RS256", headers={"kid": "1"})
        return 200, {"id_token": signed, "access_token": "opens-userinfo", "token_type": "Bearer"}

    def answer_keys(self) -> dict[str, Any]:
        public = (self.published_key or self.signing_key).public_key()
        key = jwt.algorithms.RSAAlgorithm.to_jwk(public, as_dict=True)
        return {"keys": [{**key, "kid": "1", "alg": "RS256", "use": "sig"}]}


@contextmanager
def identity_provider() -> Iterator[Provider]:
    """A provider on a loopback port; gone when the block ends."""
    provider = Provider()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/jwks":
                self._say(200, provider.answer_keys())
            elif self.headers["Authorization"] == "Bearer opens-userinfo":
                self._say(200, provider.userinfo)
            else:
                self._say(401, {"error": "invalid_token"})

        def do_POST(self) -> None:
            text = self.rfile.read(int(self.headers["Content-Length"])).decode()
            form = {name: values[0] for name, values in parse_qs(text).items()}
            self._say(*provider.answer_token(form))

        def _say(self, status: int, body: dict[str, Any]) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(body).encode())

        def log_message(self, *args: Any) -> None:
            """Says nothing: the test says what went wrong."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        provider.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield provider
        finally:
            server.shutdown()
            thread.join()
