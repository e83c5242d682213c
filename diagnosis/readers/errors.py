"""The one error that readers raise for input they cannot take."""


class UnreadableEvidence(Exception):  # noqa: N818 - named for what the person reads
    """Evidence that cannot be read as what it is. The message says what is wrong with it.

    The engine turns it into a `Skipped` entry; it never ends a diagnosis.
    """
