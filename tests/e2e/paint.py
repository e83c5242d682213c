"""When each page of the demo shows its largest part, and what moves: `python -m tests.e2e.paint`.

Ends with one JSON line: page → `lcp_ms` (Largest Contentful Paint, loopback) and `shift` (what
moved without anyone asking, as browsers count it).
"""

import json
import os
import sys
import tempfile
from pathlib import Path

import django

from tests.e2e.crawl import addresses
from tests.e2e.instances import embedded
from tests.e2e.screenshots import WIDE, signed_in

_OBSERVE = """
window.lcp = 0; window.shift = 0;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) window.lcp = entry.startTime;
}).observe({ type: "largest-contentful-paint", buffered: true });
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift += entry.value;
}).observe({ type: "layout-shift", buffered: true });
"""
#: Milliseconds for late pictures to be drawn.
LATE = 1500


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "aegis_web.settings")
    django.setup()
    found = {}
    with (
        tempfile.TemporaryDirectory() as folder,
        embedded(Path(folder)) as instance,
        signed_in(instance, "light", WIDE) as page,
    ):
        page.add_init_script(_OBSERVE)
        for path in addresses(page):
            page.wait_for_timeout(LATE)
            lcp, shift = page.evaluate("[window.lcp, window.shift]")
            found[path] = {"lcp_ms": round(lcp), "shift": round(shift, 4)}
            sys.stdout.write(f"{path:40}{lcp:8.0f} ms{shift:8.4f}\n")
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
