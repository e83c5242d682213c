"""Versions of the rules: what one changed, which one a diagnosis used, and going back."""

from collections.abc import Mapping, Sequence

from django.db import transaction
from django.db.models import Q, QuerySet

from diagnosis.models import IgnoreRule, SignatureOverride, TaxonomyVersion
from diagnosis.services import taxonomy
from diagnosis.services.rule_changes import reason_given, write_rows
from diagnosis.services.rulebook import rulebook_of, stored_rulebook
from diagnosis.services.site_rules import put_ignore_rules, put_overrides
from diagnosis.taxonomy.changes import RowChange
from diagnosis.taxonomy.rulebook import Rulebook
from incidents.roles import Actor, Capability

Changes = Mapping[str, Sequence[RowChange]]


def changes_of(version: TaxonomyVersion) -> Changes:
    """What a version changed against the one before it, by section."""
    before = TaxonomyVersion.objects.filter(pk__lt=version.pk).first()
    old = rulebook_of(before) if before else Rulebook()
    return old.changes_to(rulebook_of(version))


def is_first(version: TaxonomyVersion) -> bool:
    return not TaxonomyVersion.objects.filter(pk__lt=version.pk).exists()


def versions_called(name: str) -> QuerySet[TaxonomyVersion]:
    """The versions whose rules have this hash, in any cluster, newest first."""
    return TaxonomyVersion.objects.filter(Q(version=name) | Q(in_clusters__version=name)).distinct()


def changes_by_restoring(version: TaxonomyVersion) -> Changes:
    """What going back to a version would change now. Maintenance windows stay as they are."""
    now = stored_rulebook()
    return now.changes_to(_to_restore(version, now))


def _to_restore(version: TaxonomyVersion, now: Rulebook) -> Rulebook:
    kept = rulebook_of(version)
    return Rulebook(kept.signatures, kept.overrides, kept.ignore_rules, now.maintenance)


@transaction.atomic
def restore(*, actor: Actor, version: TaxonomyVersion, why: str) -> TaxonomyVersion | None:
    """Signatures, overrides and ignore rules as they were then, as a new version.

    Maintenance windows are about a time and stay. Shipped signatures that the version did not
    have are switched off. None where nothing differs.
    """
    actor.require(Capability.EDIT_TAXONOMY)
    reason = reason_given(why)
    changes = stored_rulebook().changes_to(rulebook_of(version))
    write_rows({change.name: change.after for change in changes.get("signatures", ())})
    SignatureOverride.objects.all().delete()
    IgnoreRule.objects.all().delete()
    put_overrides(version.overrides)
    put_ignore_rules(version.ignore_rules)
    return taxonomy.record_version(actor=actor, why=f"Version {version.pk} restored: {reason}")
