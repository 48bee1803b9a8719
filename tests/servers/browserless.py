"""The clicks of the first start, without a browser."""

from __future__ import annotations

import html
import re
from urllib.parse import parse_qs, urlsplit

import httpx


def form_of(page: str) -> tuple[str, str]:
    """Return the address of the manifest form, and the manifest."""
    found = re.search(r'action="([^"]+)">\s*<input type="hidden" name="manifest" value="([^"]+)"', page)
    assert found, page
    return html.unescape(found[1]), html.unescape(found[2])


async def on_github(http: httpx.AsyncClient, **parameters: str) -> str:
    """Submit the form and GitHub's; return the address to which GitHub redirects the browser."""
    page = await http.get("/setup", params=parameters)
    assert page.status_code == 200, page.text
    action, manifest = form_of(page.text)
    split = urlsplit(action)
    origin = f"{split.scheme}://{split.netloc}"
    assert f"form-action 'self' {origin};" in page.headers["content-security-policy"]
    async with httpx.AsyncClient() as browser:
        shown = await browser.post(action, data={"manifest": manifest})
        assert shown.status_code == 200, shown.text
        sent = {"manifest": manifest, "state": parse_qs(split.query)["state"][0], "owner": "", "name": "x"}
        made = await browser.post(f"{origin}/settings/apps/manifest", data=sent)
    return str(made.headers["location"])
