"""Hooks for mkdocs: the server's look, links to files outside docs, unlisted pages in the menu, the search."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

_STATIC = Path(__file__).parents[1] / "bot" / "server" / "web" / "static"
_LOOK = """
[data-md-color-scheme={scheme}] {{
  {colours}
  --md-default-bg-color: var(--ground);
  --md-default-fg-color: var(--text);
  --md-default-fg-color--light: var(--soft);
  --md-typeset-color: var(--text);
  --md-typeset-a-color: var(--link);
  --md-accent-fg-color: var(--accent);
  --md-primary-fg-color: var(--ground);
  --md-primary-bg-color: var(--text);
  --md-primary-bg-color--light: var(--soft);
  --md-code-bg-color: var(--raised);
  --md-footer-bg-color: var(--raised);
  --md-footer-bg-color--dark: var(--raised);
  --md-footer-fg-color: var(--text);
  --md-footer-fg-color--light: var(--soft);
}}
"""
_BORDER = """
.md-header { border-bottom: 1px solid var(--line); box-shadow: none; }
.md-search__form { background-color: var(--raised); }
"""
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


def on_files(files: Any, config: Any) -> Any:
    """Add the colours and the mark of the server's pages, so that both have one look."""
    light, dark = re.findall(r":root \{(.*?)\}", (_STATIC / "site.css").read_text(encoding="utf-8"), re.DOTALL)[:2]
    schemes = (("default", light), ("slate", dark))
    look = "".join(_LOOK.format(scheme=scheme, colours=colours.strip()) for scheme, colours in schemes)
    files.append(File.generated(config, "assets/look.css", content=look + _BORDER))
    mark = (_STATIC / "mark.svg").read_text(encoding="utf-8")
    files.append(File.generated(config, "assets/mark.svg", content=mark))
    return files


def on_page_markdown(markdown: str, page: Any, **_given: Any) -> str:
    """Point outside links at the repository, and keep decisions out of the search: they are half of all words."""
    if page.file.src_path.startswith("decisions"):
        page.meta["search"] = {"exclude": True}
    return _OUTSIDE.sub(rf"]({SOURCE}\1", markdown)


def on_post_page(output: str, page: Any, **_given: Any) -> str:
    """Fail if a page loads anything from another host; links that a reader follows are allowed."""
    loaded = _LOADED.search(output)
    if loaded is not None:
        raise SystemExit(f"{page.file.src_path} would load from another host: {loaded[0]}")
    return output
