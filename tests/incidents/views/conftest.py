"""People who look at pages."""

import pytest
from django.test import Client

from incidents.choices import Role
from incidents.models import User
from tests.factories import UserFactory


@pytest.fixture
def anna(db) -> User:
    """Someone who acts on incidents."""
    return UserFactory(username="anna", role=Role.RESPONDER)


@pytest.fixture
def responder(anna: User) -> Client:
    client = Client()
    client.force_login(anna)
    return client


@pytest.fixture
def viewer(db) -> Client:
    client = Client()
    client.force_login(UserFactory(username="vera", role=Role.VIEWER))
    return client


@pytest.fixture
def operator(db) -> Client:
    client = Client()
    client.force_login(UserFactory(username="otto", role=Role.OPERATOR))
    return client
