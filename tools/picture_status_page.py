"""Takes the picture of the status page: python tools/picture_status_page.py [FOLDER]

It needs Chromium (`make servers` installs it for the tests). The page shows the broken project of
the examples, checked with the embedded default server.
"""

from __future__ import annotations

import base64
import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.service.site import Site  # noqa: E402  after the path
from tests.web.browser import Browser  # noqa: E402
from tests.web.web_site import WebSite  # noqa: E402

#: File, width, height, dark.
PICTURES = (("status-page.png", 1000, 640, False), ("status-page-dark.png", 390, 800, True))


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs"
    with Site() as site, tempfile.TemporaryDirectory() as profile:
        shutil.rmtree(site.project)
        shutil.copytree(ROOT / "examples" / "broken_project", site.project)
        site.configure({})
        with WebSite(site) as web, Browser(Path(profile) / "chromium") as browser:
            web.set_cwd("a", site.project)
            web.check("a", "shop.py")
            browser.open(web.server.page_url())
            browser.wait_for("document.querySelectorAll('#files li').length > 0")
            for name, width, height, dark in PICTURES:
                browser.resize(width, height, dark=dark)
                taken = browser.call("Page.captureScreenshot", format="png")
                (folder / name).write_bytes(base64.b64decode(taken["data"]))


if __name__ == "__main__":
    main()
