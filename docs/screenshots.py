"""Take the pictures of the README from the demo: ``python docs/screenshots.py``.

Needs Chromium and the test requirements. The year that `tracker demo` plays is made in a
temporary folder; its report is opened from the disk, its dashboard from a server on loopback.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from tests.chromium import FLAGS, chromium  # noqa: E402

PICTURES = HERE / "pictures"
WIDTH, HEIGHT = 1000, 1250


def main() -> None:
    """Make both pictures."""
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        environment = {k: v for k, v in os.environ.items() if not k.startswith("TRACKER_")}
        tracker = [sys.executable, "-m", "tracker", "--database", "sqlite:///year.db"]

        def run(*words: str) -> None:
            subprocess.run(  # noqa: S603 - these words
                [*tracker, *words], cwd=folder, env=environment, check=True, capture_output=True
            )

        run("demo")
        run("report", "year", "-o", "shot.html")
        serve = [*tracker, "serve", "--port", "0"]
        with (
            subprocess.Popen(  # noqa: S603 - these words
                serve, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True
            ) as server,
            sync_playwright() as play,
        ):
            assert server.stdout is not None
            address = server.stdout.readline().split()[3]
            browser = play.chromium.launch(executable_path=chromium(), args=list(FLAGS))
            page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
            for name, place in (
                ("report", (folder / "shot.html").as_uri()),
                ("dashboard", f"{address}/projects/year?wait=yes"),
            ):
                page.goto(place)
                page.screenshot(path=PICTURES / f"{name}.png")
            browser.close()
            server.terminate()


if __name__ == "__main__":
    main()
