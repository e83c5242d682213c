"""Clients of the API: programs with a token, people with a session."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from incidents.choices import Role
from incidents.models import User
from incidents.roles import CAPABILITIES
from incidents.services import tokens
from tests.factories import UserFactory, actor

Program = Callable[..., APIClient]


@pytest.fixture
def program(db: None) -> Program:
    """Makes a client that carries a token of someone with a role, by default with all scopes."""

    def client(role: Role = Role.OPERATOR, *scopes: str, owner: User | None = None) -> APIClient:
        issued = tokens.issue(
            actor=actor(Role.ADMIN),
            owner=owner or UserFactory(role=role),
            name="program",
            scopes=scopes or CAPABILITIES[role],
            expires_at=timezone.now() + timedelta(days=1),
        )
        made = APIClient(raise_request_exception=False)
        made.credentials(HTTP_AUTHORIZATION=f"Bearer {issued.raw}")
        return made

    return client


@pytest.fixture
def api(program: Program) -> APIClient:
    """A program that may do everything that a ticket system does."""
    return program(Role.OPERATOR)
