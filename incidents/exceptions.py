"""What a service refuses, in words for a person and a stable code for programs.

Pages and API translate these in one handler each; `code` is part of the API's contract.
"""


class RecordsError(Exception):
    """The base of everything that a service refuses. The message is written for a person."""

    code = "refused"


class NotAllowed(RecordsError):
    """The actor's role or scopes do not cover what was asked."""

    code = "not-allowed"


class InvalidInput(RecordsError):
    """A value that cannot be taken; `field` names it."""

    code = "invalid-input"

    def __init__(self, message: str, *, field: str) -> None:
        super().__init__(message)
        self.field = field


class TransitionRefused(RecordsError):
    """The incident's status does not allow this step."""

    code = "transition-refused"


class MergedAway(TransitionRefused):
    """The incident is part of another one, which is where people go on."""

    code = "merged"


class StaleVersion(RecordsError):
    """Someone else changed the record since it was read; nothing was overwritten."""

    code = "stale-version"

    def __init__(self, *, expected: int, current: int) -> None:
        super().__init__(
            f"Someone else changed this in the meantime (you saw version {expected}, "
            f"it is now version {current}). Reload and look again."
        )
        self.expected = expected
        self.current = current


class TooManyIsolations(RecordsError):
    """One host more would be taken out than the limit allows without a second word."""

    code = "too-many-isolations"


class HostsInService(RecordsError):
    """Tests would run on hosts that are not out of service, which takes a second word."""

    code = "hosts-in-service"


class AppendOnly(RecordsError):
    """The timeline can be added to, and nothing else."""

    code = "append-only"


class EvidenceTooLarge(RecordsError):
    """The upload is larger than this instance takes."""

    code = "evidence-too-large"


class StorageFull(RecordsError):
    """The evidence store cannot take another byte."""

    code = "storage-full"


class BlobMissing(RecordsError, OSError):
    """The evidence store does not hold these bytes, or no longer as they were written.

    An `OSError`, because readers meet it where they would meet a file that cannot be read.
    """

    code = "blob-missing"


class LeaseLost(RecordsError):
    """The run is no longer this worker's: another one took it over, or it has ended."""

    code = "lease-lost"


class RequestInFlight(RecordsError):
    """Another request with this key has not ended."""

    code = "request-in-flight"


class IdempotencyMismatch(RecordsError):
    """The key was used for another request."""

    code = "idempotency-mismatch"


class SealBroken(RecordsError):
    """A stored secret that this instance's secret key does not open."""

    code = "seal-broken"


class DestinationRefused(RecordsError):
    """An address to which this instance sends nothing."""

    code = "destination-refused"
