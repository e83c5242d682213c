"""Suites of checks: the shipped ones on first use, and every edit as a new version."""

from collections.abc import Mapping

from django.db import transaction

from diagnosis.checks.suite import SHIPPED, shipped_document
from diagnosis.checks.suite_text import BadSuite, checked_document
from diagnosis.models import CheckSuite
from incidents.exceptions import InvalidInput, TransitionRefused
from incidents.reach import current
from incidents.roles import Actor, Capability
from incidents.services.events import record


@transaction.atomic
def ensure_shipped() -> None:
    """The shipped suites as their first versions, where they are not there yet."""
    known = set(CheckSuite.objects.values_list("code", flat=True))
    for code in SHIPPED:
        if code not in known:
            document = shipped_document(code)
            CheckSuite.objects.get_or_create(
                code=code,
                version=1,
                defaults={"title": document["title"], "definition": document, "who": "aegis"},
            )


def newest(code: str) -> CheckSuite:
    """The version that the next run uses. Raises `InvalidInput`."""
    ensure_shipped()
    found = CheckSuite.objects.filter(code=code).order_by("-version").first()
    if found is None:
        raise InvalidInput(f"There is no suite '{code}'.", field="suite")
    return found


def all_newest() -> list[CheckSuite]:
    """The newest version of each suite, by code."""
    ensure_shipped()
    by_code = {one.code: one for one in CheckSuite.objects.order_by("code", "version")}
    return list(by_code.values())


@transaction.atomic
def save_version(
    *,
    actor: Actor,
    definition: Mapping[str, object] | str,
    why: str = "",
    seen: int | None = None,
) -> CheckSuite:
    """A new version of the suite whose code the definition (or its YAML) names.

    Raises `InvalidInput` naming every problem with its line, and `TransitionRefused` where there is
    a newer version than the one that the editor saw (`seen`), or where nothing is changed.
    """
    actor.require(Capability.OPERATE)
    current().require_cluster(None)  # every cluster is checked by them
    try:
        document, suite = checked_document(definition)
    except BadSuite as error:
        raise InvalidInput(str(error), field="definition") from error
    ensure_shipped()
    newest_one = CheckSuite.objects.filter(code=suite.code).order_by("-version").first()
    last = newest_one.version if newest_one else 0
    if seen is not None and last > seen:
        raise TransitionRefused(
            f"Suite {suite.code} has got version {last} meanwhile: copy your text, reload the page "
            "and put your change into that version."
        )
    if newest_one is not None and checked_document(newest_one.definition)[0] == document:
        raise TransitionRefused(f"Nothing changed: suite {suite.code} is like that already.")
    saved = CheckSuite.objects.create(
        code=suite.code,
        version=last + 1,
        title=suite.title[:200],
        definition=document,
        who=actor.label,
        why=why.strip()[:500],
    )
    record(
        actor=actor,
        verb="check-suite.saved",
        text=f"Suite {suite.code}: version {saved.version}" + (f": {why}" if why.strip() else ""),
        data={"suite": suite.code, "version": saved.version},
    )
    return saved


def restore(*, actor: Actor, version: CheckSuite, why: str) -> CheckSuite:
    """An older version once more, as the newest one; `why` is asked for."""
    if not why.strip():
        raise InvalidInput("Say why you go back.", field="why")
    reason = f"back to version {version.version}: {why.strip()}"
    return save_version(actor=actor, definition=version.definition, why=reason)
