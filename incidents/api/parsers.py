"""Bodies: JSON of bounded size, and raw bytes that are never held in memory."""

import codecs
import io
from collections.abc import Mapping
from typing import IO, Any

import orjson
from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser

from incidents.api.problems import Problem

#: A placement of 16,384 ranks takes about 3 MB of JSON.
JSON_MAX_BYTES = 32 * 1024**2


class JSONParser(BaseParser):
    """`application/json` in UTF-8, at most `JSON_MAX_BYTES`."""

    media_type = "application/json"

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        """The decoded value. Raises `ParseError` saying where the text breaks."""
        content = stream.read(JSON_MAX_BYTES + 1)
        if len(content) > JSON_MAX_BYTES:
            raise Problem("body-too-large", f"JSON of at most {JSON_MAX_BYTES:,} bytes is taken.")
        try:
            return orjson.loads(content.removeprefix(codecs.BOM_UTF8))
        except orjson.JSONDecodeError as error:
            raise ParseError(f"The body is not JSON: {error}") from error


class AlertParser(JSONParser):
    """JSON under whatever name it comes: senders of alerts are not always exact.

    A NUL cannot be stored as text, and must not cost the alert.
    """

    media_type = "*/*"

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        content = stream.read(JSON_MAX_BYTES + 1).replace(b"\\u0000", b"\\ufffd")
        return super().parse(io.BytesIO(content), media_type, parser_context)


class RawParser(BaseParser):
    """Any other content type: the view reads `request.stream` itself."""

    media_type = "*/*"

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Mapping[str, Any]:
        return {}
