"""How a metric source is reached: address, credentials, TLS, limits."""

import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from diagnosis.sources.errors import SourceError, SourceFailure


@dataclass(frozen=True, slots=True)
class Connection:
    """One Prometheus-compatible server (Prometheus, Thanos, Mimir, VictoriaMetrics).

    `url` may hold a path before `/api/v1`. Secrets stay out of `repr` and of every error text.
    Times are in seconds, sizes in bytes; `longest_answer` counts bytes after decompression.
    `headers` carries, for instance, `X-Scope-OrgID`.
    """

    url: str
    bearer_token: str | None = field(default=None, repr=False)
    username: str | None = None
    password: str | None = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    verify_tls: bool = True
    ca_file: Path | None = None
    client_cert_file: Path | None = None
    client_key_file: Path | None = None
    connect_timeout: float = 5.0
    answer_timeout: float = 20.0
    longest_answer: int = 128 * 1024**2

    def open(self) -> httpx.Client:
        """An HTTP client for this server. Raises a permanent `SourceError` on a bad setting."""
        address = self._address()
        headers = dict(self.headers)
        if self.bearer_token is not None:
            headers["Authorization"] = f"Bearer {self.bearer_token}"
        try:
            return httpx.Client(
                base_url=address,
                headers=headers,
                auth=(self.username, self.password or "") if self.username is not None else None,
                verify=self._tls() if address.scheme == "https" else False,
                timeout=httpx.Timeout(self.answer_timeout, connect=self.connect_timeout),
                follow_redirects=False,
                trust_env=False,
            )
        except (ValueError, UnicodeError) as error:
            raise _bad_setting("a header or credential cannot be sent") from error

    def _address(self) -> httpx.URL:
        try:
            address = httpx.URL(self.url.strip().rstrip("/"))
        except httpx.InvalidURL as error:
            raise _bad_setting(f"the address cannot be read: {error}") from error
        if address.scheme not in {"http", "https"} or not address.host:
            raise _bad_setting("the address must begin with http:// or https:// and name a host")
        if address.userinfo:
            raise _bad_setting("credentials belong in their own settings, not in the address")
        return address

    def _tls(self) -> ssl.SSLContext:
        try:
            context = ssl.create_default_context(cafile=self.ca_file)
            if self.client_cert_file is not None:
                context.load_cert_chain(self.client_cert_file, self.client_key_file)
        except OSError as error:
            raise SourceError(
                f"certificate files cannot be used: {error}",
                failure=SourceFailure.TLS,
                permanent=True,
            ) from error
        if not self.verify_tls:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        return context


def _bad_setting(message: str) -> SourceError:
    return SourceError(message, failure=SourceFailure.WRONG_ADDRESS, permanent=True)
