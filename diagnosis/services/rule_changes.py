"""Writing many rules at once: all of them or none, as one version with one reason."""

from collections.abc import Mapping

from django.core.exceptions import ValidationError
from django.db import transaction

from diagnosis.models import FaultType, Signature, TaxonomyVersion
from diagnosis.services import taxonomy
from diagnosis.services.rulebook import Row, fault_fields, signature_fields
from diagnosis.taxonomy.rows import TaxonomyError, fault_code, normal_row, signature_from_row
from incidents.exceptions import InvalidInput
from incidents.roles import Actor, Capability

#: A signature's code → its row as it shall be; None removes it.
Changes = Mapping[str, Row | None]


def reason_given(why: str) -> str:
    """The reason of a change, which nobody may leave out. Raises `InvalidInput`."""
    if not why.strip():
        raise InvalidInput("Say why, for whoever looks at this later.", field="why")
    return why.strip()


@transaction.atomic
def write(*, actor: Actor, changes: Changes, why: str) -> TaxonomyVersion | None:
    """Makes the rows what `changes` says, and keeps the version; None where nothing differs.

    Raises `TaxonomyError` naming the row that cannot be used; nothing is written then.
    """
    actor.require(Capability.EDIT_TAXONOMY)
    reason = reason_given(why)
    write_rows(changes)
    return taxonomy.record_version(actor=actor, why=reason)


def write_rows(changes: Changes) -> None:
    """The rows alone, inside the caller's transaction. Raises `TaxonomyError`.

    A shipped signature that shall go is switched off: the next load would bring it back.
    """
    for code, row in changes.items():
        if row is not None:
            _put(check_row(row, code))
    for code, row in changes.items():
        if row is None:
            _remove(code)


def check_row(row: Row, where: str) -> dict[str, object]:
    """The row in its normal form. Raises `TaxonomyError` for anything that cannot be stored."""
    signature_from_row(row, where)
    plain = normal_row(row)
    fault = FaultType(code=fault_code(plain), **fault_fields(plain))
    signature = Signature(code=str(plain["code"]), **signature_fields(plain))
    try:
        fault.clean_fields()
        signature.clean_fields(exclude=["fault_type"])
        signature.clean()
    except ValidationError as error:
        field, texts = next(iter(error.message_dict.items()))
        raise TaxonomyError(f"{where} ({plain['code']}): {field}: {texts[0]}") from error
    return plain


def _put(row: Row) -> None:
    fields, code = fault_fields(row), fault_code(row)
    fault, new = FaultType.objects.get_or_create(code=code, defaults={**fields, "edited": True})
    if not new and taxonomy.updated_where_different(fault, fields):
        FaultType.objects.filter(pk=fault.pk).update(edited=True)
    fields = {**signature_fields(row), "fault_type": fault}
    signature, new = Signature.objects.select_related("fault_type").get_or_create(
        code=row["code"], defaults={**fields, "edited": True}
    )
    if not new and taxonomy.updated_where_different(signature, fields):
        Signature.objects.filter(pk=signature.pk).update(edited=True)


def _remove(code: str) -> None:
    signature = Signature.objects.select_related("fault_type").filter(code=code).first()
    if signature is None:
        return
    if signature.shipped:
        taxonomy.updated_where_different(signature, {"enabled": False, "edited": True})
        return
    fault = signature.fault_type
    signature.delete()
    if not fault.shipped and not fault.signatures.exists():
        fault.delete()
