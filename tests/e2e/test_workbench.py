"""The taxonomy workbench in a real browser: a bad rule is seen for what it is before it is live."""

import re

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.instances import Instance
from tests.e2e.journeys import finished_diagnosis, open_incident, upload
from tests.e2e.test_browser import SCHEMES, violations

#: Milliseconds that a replay of a few incidents may take, worker start included.
PATIENCE = 180_000
WORKBENCH = "admin/diagnosis/taxonomydraft/"
XID_45 = "admin/diagnosis/taxonomydraft/signatures/xid-45-preemptive-removal"
TEARDOWN = (
    "2026-11-30T08:10:05+00:00 node-07 kernel: NVRM: Xid (PCI:0000:9b:00): 45, pid=4711, "
    "name=python, Ch 00000008\n"
)
BUG = (
    "[rank3]: Traceback (most recent call last):\n"
    '[rank3]:   File "/app/train.py", line 88, in <module>\n'
    "[rank3]: KeyError: 'labels'\n"
)


@pytest.fixture(scope="module")
def bug(embedded_instance: Instance) -> int:
    """An incident that the user's code caused, with the tear-down that follows in its logs."""
    with embedded_instance.api() as api:
        incident = open_incident(api, title="bug in train.py", kind="crash")
        files = {"node-07.dmesg.log": TEARDOWN.encode(), "rank-3.log": BUG.encode()}
        upload(api, incident, files)
        assert finished_diagnosis(api, incident)["verdict"]["class"] == "user"
    return incident


@pytest.fixture
def own_page(page: Page) -> Page:
    """The signed-in page, with nothing left in the draft by another test."""
    page.goto(WORKBENCH)
    discard = page.get_by_role("button", name="Discard the draft")
    if discard.count():
        discard.click()
        page.wait_for_load_state()
    return page


def make_xid_45_critical(page: Page) -> None:
    page.goto(XID_45)
    for field, value in (
        ("Class", "critical"),
        ("Severity", "critical"),
        ("Action", "isolate-host"),
        ("Implicates", "gpu"),
    ):
        page.get_by_label(field, exact=True).select_option(value)
    page.get_by_label("Consequence, not cause").uncheck()
    page.get_by_role("button", name="Save to the draft").click()
    page.wait_for_url(re.compile(r"taxonomydraft/$"))


def test_a_rule_that_takes_teardown_for_a_broken_gpu_is_seen_before_it_is_live(
    own_page: Page, bug: int
) -> None:
    page = own_page
    make_xid_45_critical(page)

    page.get_by_role("button", name="Replay on history").click()
    expect(page.locator("[data-running=no]")).to_be_visible(timeout=PATIENCE)

    difference = page.locator(f"#incident-{bug}")
    expect(difference.locator(".side").nth(0)).to_contain_text("user")
    expect(difference.locator(".side").nth(1)).to_contain_text("isolate node-07")
    warning = page.locator("div.alarm")
    expect(warning).to_contain_text("healthy or the user's would become an isolation")
    expect(warning).to_contain_text(f"INC-{bug} is the user's code by today's rules")
    assert violations(page) == []

    page.goto(WORKBENCH)
    page.get_by_label("Why").fill("every Xid is bad")
    page.get_by_role("button", name="Publish 1 change").click()
    expect(page.locator("body")).to_contain_text("Look at the replay's warnings first")


def test_lines_are_marked_as_one_types_and_the_winner_is_told(own_page: Page) -> None:
    page = own_page
    page.goto(XID_45)
    page.get_by_label("Lines of a log").fill(TEARDOWN + TEARDOWN.replace("45", "79") + "fine\n")

    expect(page.locator("mark.mine")).to_have_text("NVRM: Xid (PCI:0000:9b:00): 45")
    expect(page.locator("mark.other")).to_have_text("NVRM: Xid (PCI:0000:9b:00): 79")
    expect(page.locator(".tried tbody tr").nth(1)).to_contain_text("xid-79-fallen-off-bus")

    page.get_by_label("Pattern").fill("(?<=Xid )y")
    expect(page.locator("[data-problem=pattern]")).to_contain_text("RE2 has no look-behind")
    expect(page.locator(".tried-examples")).to_contain_text("Not tried")
    expect(page.locator(".tried-examples .passes")).to_have_count(0)

    page.get_by_label("Pattern").fill("fine")
    expect(page.locator("mark.mine")).to_have_text("fine")
    expect(page.locator(".tried-examples")).to_contain_text("the pattern does not match")


def test_a_published_draft_is_a_version_that_can_be_restored(own_page: Page) -> None:
    page = own_page
    page.goto(XID_45)
    page.get_by_label("Explanation").fill("The driver cleans up after a process that ended.")
    page.get_by_role("button", name="Save to the draft").click()
    page.get_by_label("Why").fill("said more plainly")
    page.get_by_role("button", name="Publish 1 change").click()
    expect(page.locator("#content")).to_contain_text("said more plainly")

    page.goto("admin/diagnosis/taxonomyversion/1/restore")
    expect(page.locator("ins").first).to_be_visible()
    page.get_by_label("Why").fill("the older text")
    page.get_by_role("button", name="Restore").click()
    expect(page.locator("#content")).to_contain_text("Version 1 restored: the older text")


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_pages_have_no_accessibility_violation(own_page: Page, scheme: str) -> None:
    page = own_page
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    make_xid_45_critical(page)
    found = {}
    for path in (
        WORKBENCH,
        WORKBENCH + "?q=xid+45",
        WORKBENCH + "signatures/new",
        XID_45,
        "admin/diagnosis/taxonomyversion/1/restore",
        "admin/diagnosis/taxonomyversion/import",
        "admin/diagnosis/maintenancewindow/add/",
        "admin/diagnosis/ignorerule/add/",
    ):
        page.goto(path, wait_until="networkidle")
        found[path] = violations(page)

    assert {path: rules for path, rules in found.items() if rules} == {}
