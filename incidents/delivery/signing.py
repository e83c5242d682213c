"""The headers of Standard Webhooks (standardwebhooks.com): id, timestamp, HMAC-SHA256."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from standardwebhooks import Webhook


def signed_headers(
    *, message_id: str, at: datetime, body: str, secrets: Sequence[str]
) -> Mapping[str, str]:
    """Headers that a receiver checks with any one of the secrets, the present one first."""
    signatures = [Webhook(secret).sign(message_id, at, body) for secret in secrets]
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": " ".join(signatures),
    }
