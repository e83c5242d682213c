"""Changing one's own password."""

from django.test import Client

from incidents.models import Event, User

NEW = "a much longer one"


def change_password(client: Client, old: str, new: str = NEW, again: str = NEW):
    given = {"old_password": old, "new_password1": new, "new_password2": again}
    return client.post("/password", given, follow=True)


def signed_in(person: User, password: str) -> Client:
    person.set_password(password)
    person.save()
    client = Client()
    client.force_login(person)
    return client


def test_a_responder_changes_their_own_password_and_stays_signed_in(anna: User):
    client = signed_in(anna, "the first password")
    page = change_password(client, "the first password").content.decode()
    anna.refresh_from_db()
    assert anna.check_password(NEW)
    assert "Your password is changed" in page


def test_a_changed_password_ends_other_sessions(anna: User):
    client = signed_in(anna, "the first password")
    other = Client()
    other.force_login(anna)
    change_password(client, "the first password")
    assert other.get("/").status_code == 302


def test_a_changed_password_leaves_an_event_without_the_password(anna: User):
    change_password(signed_in(anna, "the first password"), "the first password")
    event = Event.objects.get(verb="user.password")
    assert event.text == "anna changed their password"


def test_a_wrong_old_password_changes_nothing_and_says_so(anna: User):
    client = signed_in(anna, "the first password")
    page = change_password(client, "guessed").content.decode()
    anna.refresh_from_db()
    assert anna.check_password("the first password")
    assert 'aria-invalid="true"' in page


def test_a_password_everyone_knows_is_refused(anna: User):
    client = signed_in(anna, "the first password")
    change_password(client, "the first password", "password", "password")
    anna.refresh_from_db()
    assert anna.check_password("the first password")


def test_the_menu_leads_to_it(viewer: Client):
    assert 'href="/password"' in viewer.get("/").content.decode()
