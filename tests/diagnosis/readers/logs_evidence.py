"""Evidence from text or bytes, for tests."""

import io

from diagnosis.core.evidence import Evidence


def log(content: str | bytes, name: str = "train.log", **said: object) -> Evidence:
    """A log held in memory; `said` is what the uploader said (`host`, `rank`, `job`)."""
    data = content.encode() if isinstance(content, str) else content
    return Evidence(name=name, open=lambda: io.BytesIO(data), size=len(data), **said)  # type: ignore[arg-type]
