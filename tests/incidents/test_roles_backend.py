"""Django's permission questions, answered from the table of roles."""

import pytest

from incidents.choices import Role
from tests.factories import UserFactory

pytestmark = pytest.mark.django_db

ASKED = [
    (Role.VIEWER, "incidents.view_incident", True),
    (Role.VIEWER, "incidents.change_incident", False),
    (Role.VIEWER, "incidents.view_apitoken", False),
    (Role.RESPONDER, "diagnosis.change_signature", False),
    (Role.TAXONOMIST, "diagnosis.change_signature", True),
    (Role.TAXONOMIST, "diagnosis.add_faulttype", True),
    (Role.TAXONOMIST, "incidents.change_host", False),
    (Role.OPERATOR, "incidents.add_apitoken", True),
    (Role.OPERATOR, "incidents.change_host", True),
    (Role.OPERATOR, "incidents.change_job", True),
    (Role.OPERATOR, "incidents.change_user", False),
    (Role.OPERATOR, "diagnosis.change_signature", False),
    (Role.OPERATOR, "axes.view_accessattempt", False),
    (Role.ADMIN, "incidents.change_user", True),
    (Role.ADMIN, "axes.delete_accessattempt", True),
]


@pytest.mark.parametrize(("role", "permission", "answer"), ASKED)
def test_permission_follows_the_role(role: Role, permission: str, answer: bool):
    assert UserFactory(role=role).has_perm(permission) is answer


@pytest.mark.parametrize(
    "permission",
    ["incidents.change_user", "incidents.add_user", "diagnosis.change_signature"],
)
@pytest.mark.parametrize("limit", [{"clusters": ["north"]}, {"owners": ["vision"]}])
def test_an_administrator_who_is_limited_may_not_do_what_is_for_all(permission: str, limit):
    person = UserFactory(role=Role.ADMIN, **limit)
    person.refresh_from_db()
    assert not person.has_perm(permission)


def test_someone_deactivated_has_no_permission():
    assert not UserFactory(role=Role.ADMIN, is_active=False).has_perm("incidents.view_incident")


@pytest.mark.parametrize(
    ("role", "staff"),
    [("viewer", False), ("responder", False), ("taxonomist", True), ("operator", True)],
)
def test_the_admin_site_opens_by_role(role: str, staff: bool):
    assert UserFactory(role=role, is_staff=not staff).is_staff is staff


def test_another_role_takes_effect_on_the_flags_at_once():
    person = UserFactory(role=Role.ADMIN)
    person.role = Role.VIEWER
    person.save(update_fields=["role"])
    person.refresh_from_db()
    assert (person.is_staff, person.is_superuser) == (False, False)


def test_createsuperuser_makes_an_administrator(django_user_model):
    assert django_user_model.objects.create_superuser("root", password="x").role == Role.ADMIN


def test_a_module_is_shown_to_whom_something_in_it_may_be_shown():
    taxonomist = UserFactory(role=Role.TAXONOMIST)
    assert taxonomist.has_module_perms("diagnosis")
    assert not taxonomist.has_module_perms("axes")


def test_all_permissions_are_those_that_are_granted():
    viewer = UserFactory(role=Role.VIEWER)
    granted = viewer.get_all_permissions()
    assert "incidents.view_incident" in granted
    assert all(".view_" in permission for permission in granted)
