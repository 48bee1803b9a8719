"""For mkdocs: links to files outside of docs lead to the repository, and pages that came later stand in the menu."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

SOURCE = "https://github.com/tracehound/tracehound/blob/main/"
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
