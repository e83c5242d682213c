"""Sparse answers of what has no fixed fields."""

from datetime import timedelta

import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from diagnosis.models import ProgressPicture
from incidents.choices import Role
from incidents.services import tokens
from tests.factories import DiagnosisFactory, UserFactory, actor


@pytest.mark.django_db
def test_a_picture_shows_only_what_is_asked_for():
    picture = ProgressPicture.objects.create(
        diagnosis=DiagnosisFactory(done=True), data={"groups": [], "ranks": [1]}
    )
    issued = tokens.issue(
        actor=actor(Role.ADMIN),
        owner=UserFactory(),
        name="program",
        scopes=["read"],
        expires_at=timezone.now() + timedelta(days=1),
    )
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {issued.raw}")
    address = f"/api/v1/diagnoses/{picture.diagnosis_id}/pictures/collective-progress"
    assert client.get(f"{address}?fields=ranks,colour").json() == {"ranks": [1]}
