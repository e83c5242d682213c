"""`Idempotency-Key` on creating calls: the same key and body get the first answer again."""

import hashlib
import re
from collections.abc import Callable, Collection
from functools import wraps
from typing import Any

import orjson
from django.db import transaction
from rest_framework.request import Request
from rest_framework.response import Response

from incidents.api.authentication import actor_of
from incidents.api.problems import Problem
from incidents.services import idempotency
from incidents.services.idempotency import Answer, Claim

REPLAYED_HEADER = "Idempotency-Replayed"
_KEY = re.compile(r"[\x21-\x7e]{1,255}")
_KEPT_HEADERS = ("Location",)

Handler = Callable[..., Response]


def idempotent(*, hiding: Collection[str] = ()) -> Callable[[Handler], Handler]:
    """A creating handler that acts once a key; without a key it acts each time.

    What it writes and the kept answer are committed together. Fields named in `hiding` are shown
    in the first answer only, and kept nowhere.
    """

    def decorate(handler: Handler) -> Handler:
        @wraps(handler)
        def acts_once(self: Any, request: Request, *args: Any, **kwargs: Any) -> Response:
            key = key_of(request)
            if key is None:
                return handler(self, request, *args, **kwargs)
            fingerprint = fingerprint_of(request, request.data)
            begun = idempotency.begin(actor=actor_of(request), key=key, fingerprint=fingerprint)
            if isinstance(begun, Answer):
                return replayed(begun)
            with releasing(begun), transaction.atomic():
                response = handler(self, request, *args, **kwargs)
                keep(begun, response, fingerprint, hiding)
            return response

        return acts_once

    return decorate


class releasing:  # noqa: N801 - a context manager, read as a verb
    """Frees the key where the request fails, so that it can be sent again."""

    def __init__(self, claim: Claim | None) -> None:
        self.claim = claim

    def __enter__(self) -> None:
        return None

    def __exit__(self, failed: type[BaseException] | None, *_rest: object) -> None:
        if failed is not None and self.claim is not None:
            idempotency.release(self.claim)


def key_of(request: Request) -> str | None:
    """The request's key; None without one. Raises a problem for one that cannot be kept."""
    key = request.headers.get("Idempotency-Key")
    if key is not None and not _KEY.fullmatch(key):
        raise Problem("invalid-input", "Idempotency-Key has 1 to 255 visible ASCII characters.")
    return key


def fingerprint_of(request: Request, content: Any) -> str:
    """A hash of method, address and content; the order of keys in an object does not matter."""
    digest = hashlib.sha256(f"{request.method} {request.get_full_path()}\n".encode())
    digest.update(orjson.dumps(content, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS))
    return digest.hexdigest()


def keep(claim: Claim, response: Response, fingerprint: str, hiding: Collection[str] = ()) -> None:
    """Keeps an answer for the requests that repeat this one."""
    body = response.data
    if hiding:
        body = {name: None if name in hiding else value for name, value in body.items()}
    headers = {name: response[name] for name in _KEPT_HEADERS if response.has_header(name)}
    idempotency.finish(
        claim,
        fingerprint=fingerprint,
        status=response.status_code,
        body=body,
        headers=headers,
    )


def replayed(answer: Answer) -> Response:
    """The kept answer, marked as such."""
    headers = {**answer.headers, REPLAYED_HEADER: "true"}
    return Response(answer.body, status=answer.status, headers=headers)
