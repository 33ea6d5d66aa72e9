"""Take the picture of a report: `python docs/figures/report_page.py REPORT.html OUT.png`.

Needs the dependency group `browser` and a Chromium on this machine.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

SIZE = {"width": 820, "height": 1180}
FIRST = "#graph"


def take(page_file: Path, out: Path) -> None:
    """Write a picture of the part of a page that begins with the social graph."""
    with sync_playwright() as started:
        path = shutil.which("chromium") or shutil.which("google-chrome")
        browser = started.chromium.launch(executable_path=path, args=["--no-sandbox"])
        page = browser.new_page(viewport=SIZE, color_scheme="light")
        page.goto(page_file.resolve().as_uri())
        page.wait_for_selector("html[data-drawn]")
        page.locator("#graph select").select_option(index=3)
        page.locator("#graph .mark-symbol path").nth(40).hover()
        page.wait_for_timeout(500)
        page.locator(f"{FIRST} figure").first.screenshot(path=str(out))
        browser.close()


if __name__ == "__main__":
    take(Path(sys.argv[1]), Path(sys.argv[2]))
