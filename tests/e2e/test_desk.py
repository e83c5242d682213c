"""What several people do on the desk, in real browsers: keys, undo, merges, views, arrivals."""

import re
from collections.abc import Iterator

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect

from diagnosis.simulator.scenarios import simulate
from tests.e2e.instances import Instance
from tests.e2e.journeys import upload
from tests.e2e.people import PASSWORD, add_person, log_in, opened, seen, session
from tests.e2e.test_browser import SCHEMES, violations

#: Milliseconds from an upload to its answer, and for a live page to look again.
PATIENCE, LIVE = 180_000, 60_000


@pytest.fixture(scope="module")
def api(embedded_instance: Instance) -> Iterator[httpx.Client]:
    """A program beside the people."""
    add_person(embedded_instance, "anna")
    add_person(embedded_instance, "ben")
    with embedded_instance.api("read", "respond", "register_jobs") as client:
        yield client


@pytest.fixture
def anna(browser: Browser, embedded_instance: Instance, api: httpx.Client) -> Iterator[Page]:
    with session(browser, embedded_instance, "anna") as page:
        yield page


@pytest.fixture
def ben(browser: Browser, embedded_instance: Instance, api: httpx.Client) -> Iterator[Page]:
    with session(browser, embedded_instance, "ben") as page:
        yield page


def row(page: Page, pk: int):
    return page.locator(f"#incident-{pk}")


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def test_a_hang_is_triaged_from_desk_to_accepted_isolation_by_keyboard_alone(
    anna: Page, api: httpx.Client
):
    (pk,) = opened(api, "corncrake only", kind="hang", severity="critical")
    upload(api, pk, simulate("hang_compute", seed=8, hosts=1).files)
    anna.goto("?q=corncrake")
    expect(row(anna, pk)).to_contain_text("Isolate", timeout=PATIENCE)

    press(anna, "j", "a")
    expect(row(anna, pk)).to_contain_text("anna", timeout=LIVE)
    press(anna, "j", "Enter")
    anna.wait_for_url(f"**/incidents/{pk}*")
    press(anna, "i")
    expect(anna.locator("[data-accept]").first).to_be_focused()
    press(anna, "Enter")

    expect(anna.locator("#timeline")).to_contain_text("Accepted", timeout=LIVE)
    expect(anna.locator(".command code").first).to_contain_text("drain")


def test_the_keys_are_told_by_a_question_mark(anna: Page):
    press(anna, "?")
    expect(anna.locator("#keys")).to_contain_text("Next and previous incident")
    press(anna, "Escape")
    expect(anna.locator("#keys")).to_be_hidden()


def test_an_open_box_has_the_keys_and_a_form_that_is_pressed_twice_is_sent_once(
    anna: Page, api: httpx.Client
):
    anna.goto("incidents/new")
    anna.locator("#id_title").fill("nightjar")
    anna.get_by_role("button", name="Open incident").dblclick()
    anna.wait_for_url(re.compile(r"/incidents/\d+"))
    (found,) = api.get("incidents", params={"q": "nightjar"}).json()["results"]

    anna.locator("#resolve summary").press("Enter")
    expect(anna.locator("#resolution")).to_be_focused()
    anna.locator("#resolve summary").focus()
    press(anna, "a", "t", "s")

    assert seen(api, found["id"])["status"] == "triggered"
    expect(anna.locator("details.over[open]")).to_have_count(1)
    press(anna, "Escape")
    expect(anna.locator("#resolve summary")).to_be_focused()


