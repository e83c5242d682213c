"""Entity tags: conditional reads, and changes that never overwrite what was not seen.

A tag is a hash of the representation. Where a record counts the changes that people make
(`version`), the tag starts with that number and `If-Match` compares the number alone, so that a
diagnosis that ends in between does not refuse someone's acknowledgement. Weak tags are taken as
well: proxies that compress make them of ours.
"""

import hashlib
import re
from collections.abc import Mapping
from typing import Any

import orjson
from rest_framework.request import Request

from incidents.api.problems import Problem
from incidents.exceptions import StaleVersion

_TAG = re.compile(r'(?:W/)?"([^"]*)"')
ANY = "*"
_PLAIN = orjson.OPT_NON_STR_KEYS | orjson.OPT_SORT_KEYS


def etag_of(data: Any) -> str:
    """The quoted tag of a rendered representation."""
    digest = hashlib.sha256(orjson.dumps(data, option=_PLAIN)).hexdigest()[:20]
    version = data.get("version") if isinstance(data, Mapping) else None
    counted = isinstance(version, int) and not isinstance(version, bool)
    return f'"{version}-{digest}"' if counted else f'"{digest}"'


def is_known(request: Request, tag: str) -> bool:
    """Whether the reader already has this representation (`If-None-Match`)."""
    header = request.headers.get("If-None-Match", "").strip()
    return header == ANY or tag.strip('"') in _TAG.findall(header)


def require_match(request: Request, tag: str) -> None:
    """Raises 428 without `If-Match`, and 412 where it names another representation."""
    header = _if_match(request)
    if header != ANY and tag.strip('"') not in _TAG.findall(header):
        raise Problem("stale-version", "The record is not as it was when you read it.")


def expected_version(request: Request, *, current: int) -> int | None:
    """The version that `If-Match` allows to change; None for `*`.

    Raises 428 without the header. A list that names the current version means that one.
    """
    header = _if_match(request)
    if header == ANY:
        return None
    named = [tag.partition("-")[0] for tag in _TAG.findall(header)]
    versions = [int(text[:9]) for text in named if text.isascii() and text.isdecimal()]
    if not versions:
        raise Problem("stale-version", "If-Match names no state that this record ever had.")
    if current not in versions:
        raise StaleVersion(expected=versions[0], current=current)
    return current


def _if_match(request: Request) -> str:
    header = str(request.headers.get("If-Match", "")).strip()
    if not header:
        raise Problem(
            "precondition-required",
            "Send If-Match with the ETag that you read, or with * to change whatever is there.",
        )
    return header
