"""What a draft changes of overrides, ignore rules and maintenance windows, before it is live."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db import models, transaction

from diagnosis.models import IgnoreRule, MaintenanceWindow, SignatureOverride, TaxonomyDraft
from diagnosis.services.draft_rows import DraftRefused, changed, for_change
from diagnosis.services.rulebook import Row, ignore_row, override_row, stored_rulebook, window_row
from diagnosis.services.site_rules import put_ignore_rules, put_overrides, put_windows
from diagnosis.taxonomy.changes import RowChange
from diagnosis.taxonomy.overrides import Override
from diagnosis.taxonomy.rulebook import Rulebook
from diagnosis.taxonomy.suppression import IgnoreRule as Ignored
from diagnosis.taxonomy.suppression import MaintenanceWindow as Window
from incidents.roles import Actor

#: A section of the rulebook → how a row of it is checked.
_CHECKS: Mapping[str, Any] = {
    "overrides": Override.from_row,
    "ignore_rules": Ignored.from_row,
    "maintenance": Window.from_row,
}
_WRITERS: Mapping[str, Any] = {
    "overrides": put_overrides,
    "ignore_rules": put_ignore_rules,
    "maintenance": put_windows,
}

_NAMES = {
    "overrides": "Override of",
    "ignore_rules": "Ignore rule for",
    "maintenance": "Maintenance window",
}

#: One change: `{"section", "before", "after"}`; rows as the rulebook has them, None for none.
SiteChange = Mapping[str, Any]


@transaction.atomic
def put_site_rule(
    *, actor: Actor, draft: TaxonomyDraft, section: str, before: Row | None, after: Row | None
) -> TaxonomyDraft:
    """Changes, adds (`before` None) or removes (`after` None) one rule of a site in the draft.

    Raises `TaxonomyError` for a row that cannot be used, `DraftRefused` for a closed draft.
    """
    locked = for_change(actor, draft, None)
    if after is not None:
        _CHECKS[section](after, "the rule")
    kept = [
        one
        for one in locked.site_changes
        if one["section"] != section
        or (before is None and one["after"] != after)
        or (before is not None and one["before"] != before)
    ]
    if before != after:
        kept.append({"section": section, "before": before, "after": after})
    with_site_changes(stored_rulebook(), kept).check()
    locked.site_changes = kept
    return changed(locked)


@transaction.atomic
def take_back_site_rule(*, actor: Actor, draft: TaxonomyDraft, position: int) -> TaxonomyDraft:
    """Leaves the rule of the change at this position (from 0) as it is."""
    locked = for_change(actor, draft, None)
    locked.site_changes = [one for at, one in enumerate(locked.site_changes) if at != position]
    return changed(locked)


def with_site_changes(book: Rulebook, changes: Iterable[SiteChange]) -> Rulebook:
    """The rulebook as it would be with these changes."""
    rows: dict[str, list[Row]] = {name: list(getattr(book, name)) for name in _CHECKS}
    for one in changes:
        section = rows[one["section"]]
        if one["before"] in section:
            section.remove(one["before"])
        if one["after"] is not None and one["after"] not in section:
            section.append(one["after"])
    return _book(rows, book.signatures)


def site_changes_in(draft: TaxonomyDraft) -> Mapping[str, Sequence[RowChange]]:
    """What the draft changes of a site's rules, by section, against what they were made from."""
    before: dict[str, list[Row]] = {name: [] for name in _CHECKS}
    after: dict[str, list[Row]] = {name: [] for name in _CHECKS}
    for one in draft.site_changes:
        before[one["section"]] += [one["before"]] if one["before"] else []
        after[one["section"]] += [one["after"]] if one["after"] else []
    return _book(before).changes_to(_book(after))


def _book(rows: Mapping[str, Sequence[Row]], signatures: Sequence[Row] = ()) -> Rulebook:
    return Rulebook(
        signatures,
        overrides=rows["overrides"],
        ignore_rules=rows["ignore_rules"],
        maintenance=rows["maintenance"],
    )


def listed(draft: TaxonomyDraft) -> Sequence[str]:
    """Each change of a site's rules in a line, in their order."""
    return [_line(one["section"], one["after"] or one["before"]) for one in draft.site_changes]


def _line(section: str, row: Row) -> str:
    hosts = row.get("hosts")
    named = ", ".join(map(str, hosts)) if isinstance(hosts, list) else row.get("host")
    what = row.get("signature") or row.get("pattern") or row.get("job") or ""
    where = named or row.get("cluster") or "every cluster"
    return f"{_NAMES[section]} {what}".rstrip() + f" on {where}: {row.get('reason')}"


def site_conflicts(draft: TaxonomyDraft) -> Sequence[str]:
    """Rules of the site that are no longer what the draft's change was made from, in words."""
    book = stored_rulebook()
    gone = [
        one
        for one in draft.site_changes
        if one["before"] is not None and one["before"] not in getattr(book, one["section"])
    ]
    return [f"{one['section'].replace('_', ' ')}: {one['before']['reason']}" for one in gone]


def write_site_changes(changes: Iterable[SiteChange]) -> None:
    """Makes the records what the changes say, inside the caller's transaction.

    Raises `DraftRefused` where a rule is gone that the draft meant to change.
    """
    for one in changes:
        if one["before"] is not None:
            _record_of(one["section"], one["before"]).delete()
        if one["after"] is not None:
            _WRITERS[one["section"]]([one["after"]])


def _record_of(section: str, row: Row) -> models.Model:
    found: Iterable[tuple[models.Model, Row]]
    if section == "overrides":
        overrides = SignatureOverride.objects.select_related("cluster", "signature")
        found = ((one, override_row(one)) for one in overrides)
    elif section == "ignore_rules":
        ignored = IgnoreRule.objects.select_related("cluster", "signature")
        found = ((one, ignore_row(one)) for one in ignored)
    else:
        windows = MaintenanceWindow.objects.select_related("cluster")
        found = ((one, window_row(one)) for one in windows)
    for record, shown in found:
        if shown == row:
            return record
    raise DraftRefused(f"Changed elsewhere since this draft took it up: {row.get('reason')}.")
