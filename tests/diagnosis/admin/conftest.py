"""Someone who edits the taxonomy, and a small taxonomy to edit."""

import pytest
from django.test import Client

from diagnosis.models import Signature
from diagnosis.services import taxonomy
from incidents.choices import Role
from incidents.models import User
from tests.diagnosis.services.test_taxonomy import OTHER, ROW
from tests.factories import UserFactory, actor


@pytest.fixture
def signature() -> Signature:
    taxonomy.load_shipped(actor=actor(Role.ADMIN), shipped=[ROW, OTHER])
    return Signature.objects.get(code="oom")


@pytest.fixture
def tess() -> User:
    person: User = UserFactory(username="tess", role=Role.TAXONOMIST)
    return person


@pytest.fixture
def taxonomist(client: Client, tess: User) -> Client:
    client.force_login(tess)
    return client
