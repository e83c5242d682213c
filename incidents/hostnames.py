"""When two spellings name one host."""

import re

_IPV4 = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}")


def normalise_host(name: str) -> str:
    """The form in which two spellings compare equal: lower case, no port, no domain.

    The same rule as the engine's (`diagnosis.core.target`), which this app may not import; a test
    in tests/house asserts that the two agree.
    """
    host = name.strip().lower().rstrip(".")
    if host.count(":") == 1:
        host = host.split(":", 1)[0]
    if _IPV4.fullmatch(host) or ":" in host:
        return host
    return host.split(".", 1)[0]
