"""``changed_in`` for the title: a change of the search's first file whose subject has words that few changes have."""

import re
from collections.abc import Iterator

from nodes.search.facts.changes.named_change import short
from nodes.search.facts.inquiry import FinderInput
from nodes.search.facts.places.rare_here import OF_REPORTS
from nodes.search.facts.places.spelled_here import ELLIPSIS, stems_of
from nodes.search.facts.types import Fact
from nodes.search.facts.witness import Witness, is_own
from nodes.search.history.weigh import SAYS_LITTLE, is_mechanical
from nodes.search.issue.mentions.places import URL
from nodes.search.sentences import say
from nodes.search.tokens import query_terms, terms_of

MAX_CHANGES, MAX_READ, FEW, MOST_FILES = 2_000, 8, 2, 3
"""Maximum number of changes whose subjects are read, the latest ones, of those whose files are read, of those that have
the same words, and of source files of a change."""
_LITTLE = frozenset(query_terms(" ".join(SAYS_LITTLE | OF_REPORTS)))
"""Words that most reports and changes have, in any form."""
_PATH = re.compile(r"\S{0,200}[\\/]\S{0,200}")
SAYS = re.compile("The title has the words “([^”]{1,400})” of an earlier change: .{1,400}; it changed `([^`]{1,1000})`")


def find(inquiry: FinderInput) -> Iterator[Fact]:
    """Yield a small change of the first file that shares words with the title, if nothing else places the report.

    In 12 of 14 such development reports the file was fixed, and in 1 of 2 without such a change.
    """
    code, first = inquiry.code, inquiry.first[0] if inquiry.first else ""
    number = code.number(first)
    is_placed = inquiry.is_placed or any(fact.chosen or fact.several for fact in inquiry.found)
    if is_placed or number is None or not code.own[number]:
        return
    # The words of a path say which file it is, not what is wrong with it.
    wanted = stems_of(_PATH.sub(" ", URL.sub(" ", inquiry.issue.title)))
    wanted = {term: word for term, word in wanted.items() if term not in _LITTLE and word.lower() not in code.names}
    subjects = code.log.subjects(MAX_CHANGES) if len(wanted) > 1 else {}
    held = {sha: found for sha, text in subjects.items() if (found := wanted.keys() & query_terms(text).keys())}
    near = (sha for sha, found in held.items() if len(found) > 1)
    near = (sha for sha in near if sum(held[sha] <= found for found in held.values()) <= FEW)
    for commit in code.log.details(sorted(near, key=lambda sha: -len(held[sha]))[:MAX_READ]):
        is_small = first in commit.files and sum(map(is_own, commit.files)) <= MOST_FILES
        if is_small and not is_mechanical(commit) and not commit.subject.startswith("Revert "):
            words = [word for term, word in wanted.items() if term in held[commit.sha]]
            says = say(
                "The title has the words “{words}” of an earlier change: `{sha}` “{title}”; it changed `{path}`.",
                words=ELLIPSIS.join(words),
                sha=commit.sha[:10],
                title=short(commit.subject),
                path=first,
            )
            yield Fact(
                "changed_in", says, max(words, key=len), first, change=commit.sha, count=1, strong=True, unclaimed=True
            )
            return


def check(fact: Fact, witness: Witness) -> str | None:
    """Verify that the title and the subject of the change have the words, and that it touches the file."""
    says, change = SAYS.match(fact.says), fact.change or ""
    message, title = witness.message(change), witness.issue_text.partition("\n")[0]
    if says is None or message is None:
        return "the commit is not in the history of the commit that is read"
    terms = query_terms(message.partition("\n")[0])
    if not all(word in title and terms_of(word)[0] in terms for word in says[1].split(ELLIPSIS)):
        return "the title or the change does not have the words"
    return None if says[2] == fact.path in witness.changed(change) else "the commit does not change this file"
