"""The main job in a real browser."""

import re
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from diagnosis.simulator.scenarios import simulate
from tests.e2e.instances import Instance

#: Milliseconds from the upload to the answer on the page.
PATIENCE = 180_000


@pytest.fixture
def hang(tmp_path: Path) -> Path:
    """A folder with the evidence of a job that hangs."""
    simulate("hang_compute", seed=8, hosts=1).write(tmp_path)
    return tmp_path


def open_with_files(page: Page, folder: Path, title: str) -> None:
    files = sorted(path for path in folder.iterdir() if path.is_file())
    page.goto("incidents/new")
    page.locator("input[type=file]").first.set_input_files(files)
    page.get_by_label(re.compile("^Title")).fill(title)
    page.get_by_role("button", name="Open incident").click()
    page.wait_for_url(re.compile(r"/incidents/\d+$"), timeout=PATIENCE)


#: Both themes: the dark one with the long tests, which look at every page in both.
SCHEMES = ["light", pytest.param("dark", marks=pytest.mark.long)]


def violations(page: Page) -> list[tuple[str, list[str]]]:
    """What axe finds: the rule, and the elements that break it."""
    found = Axe().run(page).response["violations"]
    return [(rule["id"], [node["html"] for node in rule["nodes"]]) for rule in found]


def test_files_dropped_become_a_named_culprit_without_a_reload(page: Page, hang: Path) -> None:
    culprit = simulate("hang_compute", seed=8, hosts=1).truth.culprits[0]

    open_with_files(page, hang, "it hangs")
    page.evaluate("window.stillHere = true")

    answer = page.get_by_role("heading", level=1)
    expect(answer).to_contain_text(re.compile(f"rank {culprit}", re.IGNORECASE), timeout=PATIENCE)
    assert page.evaluate("window.stillHere") is True


def test_the_picture_is_drawn_when_the_answer_arrives(page: Page, hang: Path) -> None:
    open_with_files(page, hang, "draw it")

    expect(page.locator(".js-plotly-plot svg.main-svg").first).to_be_visible(timeout=PATIENCE)


def test_an_accepted_recommendation_stands_in_the_timeline(page: Page, hang: Path) -> None:
    open_with_files(page, hang, "accept it")
    accept = page.get_by_role("button", name="Accept").first
    expect(accept).to_be_visible(timeout=PATIENCE)

    accept.click()

    timeline = page.locator("#timeline")
    expect(timeline).to_contain_text(re.compile("accepted", re.IGNORECASE))


def test_a_file_that_cannot_be_read_says_why_and_spoils_nothing(page: Page, hang: Path) -> None:
    (hang / "comm_lib_trace_rank_90").write_bytes(b"\x80\x02cos\nsystem\n(S'true'\ntR.")

    open_with_files(page, hang, "one of them is hostile")
    expect(page.get_by_role("button", name="Accept").first).to_be_visible(timeout=PATIENCE)

    expect(page.get_by_text("os.system").first).to_be_attached()


def test_a_wrong_password_says_so_and_lets_nobody_in(browser, embedded_instance: Instance) -> None:
    context = browser.new_context(base_url=embedded_instance.address)
    page = context.new_page()
    page.goto("incidents/new")
    page.get_by_label("Name").fill("nobody")
    page.get_by_label("Password").fill("wrong")
    page.get_by_role("button", name="Log in").click()

    expect(page.get_by_role("alert")).to_be_visible()
    assert "/login" in page.url
    context.close()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_desk_and_incident_have_no_accessibility_violation(
    page: Page, hang: Path, scheme: str
) -> None:
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    open_with_files(page, hang, f"seen in {scheme}")
    expect(page.get_by_role("button", name="Accept").first).to_be_visible(timeout=PATIENCE)
    incident = violations(page)
    page.goto("")

    assert incident == []
    assert violations(page) == []


def test_the_pages_ask_no_other_host(page: Page, embedded_instance: Instance) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))

    for path in ("", "incidents/new", "jobs", "hosts", "api/v1/docs"):
        page.goto(path, wait_until="networkidle")

    elsewhere = [url for url in asked if not url.startswith((embedded_instance.address, "data:"))]
    assert elsewhere == []