def test_the_second_of_two_people_sees_both_versions_and_decides(
    anna: Page, ben: Page, api: httpx.Client
):
    (pk,) = opened(api, "two at once")
    anna.goto(f"incidents/{pk}")
    anna.locator("[data-pause]").click()
    ben.goto(f"incidents/{pk}")
    ben.locator("#facts [data-acknowledge]").click()
    expect(ben.locator("#timeline")).to_contain_text("Acknowledged by ben", timeout=LIVE)

    anna.locator("#resolve summary").click()
    anna.locator("#resolution").select_option("user-code")
    anna.locator("#resolution-note").fill("a bug of ours")
    anna.locator("#resolve").get_by_role("button", name="Resolve").click()

    dialog = anna.locator("#conflict")
    expect(dialog).to_contain_text("ben")
    expect(dialog).to_contain_text("acknowledged")
    expect(dialog).to_contain_text("a bug of ours")
    assert seen(api, pk)["status"] == "acknowledged"
    assert violations(anna) == []
    dialog.get_by_role("button", name="Send mine all the same").click()
    expect(anna.locator("#timeline")).to_contain_text("a bug of ours", timeout=LIVE)
    assert seen(api, pk)["status"] == "resolved"


def test_escape_leaves_the_note_that_is_written_and_gives_the_keys_back(
    anna: Page, api: httpx.Client
):
    (pk,) = opened(api, "stonechat")
    anna.goto(f"incidents/{pk}")
    press(anna, "c")
    anna.keyboard.type("half a thought")
    press(anna, "Escape", "a")
    expect(anna.locator("#timeline")).to_contain_text("Acknowledged by anna", timeout=LIVE)
    expect(anna.locator("#note")).to_have_value("half a thought")


def test_without_scripts_incidents_are_filtered_chosen_and_acknowledged(
    browser: Browser, embedded_instance: Instance, api: httpx.Client
):
    first, second = opened(api, "whinchat one", "whinchat two")
    context = browser.new_context(base_url=embedded_instance.address, java_script_enabled=False)
    page = context.new_page()
    page.goto("login?next=/%3Fq%3Dwhinchat")
    log_in(page, "anna", PASSWORD)
    page.locator(f"#choose-{second}").check()
    page.locator("#bulk").get_by_role("button", name="Acknowledge").click()
    expect(page.get_by_text("1 incident acknowledged.")).to_be_visible()
    assert [seen(api, pk)["status"] for pk in (first, second)] == ["triggered", "acknowledged"]
    context.close()


def test_what_arrives_moves_nothing_that_is_read(anna: Page, api: httpx.Client):
    (mild,) = opened(api, "bittern mild", severity="low")
    anna.goto("?q=bittern")
    press(anna, "j")
    before = row(anna, mild).bounding_box()
    (worse,) = opened(api, "bittern worse", severity="critical")

    expect(anna.locator("#news")).to_contain_text("1 new", timeout=LIVE)
    assert row(anna, mild).bounding_box() == before
    expect(row(anna, worse)).to_have_count(0)
    expect(row(anna, mild).locator("a.title")).to_be_focused()
    press(anna, ".")
    expect(row(anna, worse)).to_be_visible()
    assert anna.locator("#desk-rows tr").first.get_attribute("id") == f"incident-{worse}"


def test_what_leaves_is_greyed_where_it_stands(anna: Page, api: httpx.Client):
    first, second = opened(api, "wigeon one", "wigeon two")
    anna.goto("?q=wigeon")
    press(anna, "j")
    api.patch(
        f"incidents/{first}",
        json={"status": "resolved", "resolution": "other"},
        headers={"If-Match": "*"},
    )
    expect(row(anna, first)).to_have_class(re.compile("gone"), timeout=LIVE)
    expect(row(anna, second)).not_to_have_class(re.compile("gone"))


def test_several_are_acknowledged_at_once_and_taken_back(anna: Page, api: httpx.Client):
    keys = opened(api, "dunnock one", "dunnock two", "dunnock three")
    anna.goto("?q=dunnock")
    anna.locator("#choose-all").check()
    anna.locator("#bulk").get_by_role("button", name="Acknowledge").click()
    expect(anna.locator("#notices")).to_contain_text("3 incidents acknowledged")
    assert {seen(api, pk)["status"] for pk in keys} == {"acknowledged"}

    anna.locator("#notices").get_by_role("button", name="Undo").click()

    expect(anna.locator("#notices")).to_contain_text("Taken back on 3 incidents")
    assert {seen(api, pk)["status"] for pk in keys} == {"triggered"}
    expect(row(anna, keys[0])).to_contain_text("nobody", timeout=LIVE)


