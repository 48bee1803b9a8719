"""Hooks for mkdocs: links to files outside docs point at the repository, and unlisted pages are added to the menu."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

SOURCE = "https://github.com/tracehound/tracehound/blob/main/"
_LOADED = re.compile(r"<(?:script|link|img|iframe|source)\b[^>]*?(?:src|href)=[\"']?(?:https?:)?//[^>]*>")
_OUTSIDE = re.compile(r"\]\(\.\./([\w./-]+)")


def on_config(config: Any) -> Any:
    """List every page that the menu does not name under *More*."""
    named = set(re.findall(r"[\w-]+\.md", str(config["nav"])))
    more = sorted(page.name for page in Path(config["docs_dir"]).glob("*.md") if page.name not in named)
    if more:
        config["nav"].append({"More": more})
    return config


def on_page_markdown(markdown: str, **_given: Any) -> str:
    """Point outside links at the repository."""
    return _OUTSIDE.sub(rf"]({SOURCE}\1", markdown)


def on_post_page(output: str, page: Any, **_given: Any) -> str:
    """Fail if a page loads anything from another host; links that a reader follows are allowed."""
    loaded = _LOADED.search(output)
    if loaded is not None:
        raise SystemExit(f"{page.file.src_path} would load from another host: {loaded[0]}")
    return output
