"""Screenshots of every page from the demo, in a real browser: `python -m tests.e2e.screenshots`."""

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from tests.e2e.conftest import BROWSER_OPTIONS
from tests.e2e.instances import ROOT, Instance, embedded
from tests.e2e.journeys import finished_diagnosis
from tests.services import needed

FOLDER = ROOT / "docs" / "screenshots"
PAGES = {
    "desk": "",
    "incident-crash": "incidents/1",
    "incident-hang": "incidents/2",
    "incident-user-code": "incidents/3",
    "incident-slow": "incidents/4",
    "incident-report": "incidents/1/report",
    "new-incident": "incidents/new",
    "jobs": "jobs",
    "job": "jobs/1",
    "hosts": "hosts",
    "host": "hosts/3",
    "cluster": "clusters/1",
    "checks": "checks",
    "check": "checks/1",
    "check-suite": "checks/suites/cpu",
    "offline": "offline/1",
    "reports": "reports?since={since}",
    "glossary": "glossary",
}
WIDE, NARROW = {"width": 1440, "height": 900}, {"width": 360, "height": 780}
NARROW_PAGES = (
    "desk",
    "incident-hang",
    "job",
    "host",
    "cluster",
    "reports",
    "incident-report",
    "check",
    "offline",
)
#: Milliseconds for pictures to be drawn.
DRAWING = 1500


@contextmanager
def signed_in(instance: Instance, scheme: str, size: dict[str, int]) -> Iterator[Page]:
    """A page of a fresh browser profile in that colour scheme and size."""
    path = needed("chromium", "chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=BROWSER_OPTIONS)
        context = browser.new_context(
            base_url=instance.address,
            viewport=size,  # type: ignore[arg-type]
            color_scheme=scheme,  # type: ignore[arg-type]
            timezone_id="Europe/Berlin",
        )
        page = context.new_page()
        page.goto("login")
        page.get_by_label("Name").fill(instance.username)
        page.get_by_label("Password").fill(instance.password)
        page.get_by_role("button", name="Log in").click()
        page.wait_for_url("**/")
        yield page
        browser.close()


def decide_some(instance: Instance) -> None:
    """Accept what the demo's answers recommend first: reports count decisions."""
    with instance.api() as api:
        for incident in api.get("incidents", params={"status": "all"}).json()["results"]:
            finished_diagnosis(api, incident["id"])
            found = api.get("recommendations", params={"incident": incident["id"]}).json()
            for one in found["results"][-1:]:
                api.post(f"recommendations/{one['id']}/decisions", json={"kind": "accept"})


def shoot(page: Page, path: str, file: Path) -> None:
    page.goto(path, wait_until="networkidle")
    page.wait_for_timeout(DRAWING)
    page.screenshot(path=file, full_page=True)


def main() -> int:
    """Write `docs/screenshots/<page>-<light|dark|narrow>.png`."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="aegis-") as folder, embedded(Path(folder)) as instance:
        decide_some(instance)
        since = (datetime.now(UTC) - timedelta(days=6)).date().isoformat()
        pages = {name: path.format(since=since) for name, path in PAGES.items()}
        for scheme in ("light", "dark"):
            with signed_in(instance, scheme, WIDE) as page:
                for name, path in pages.items():
                    shoot(page, path, FOLDER / f"{name}-{scheme}.png")
        with signed_in(instance, "light", NARROW) as page:
            for name in NARROW_PAGES:
                shoot(page, pages[name], FOLDER / f"{name}-narrow.png")
    _first_run()
    return 0


def _first_run() -> None:
    """The desk of an instance that has seen nothing."""
    with (
        tempfile.TemporaryDirectory(prefix="aegis-") as folder,
        embedded(Path(folder), "--no-demo") as instance,
    ):
        for scheme in ("light", "dark"):
            with signed_in(instance, scheme, WIDE) as page:
                shoot(page, "", FOLDER / f"first-run-{scheme}.png")


if __name__ == "__main__":
    sys.exit(main())
