"""``owned_by``: for a question about it, the line of CODEOWNERS that names the owners of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nodes.search.facts.asked import OWNER, files_in, sentences
from nodes.search.facts.types import Fact
from nodes.search.history.owners import FILES, LARGEST, owners_of, parse_codeowners

if TYPE_CHECKING:
    from collections.abc import Iterator

    from nodes.search.facts.inquiry import FinderInput
    from nodes.search.facts.witness import Witness
    from nodes.search.git import Repository
    from nodes.search.history.owners import Rule

MAX_OWNERS = 10
"""Maximum number of owners that a sentence names."""


def find(inquiry: FinderInput) -> Iterator[Fact]:
    """Yield the deciding line for each file that a question asks about."""
    asked = sentences(inquiry, OWNER)
    files = list(files_in(inquiry, asked)) if asked else []
    if not files:
        return
    source, text = _codeowners(inquiry.code.repository, inquiry.code.sha)
    rules = parse_codeowners(text)
    for words, number in files:
        path = inquiry.code.path(number)
        rule = owners_of(rules, path)
        # A rule without owners takes a file from the owners that earlier rules name.
        if rule is not None and 0 < len(rule.owners) <= MAX_OWNERS:
            line = text.removeprefix("\ufeff").split("\n")[rule.line - 1].removesuffix("\r")
            yield Fact("owned_by", _sentence(path, rule), words, source, rule.line, line, count=len(rule.owners))


def _codeowners(repository: Repository, sha: str) -> tuple[str, str]:
    """Return the path and the text of the file that GitHub uses; empty if there is none, or if it is too large."""
    path = next((one for one in FILES if repository.entry(sha, one) is not None), "")
    # GitHub ignores a file that is too large, and does not look for another one.
    content = (repository.read_file(sha, path) if path else None) or b""
    return path, content.decode("utf-8", "replace") if len(content) < LARGEST else ""


def _sentence(path: str, rule: Rule) -> str:
    return f"CODEOWNERS names as owners of `{path}`: {', '.join(f'`{owner}`' for owner in rule.owners)}."


def check(fact: Fact, witness: Witness) -> str | None:
    """Verify that this line of the file that GitHub uses decides for the only file that the words name."""
    source, text = _codeowners(witness.repository, witness.sha)
    if source != fact.path:
        return "GitHub uses another CODEOWNERS file"
    ending = f"/{fact.words}"
    paths = [entry.path for entry in witness.repository.tree(witness.sha) if f"/{entry.path}".endswith(ending)]
    rule = owners_of(parse_codeowners(text), paths[0]) if len(paths) == 1 else None
    if rule is None or rule.line != fact.line:
        return "another line decides"
    return None if fact.says == _sentence(paths[0], rule) else "the owners differ"
