"""Secrets at rest."""

import pytest

from incidents.exceptions import SealBroken
from incidents.sealing import seal, unseal


def test_a_sealed_secret_is_not_readable_and_opens_again():
    sealed = seal("whsec_abc")
    assert "whsec" not in sealed
    assert unseal(sealed) == "whsec_abc"


def test_nothing_stays_nothing():
    assert unseal(seal("")) == ""


def test_another_secret_key_does_not_open_it(settings):
    sealed = seal("whsec_abc")
    settings.SECRET_KEY = "another one"
    with pytest.raises(SealBroken, match="set it anew"):
        unseal(sealed)


def test_an_earlier_secret_key_still_opens_it(settings):
    sealed = seal("whsec_abc")
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another one"
    assert unseal(sealed) == "whsec_abc"
