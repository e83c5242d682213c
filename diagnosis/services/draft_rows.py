"""What every change of a draft shares: it is open, unchanged since it was seen, and counts on."""

from diagnosis.models import TaxonomyDraft
from incidents.exceptions import RecordsError, StaleVersion
from incidents.roles import Actor, Capability


class DraftRefused(RecordsError):  # noqa: N818 - it names what happened
    """A draft that cannot be changed or published as it is; the message says why."""

    code = "draft-refused"


def for_change(actor: Actor, draft: TaxonomyDraft, expected_revision: int | None) -> TaxonomyDraft:
    """The draft as it stands now, locked. Raises `NotAllowed`, `DraftRefused`, `StaleVersion`."""
    actor.require(Capability.EDIT_TAXONOMY)
    locked = TaxonomyDraft.objects.select_for_update().get(pk=draft.pk)
    if not locked.is_open:
        raise DraftRefused(f"This draft is {locked.get_state_display().lower()}.")
    if expected_revision is not None and expected_revision != locked.revision:
        raise StaleVersion(expected=expected_revision, current=locked.revision)
    return locked


def changed(draft: TaxonomyDraft) -> TaxonomyDraft:
    """Saves the draft's changes as its next revision."""
    draft.revision += 1
    draft.save(update_fields=["changes", "site_changes", "revision", "updated_at"])
    return draft
