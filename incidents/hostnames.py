"""When two spellings name one host."""

import re

#: One host and no option, list or range in any scheduler's words.
_PLAIN = re.compile(r"(?!all\Z)[a-z0-9][a-z0-9._-]*\Z", re.IGNORECASE | re.ASCII)
#: The longest name that DNS knows (RFC 1035 section 2.3.4).
MOST_LETTERS = 253
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


def is_address(name: str) -> bool:
    """Whether a host is given by its IP address, with or without a port."""
    host = normalise_host(name)
    return bool(_IPV4.fullmatch(host)) or ":" in host


def is_plain_name(name: str) -> bool:
    """Whether a text can be the name of one host, and means nothing else to a scheduler."""
    return len(name) <= MOST_LETTERS and bool(_PLAIN.match(name))


def what_is_wrong(name: str) -> str:
    """Why a text is no host's name, and what to do; empty for a name."""
    if is_plain_name(name):
        return ""
    shown = f"'{name[:60]}' is no host's name"
    if "[" in name or "," in name:
        return f"{shown}: write each host out."
    if len(name) > MOST_LETTERS:
        return f"{shown}: it has more than {MOST_LETTERS} letters."
    if name.lower() == "all":
        return f"{shown} but the schedulers' word for every host: write each host out."
    return f"{shown}: give letters, digits, dots, hyphens and underscores, a letter or digit first."
