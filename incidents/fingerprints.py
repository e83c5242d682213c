"""What a finding says without what differs from one time to the next."""

import hashlib
import re

_QUOTED_HEX = re.compile(r"\b0x[0-9a-f]+\b|\b[0-9a-f]{8,}\b|\b[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f.]+")
_NUMBER = re.compile(r"\d+")


def fingerprint_of(text: str, *, host: str = "") -> str:
    """Sixteen hex digits, the same for findings that differ in numbers, addresses and host only."""
    plain = text.lower()
    if host:
        plain = plain.replace(host.lower(), "@")
    plain = _NUMBER.sub("#", _QUOTED_HEX.sub("#", plain))
    return hashlib.sha256(" ".join(plain.split()).encode()).hexdigest()[:16]
