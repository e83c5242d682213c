"""Drafts in the workbench: changed rows that no diagnosis sees until they are published."""

from collections.abc import Iterable, Mapping, Sequence

from django.db import transaction

from diagnosis.models import DraftState, TaxonomyDraft, TaxonomyVersion
from diagnosis.services import taxonomy
from diagnosis.services.draft_rows import DraftRefused, changed, for_change
from diagnosis.services.exchange import preview
from diagnosis.services.rule_changes import check_row, reason_given, write_rows
from diagnosis.services.rulebook import Row, stored_rulebook
from diagnosis.services.site_drafts import site_conflicts, with_site_changes, write_site_changes
from diagnosis.taxonomy.changes import RowChange, compare
from diagnosis.taxonomy.rows import FAULT_FIELDS, TaxonomyError, fault_code
from diagnosis.taxonomy.rulebook import Rulebook
from incidents.models import User
from incidents.roles import Actor, Capability
from incidents.services.events import record


def open_draft_of(author: User) -> TaxonomyDraft | None:
    """The draft that someone works on."""
    return TaxonomyDraft.objects.filter(author=author, state=DraftState.OPEN).first()


def start(*, actor: Actor, author: User) -> TaxonomyDraft:
    """The open draft of someone, begun where there is none."""
    actor.require(Capability.EDIT_TAXONOMY)
    draft, _ = TaxonomyDraft.objects.get_or_create(author=author, state=DraftState.OPEN)
    return draft


@transaction.atomic
def put(
    *,
    actor: Actor,
    draft: TaxonomyDraft,
    code: str,
    row: Row | None,
    expected_revision: int | None = None,
) -> TaxonomyDraft:
    """Changes one signature in the draft; None removes it. Nothing is judged by it yet.

    Where other signatures tell the same fault type, what the row says of it holds for them too.
    Raises `TaxonomyError` for a row that could not be stored, `DraftRefused` for a closed draft
    and for a code that is taken, and `StaleVersion` where the draft was changed meanwhile.
    """
    locked = for_change(actor, draft, expected_revision)
    now = _by_code(stored_rulebook().signatures)
    drafted = _by_code(_drafted(locked, now.values()))
    changes = dict(locked.changes)
    plain = None if row is None else check_row(row, "signature")
    if plain is not None and plain["code"] != code:
        raise DraftRefused("A signature keeps its code: findings and overrides go by it.")
    _note(changes, code, now.get(code), plain)
    for sibling in _siblings(drafted, plain):
        shared = {name: (plain or {}).get(name) for name in FAULT_FIELDS}
        full = {**drafted[sibling], **shared}
        _note(changes, sibling, now.get(sibling), check_row(full, "signature"))
    locked.changes = changes
    return changed(locked)


@transaction.atomic
def put_file(
    *, actor: Actor, draft: TaxonomyDraft, content: bytes, remove_missing: bool = False
) -> TaxonomyDraft:
    """Changes in the draft what a file changes of the signatures, to be replayed before it is live.

    Raises `ImportRefused` as an import does; what the file says of single clusters stays out.
    """
    locked = for_change(actor, draft, None)
    seen = preview(content, remove_missing=remove_missing)
    changes = dict(locked.changes)
    for change in seen.changes.get("signatures", ()):
        _note(changes, change.name, change.before, change.after)
    locked.changes = changes
    return changed(locked)


@transaction.atomic
def take_back(
    *, actor: Actor, draft: TaxonomyDraft, code: str, expected_revision: int | None = None
) -> TaxonomyDraft:
    """Leaves a signature as it is."""
    locked = for_change(actor, draft, expected_revision)
    locked.changes = {key: one for key, one in locked.changes.items() if key != code}
    return changed(locked)


@transaction.atomic
def discard(*, actor: Actor, draft: TaxonomyDraft) -> None:
    """Ends a draft without a trace in the rules."""
    locked = for_change(actor, draft, None)
    locked.state = DraftState.DISCARDED
    locked.save(update_fields=["state", "updated_at"])


@transaction.atomic
def publish(*, actor: Actor, draft: TaxonomyDraft, why: str, revision: int) -> TaxonomyVersion:
    """Makes the draft's changes the rules, as one version.

    Raises `DraftRefused` where nothing is changed or a signature was changed elsewhere since the
    draft took it up, and `StaleVersion` where the draft is no longer the one that was looked at.
    """
    locked = for_change(actor, draft, revision)
    reason = reason_given(why)
    clashes = [*conflicts(locked), *site_conflicts(locked)]
    if clashes:
        raise DraftRefused(
            f"Changed elsewhere since this draft took it up: {', '.join(clashes)}. "
            "Look at it again and save it anew, or take it back."
        )
    try:
        rulebook_with(locked).check()
        write_rows({code: change["after"] for code, change in locked.changes.items()})
        write_site_changes(locked.site_changes)
    except TaxonomyError as error:
        raise DraftRefused(str(error)) from error
    version = taxonomy.record_version(actor=actor, why=reason)
    if version is None:
        raise DraftRefused("The draft changes nothing.")
    locked.state, locked.published_as = DraftState.PUBLISHED, version
    locked.save(update_fields=["state", "published_as", "updated_at"])
    record(
        actor=actor,
        verb="taxonomy.published",
        text=f"{locked} published as {version.version}",
        data={"draft": locked.pk, "taxonomy_version": version.pk},
    )
    return version


def conflicts(draft: TaxonomyDraft) -> Sequence[str]:
    """Codes of signatures that are no longer what the draft's change was made from."""
    now = _by_code(stored_rulebook().signatures)
    return sorted(
        code for code, change in draft.changes.items() if change["before"] != now.get(code)
    )


def rulebook_with(draft: TaxonomyDraft | None) -> Rulebook:
    """The rulebook as it would be with the draft's changes."""
    book = stored_rulebook()
    if draft is None or draft.is_empty:
        return book
    rows = _drafted(draft, book.signatures)
    drafted = Rulebook(rows, book.overrides, book.ignore_rules, book.maintenance)
    return with_site_changes(drafted, draft.site_changes)


def changes_in(draft: TaxonomyDraft) -> Sequence[RowChange]:
    """What the draft changes, against what its changes were made from."""
    before = [change["before"] for change in draft.changes.values() if change["before"]]
    after = [change["after"] for change in draft.changes.values() if change["after"]]
    return compare(before, after)


def _drafted(draft: TaxonomyDraft, rows: Iterable[Row]) -> list[Row]:
    merged = _by_code(rows)
    for code, change in draft.changes.items():
        if change["after"] is None:
            merged.pop(code, None)
        else:
            merged[code] = change["after"]
    return [merged[code] for code in sorted(merged)]


def _by_code(rows: Iterable[Row]) -> dict[str, Row]:
    return {str(row["code"]): row for row in rows}


def _siblings(drafted: Mapping[str, Row], row: Row | None) -> list[str]:
    """Codes of other signatures that tell the row's fault type and say something else of it."""
    if row is None:
        return []
    return [
        code
        for code, other in drafted.items()
        if code != row["code"]
        and fault_code(other) == fault_code(row)
        and any(other.get(name) != row.get(name) for name in FAULT_FIELDS)
    ]


def _note(changes: dict[str, object], code: str, before: Row | None, after: Row | None) -> None:
    """Notes one change, or none where it comes to nothing."""
    if before == after:
        changes.pop(code, None)
    else:
        changes[code] = {"before": before, "after": after}