def test_with_the_page_chosen_all_that_match_are_offered_and_taken_back(
    anna: Page, api: httpx.Client
):
    keys = opened(api, *[f"redwing {number}" for number in range(53)], severity="low")
    anna.goto("?q=redwing")
    offer = anna.locator("[data-choose-matching]")
    anna.locator("#choose-all").check()
    expect(offer).to_have_text("Choose all 53 that match")
    offer.click()
    expect(anna.locator("#bulk [data-count]")).to_have_text("53")
    assert violations(anna) == []
    press(anna, "a")
    expect(anna.locator("#notices")).to_contain_text("53 incidents acknowledged", timeout=LIVE)
    assert {seen(api, pk)["status"] for pk in keys} == {"acknowledged"}

    press(anna, "z")
    expect(anna.locator("#notices")).to_contain_text("Taken back on 53 incidents", timeout=LIVE)
    assert {seen(api, pk)["status"] for pk in keys} == {"triggered"}

    anna.locator("#choose-all").check()
    offer.click()
    anna.locator("#desk-rows input[name=incident]").first.uncheck()
    expect(anna.locator("#bulk [data-count]")).to_have_text("49")
    expect(offer).to_be_hidden()


def test_the_key_acknowledges_all_that_is_chosen_and_escape_does_one_thing_at_a_time(
    anna: Page, api: httpx.Client
):
    first, second, third = opened(api, "siskin one", "siskin two", "siskin three")
    anna.goto("?q=siskin")
    press(anna, "j", "x", "j", "x", "s")
    expect(anna.locator("#bulk-snooze")).to_have_attribute("open", "")

    press(anna, "Escape")
    expect(anna.locator("#bulk-snooze")).not_to_have_attribute("open", "")
    expect(anna.locator("#bulk [data-count]")).to_have_text("2")
    expect(row(anna, second).locator("a.title")).to_be_focused()
    press(anna, "Escape")
    expect(anna.locator("#bulk")).to_be_hidden()
    expect(row(anna, second).locator("a.title")).to_be_focused()

    press(anna, "x", "k", "x", "j", "j", "a")
    expect(anna.locator("#notices")).to_contain_text("2 incidents acknowledged")
    assert [seen(api, pk)["status"] for pk in (first, second, third)] == [
        "acknowledged",
        "acknowledged",
        "triggered",
    ]
    press(anna, "z")
    expect(anna.locator("#notices")).to_contain_text("Taken back on 2 incidents")
    press(anna, "a")
    expect(anna.locator("#notices")).to_contain_text("acknowledged")
    assert seen(api, third)["status"] == "acknowledged"


def test_a_merge_taken_back_shows_the_row_in_its_place_at_once(anna: Page, api: httpx.Client):
    first, second = opened(api, "jackdaw one", "jackdaw two")
    anna.goto("?q=jackdaw")
    press(anna, "j", "x", "j", "x", "m")
    anna.locator("#bulk-into").fill(f"INC-{second}")
    press(anna, "Enter")
    expect(row(anna, first)).to_have_count(0)
    expect(row(anna, second).locator("a.title")).to_be_focused()

    press(anna, "z")

    expect(row(anna, first)).to_be_visible(timeout=LIVE)
    assert anna.locator("#desk-rows tr").first.get_attribute("id") == f"incident-{first}"
    expect(anna.locator("#news")).to_be_hidden()


