"""Overrides: what one cluster does differently with a signature."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from diagnosis.core.words import Action, SignatureClass
from diagnosis.taxonomy.fields import (
    TaxonomyError,
    mapping_in,
    optional_word_in,
    text_in,
    whole_in,
)
from diagnosis.taxonomy.signature import Signature

OVERRIDE_FIELDS = frozenset(
    ["cluster", "signature", "disabled", "class", "action", "priority", "reason"]
)


@dataclass(frozen=True, slots=True)
class Override:
    """For one cluster: a signature switched off, or with another class, action or priority.

    None leaves a field as it is everywhere else.
    """

    cluster: str
    signature: str
    reason: str
    disabled: bool = False
    cls: SignatureClass | None = None
    action: Action | None = None
    priority: int | None = None

    @classmethod
    def from_row(cls, row: object, place: str) -> "Override":
        """The override in one row. Raises `TaxonomyError`."""
        fields = mapping_in(row, place, OVERRIDE_FIELDS)
        signature = text_in(fields, "signature", place)
        where = f"{place} ({signature})"
        found = cls(
            cluster=text_in(fields, "cluster", where),
            signature=signature,
            reason=text_in(fields, "reason", where),
            disabled=fields.get("disabled") is True,
            cls=optional_word_in(SignatureClass, fields, "class", where),
            action=optional_word_in(Action, fields, "action", where),
            priority=whole_in(fields, "priority", where),
        )
        if not found.disabled and (found.cls, found.action, found.priority) == (None,) * 3:
            raise TaxonomyError(f"{where}: overrides nothing; give class, action or priority")
        return found


def overridden(
    signatures: Iterable[Signature], overrides: Iterable[Override]
) -> tuple[Signature, ...]:
    """The signatures as the overrides leave them, disabled ones gone.

    An override of a signature that is not among them (removed, or switched off) does nothing.
    """
    by_code: Mapping[str, Override] = {one.signature: one for one in overrides}
    changed = (_changed(signature, by_code.get(signature.code)) for signature in signatures)
    return tuple(signature for signature in changed if signature is not None)


def _changed(signature: Signature, override: Override | None) -> Signature | None:
    if override is None:
        return signature
    if override.disabled:
        return None
    return replace(
        signature,
        cls=override.cls or signature.cls,
        action=override.action or signature.action,
        priority=signature.priority if override.priority is None else override.priority,
    )
