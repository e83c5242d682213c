"""What a campaign finds in the database: a record of every kind, and a token of every role."""

from collections.abc import Mapping
from datetime import timedelta

from django.utils import timezone

from incidents.choices import Role
from incidents.roles import CAPABILITIES
from incidents.services import tokens
from tests.access.world import everything_in, shared
from tests.factories import UserFactory, actor


def tokens_of_every_role() -> Mapping[str, str]:
    """Role → token. Nothing limits them, and there is something to find."""
    shared()
    everything_in("hall-2")
    found = {}
    for role in Role:
        issued = tokens.issue(
            actor=actor(Role.ADMIN),
            owner=UserFactory(role=role),
            name="fuzz",
            scopes=CAPABILITIES[role],
            expires_at=timezone.now() + timedelta(days=1),
        )
        found[role.value] = issued.raw
    return found
