"""Read the lines that a repository's issue templates and forms add to an issue."""

from __future__ import annotations

import re

from nodes.search.git import Repository
from nodes.search.git.errors import GitFailed
from nodes.search.git.objects import decode, is_text

PLACES = (
    ".github/ISSUE_TEMPLATE",
    ".github/ISSUE_TEMPLATE.md",
    ".github/issue_template.md",
    "ISSUE_TEMPLATE",
    "ISSUE_TEMPLATE.md",
    "docs/ISSUE_TEMPLATE",
    "docs/ISSUE_TEMPLATE.md",
)
"""Paths of files or folders where GitHub looks for templates."""
# Far above any real form; they bound the time that a hostile repository can cost.
MAX_FORMS, MAX_BYTES = 20, 40_000
_KEY_OF_FORM = re.compile(r"-?\s{0,4}(?:label|description|placeholder|value|about|title|name):\s{0,4}")


def template_lines(repository: Repository, commit: str) -> frozenset[str]:
    """Return the lines that a commit's issue templates add to an issue, which the reporter did not write."""
    try:
        entries = repository.under(commit, *PLACES)
    except GitFailed:
        return frozenset()
    wanted = [entry.blob for entry in entries if 0 <= entry.size <= MAX_BYTES][:MAX_FORMS]
    texts = (decode(content) for _, content in repository.read(wanted) if is_text(content))
    lines = (line.strip() for text in texts for line in text.split("\n"))
    plain = (_KEY_OF_FORM.sub("", line).strip("\"'") for line in lines)
    # Shorter lines, such as "Version:", also occur in what a reporter writes.
    return frozenset(line for line in plain if len(line.split()) >= 3)
