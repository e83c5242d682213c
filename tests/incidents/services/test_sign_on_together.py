"""The same person's first sign-on from two browsers at one moment."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from incidents.choices import Role
from incidents.models import User
from incidents.roles import RoleRule
from incidents.services.sign_on import Identity, sign_on

ANNA = Identity(subject="https://id.example 42", name="anna", email="", email_verified=False)
RULE = RoleRule(claim="groups", roles={}, default=Role.VIEWER)


@pytest.mark.django_db(transaction=True)
def test_simultaneous_first_sign_ons_make_one_person_and_let_all_in():
    if connection.vendor != "postgresql":
        pytest.skip("SQLite has one writer: nobody is simultaneous there")
    start = threading.Barrier(8)

    def come(_: int) -> int:
        start.wait()
        try:
            return sign_on(identity=ANNA, claims={}, rule=RULE).pk
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as browsers:
        found = list(browsers.map(come, range(8)))
    assert found == [User.objects.get().pk] * 8
