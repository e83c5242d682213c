"""Uploads: files of a multipart form, or one file as the raw body, streamed."""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from email.message import Message
from typing import Any, Protocol

from django.conf import settings
from rest_framework.request import Request

from incidents.api.problems import Problem
from incidents.exceptions import EvidenceTooLarge, InvalidInput
from incidents.storage import Readable

_CHUNK = 1024**2
_ENCODINGS = {"gzip": ".gz", "x-gzip": ".gz", "zstd": ".zst"}
_COMPRESSED = re.compile(r"\.(gz|zst|zstd)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Upload:
    """One file on its way in."""

    name: str
    stream: Readable


class _Stream(Protocol):
    def read(self, size: int = ..., /) -> bytes: ...


class WholeBody:
    """A body that must be as long as was said: half a file is worse than none."""

    def __init__(self, source: _Stream, length: int) -> None:
        self._source, self._left = source, length

    def read(self, size: int = _CHUNK, /) -> bytes:
        """The next bytes. Raises a problem where the connection broke off."""
        if self._left == 0:
            return b""
        try:
            chunk = self._source.read(min(size, self._left))
        except OSError as error:
            raise _interrupted() from error
        if not chunk:
            raise _interrupted()
        self._left -= len(chunk)
        return chunk


def uploads_in(request: Request, *, name: str) -> Sequence[Upload]:
    """The files that a request brings; `name` stands for the raw body's, where it is given.

    Raises `InvalidInput` for no file, and `EvidenceTooLarge` before reading what is too large.
    """
    if is_form(request):
        return _files_of_form(request, name)
    length = _length(request)
    file_name = name or _name_of_body(request)
    if not file_name:
        raise InvalidInput("Name the file: ?name=rank-3.log", field="name")
    suffix = _suffix_of_encoding(request)
    if suffix and not _COMPRESSED.search(file_name):
        file_name += suffix
    return [Upload(file_name, _body(request, length))]


def is_form(request: Request) -> bool:
    """Whether the files come in a form, and not as the raw body."""
    return request.content_type.partition(";")[0].strip().lower() == "multipart/form-data"


def digest_of(uploads: Sequence[Upload]) -> list[tuple[str, str]]:
    """Name and SHA-256 of each file, reading it to its end."""
    found = []
    for upload in uploads:
        digest = hashlib.sha256()
        while chunk := upload.stream.read(_CHUNK):
            digest.update(chunk)
        found.append((upload.name, digest.hexdigest()))
    return found


def _files_of_form(request: Request, name: str) -> Sequence[Upload]:
    files: list[Any] = [file for _, some in request.FILES.lists() for file in some]
    if not files:
        raise InvalidInput("Send at least one file.", field="file")
    if name and len(files) > 1:
        raise InvalidInput("One name does not fit several files.", field="name")
    return [Upload(name or str(file.name), file) for file in files]


def _length(request: Request) -> int | None:
    """The body's length in bytes; None for a chunked one that the server can end by itself."""
    text = request.META.get("CONTENT_LENGTH") or ""
    if text.isdecimal():
        if int(text) > settings.EVIDENCE_MAX_BYTES:
            limit = f"{settings.EVIDENCE_MAX_BYTES:,}"
            raise EvidenceTooLarge(f"The file is larger than the {limit} bytes taken here.")
        return int(text)
    if not request.headers.get("Transfer-Encoding"):
        return 0
    if not request.META.get("wsgi.input_terminated"):
        raise Problem("length-required", "Send Content-Length.")
    return None


def _body(request: Request, length: int | None) -> Readable:
    if length is None:
        stream: Readable = request.META["wsgi.input"]
        return stream
    return WholeBody(request._request, length)


def _name_of_body(request: Request) -> str:
    """The name in `Content-Disposition`, plain or encoded (RFC 6266)."""
    header = request.headers.get("Content-Disposition", "")
    if not header:
        return ""
    message = Message()
    message["Content-Disposition"] = header
    return message.get_filename() or ""


def _suffix_of_encoding(request: Request) -> str:
    """The suffix of a compressed body: it is kept as it was sent, and read through."""
    encoding = request.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding in {"", "identity"}:
        return ""
    if encoding not in _ENCODINGS:
        raise Problem("unsupported-media-type", "Content-Encoding may be gzip or zstd.")
    return _ENCODINGS[encoding]


def _interrupted() -> Problem:
    return Problem("upload-interrupted", "The connection ended before the file did.")