def test_two_are_merged_by_keys_and_the_old_link_leads_on(anna: Page, api: httpx.Client):
    first, second = opened(api, "lapwing one", "lapwing two")
    anna.goto("?q=lapwing")
    press(anna, "j", "x", "j", "x", "m")
    anna.locator("#bulk-into").fill(f"INC-{second}")
    assert violations(anna) == []
    press(anna, "Enter")
    expect(anna.locator("#notices")).to_contain_text("1 incident merged")

    anna.goto(f"incidents/{first}")

    anna.wait_for_url(f"**/incidents/{second}?from=INC-{first}")
    expect(anna.locator("#answer")).to_contain_text(f"INC-{first} was merged into this incident")
    anna.get_by_role("button", name=re.compile("Take out again")).click()
    anna.wait_for_url(f"**/incidents/{first}")
    assert seen(api, first)["merged_into"] is None


def test_filters_are_saved_shared_and_found_by_someone_else(
    anna: Page, ben: Page, api: httpx.Client
):
    hang, crash = opened(api, "brambling hang", kind="hang") + opened(
        api, "brambling crash", kind="crash"
    )
    anna.goto("")
    anna.locator("select[name=kind]").select_option("hang")
    anna.wait_for_url("**kind=hang*")
    anna.locator("#search").fill("brambling")
    anna.wait_for_url("**q=brambling*")
    anna.locator("#save-view summary").click()
    anna.get_by_label("Name of this view").fill("Our hangs")
    anna.get_by_label("Share it with everybody").check()
    anna.locator("#save-view").get_by_role("button", name="Save").click()
    anna.wait_for_url("**view=*")

    ben.goto("")
    ben.get_by_role("link", name="Our hangs").click()

    expect(row(ben, hang)).to_be_visible()
    expect(row(ben, crash)).to_have_count(0)
    expect(ben.get_by_role("link", name="Our hangs")).to_have_attribute("aria-current", "page")
    ben.goto("views")
    assert violations(ben) == []


def test_a_login_that_ends_in_the_middle_of_a_note_loses_nothing(anna: Page, api: httpx.Client):
    (pk,) = opened(api, "long note")
    anna.goto(f"incidents/{pk}")
    anna.locator("#note").fill("Looked at **rack 7**")
    anna.context.clear_cookies(name="sessionid")
    press(anna, "Control+Enter")
    expect(anna.locator("#notices")).to_contain_text("Your login ended")
    anna.get_by_role("link", name="Log in again").click()
    log_in(anna, "anna", PASSWORD)
    anna.wait_for_url(f"**/incidents/{pk}")

    expect(anna.locator("#note")).to_have_value("Looked at **rack 7**")
    anna.locator("#note").press("Control+Enter")
    expect(anna.locator("#timeline strong")).to_have_text("rack 7", timeout=LIVE)
    anna.reload()
    expect(anna.locator("#note")).to_have_value("")


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_pages_that_join_incidents_have_no_accessibility_violation(
    anna: Page, api: httpx.Client, scheme: str
):
    first, second = opened(api, f"seen one {scheme}", f"seen two {scheme}")
    api.post(f"incidents/{first}/merge", json={"into": second})
    api.post(f"incidents/{second}/notes", json={"text": "- **hot**, see https://wiki.example/7"})
    api.post(f"incidents/{second}/tickets", json={"key": "OPS-1", "url": "https://a.example/1"})
    anna.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    for path in (f"incidents/{second}", f"incidents/{first}?own", "", "views"):
        anna.goto(path)
        assert (path, violations(anna)) == (path, [])


@pytest.mark.parametrize("path", ["", "views", "incidents/{}", "incidents/{}/splitting"])
def test_a_narrow_screen_scrolls_in_one_direction(anna: Page, api: httpx.Client, path: str):
    (pk,) = opened(api, "narrow")
    api.post(f"incidents/{pk}/evidence", files=[("files", ("a.log", b"something"))])
    anna.set_viewport_size({"width": 360, "height": 780})
    anna.goto(path.format(pk))
    assert anna.evaluate("document.documentElement.scrollWidth") <= 360
