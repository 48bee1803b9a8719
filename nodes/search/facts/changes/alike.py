"""``changed_in`` for the title: a change of the report's range of versions whose subject has most words of it."""

import re
from collections.abc import Iterator

from nodes.search.facts.changes.changed_in import claimed_range
from nodes.search.facts.changes.named_change import short
from nodes.search.facts.inquiry import FinderInput
from nodes.search.facts.places.spelled_here import ELLIPSIS, stems_of
from nodes.search.facts.types import Fact
from nodes.search.facts.witness import Witness, is_own
from nodes.search.history.weigh import SAYS_LITTLE, is_mechanical
from nodes.search.issue.mentions.places import URL
from nodes.search.sentences import say
from nodes.search.tokens import LISTS, query_terms, terms_of

MAX_CHANGES, FEW, MOST_FILES, SHORT = 2_000, 2, 3, 40
"""Maximum numbers of changes whose subjects are read (the latest ones), of changes that share equally many words with
the title, of source files of a change, and of changes of a range in which one shared word is enough."""
_LITTLE = frozenset(query_terms(" ".join(SAYS_LITTLE | LISTS["of reports"])))
"""Words that most reports and changes have, in any form."""
_PATH = re.compile(r"\S{0,200}[\\/]\S{0,200}")
_FIRMER = frozenset({"raised_here", "linked_here", "built_here", "introduced_in"})
"""Kinds that tell more than the subject of a change."""
SAYS = re.compile(
    "The title has the words “([^”]{1,400})” of a change within .{1,100}?: .{1,400}; it changed `([^`]{1,1000})`"
)


def find(inquiry: FinderInput) -> Iterator[Fact]:
    """Yield the changes between the good and the bad version that share most words with the title, if they are few."""
    claimed = claimed_range(inquiry)
    if claimed is None or any(fact.kind in _FIRMER and fact.strong for fact in inquiry.found):
        return
    code, span = inquiry.code, claimed[0]
    # The words of a path say which file it is, not what is wrong with it.
    wanted = stems_of(_PATH.sub(" ", URL.sub(" ", inquiry.issue.title)))
    wanted = {term: word for term, word in wanted.items() if term not in _LITTLE and word.lower() not in code.names}
    inside, subjects = code.log.between(span.start, span.end), code.log.subjects(MAX_CHANGES)
    held = {sha: wanted.keys() & query_terms(text).keys() for sha, text in subjects.items() if sha in inside}
    most = max(map(len, held.values()), default=0)
    # Of two changes of long ranges that development reports led to, none was near the fault.
    best = [sha for sha, shared in held.items() if len(shared) == most] if most and len(inside) <= SHORT else []
    known = {fact.change for fact in inquiry.found}
    for commit in code.log.details(best) if len(best) <= FEW else ():
        own = [path for path in commit.files if is_own(path)]
        if not 0 < len(own) <= MOST_FILES or is_mechanical(commit) or commit.sha in known:
            continue
        path = next((path for path in inquiry.first if path in own), own[0])
        words = [word for term, word in wanted.items() if term in held[commit.sha]]
        says = say(
            "The title has the words “{words}” of a change within {range}: `{sha}` “{title}”; it changed `{path}`.",
            words=ELLIPSIS.join(words),
            range=span.words,
            sha=commit.sha[:10],
            title=short(commit.subject),
            path=path,
        )
        yield Fact("changed_in", says, max(words, key=len), path, change=commit.sha, count=1, strong=True)


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
