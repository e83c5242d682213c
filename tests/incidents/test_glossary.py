"""Words that pages explain."""

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.template import Context, Template
from django.test import Client

from incidents.glossary import TERMS
from tests.factories import UserFactory

USED = re.compile(r'{% term "([a-z0-9-]+)"')


def used() -> set[str]:
    """The words that templates explain."""
    folder = Path(settings.BASE_DIR) / "templates"
    return {code for path in folder.rglob("*.html") for code in USED.findall(path.read_text())}


def test_every_word_that_a_page_explains_is_known() -> None:
    assert used() <= set(TERMS)


@pytest.mark.parametrize("code", sorted(TERMS))
def test_an_explanation_is_reached_by_its_button(code: str) -> None:
    html = Template('{% load ui %}{% term code "-2" %}').render(Context({"code": code}))

    assert f'popovertarget="term-{code}-2"' in html
    assert f'id="term-{code}-2"' in html


@pytest.mark.django_db
def test_all_of_them_stand_on_one_page() -> None:
    client = Client()
    client.force_login(UserFactory())

    page = client.get("/glossary").content.decode()

    assert all(f'id="{code}"' in page for code in TERMS)
