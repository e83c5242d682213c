"""Secrets that must be readable again, such as signing keys: never in the clear in the database.

Sealed with a key derived from the instance's secret key; older secret keys
(`SECRET_KEY_FALLBACKS`) still open what they sealed.
"""

import base64
import hashlib

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings

from incidents.exceptions import SealBroken


def seal(text: str) -> str:
    """The text as it may be stored; empty stays empty."""
    return _keys().encrypt(text.encode()).decode() if text else ""


def unseal(sealed: str) -> str:
    """The text again. Raises `SealBroken` where another secret key sealed it."""
    if not sealed:
        return ""
    try:
        return _keys().decrypt(sealed.encode()).decode()
    except InvalidToken as error:
        raise SealBroken(
            "The secret was stored under another AEGIS_SECRET_KEY; set it anew."
        ) from error


def _keys() -> MultiFernet:
    secrets = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    return MultiFernet([Fernet(_derived(str(secret))) for secret in secrets])


def _derived(secret: str) -> bytes:
    digest = hashlib.sha256(b"incidents.sealing" + secret.encode()).digest()
    return base64.urlsafe_b64encode(digest)
