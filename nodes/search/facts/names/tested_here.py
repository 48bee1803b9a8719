"""``tested_here``: tests that use rare names of the report; tests that are known to fail come first."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from nodes.search.facts.around.called_from import without_strings
from nodes.search.facts.code import MAX_WIDTH, Code, whole_word
from nodes.search.facts.inquiry import FinderInput
from nodes.search.facts.names.named import BUILT_IN, Name, names
from nodes.search.facts.names.read_here import is_code
from nodes.search.facts.types import Fact
from nodes.search.facts.witness import Witness
from nodes.search.paths.roles import role_of
from nodes.search.tokens import term_hash, terms_of

MAX_FACTS = 3
RARE = 25
"""Maximum number of test chunks that contain a name for it to count as rare."""
MAX_NAMES = 40
_MARK = re.compile(
    r"^\s{0,80}@(?:[\w.]{1,60}\.)?(?:xfail|skip|expectedFailure|Ignore|Disabled)\b|#\[ignore"
    r"|\b(?:it|test|describe|context)\.(?:skip|todo|failing|fixme)\b|\bx(?:it|test|describe)\("
    r"|(?:^|\s)(?:#|//|/\*|\*|--)[^\n]{0,200}\b(?:BUG|FIXME|known (?:bug|issue|failure))\b"
)
"""A mark on a test that always skips it, expects it to fail or names a bug; `skipif` depends on the machine."""
_SKIPS = re.compile(r"^\s{0,80}(?:pytest\.(?:skip|xfail)|self\.skipTest|[tb]\.Skip\w{0,5}|GTEST_SKIP)\(")
_CONDITION = re.compile(r"^\s{0,80}(?:if|elif|else|except|catch|unless|\}\s?(?:else|catch))\b")
_ABOVE = re.compile(r"^\s{0,80}(?:@|#|//|/\*|\*)")
"""A line above a test that belongs to it: a decorator, an attribute or a comment."""
NEAR = 60
"""Number of lines on either side of the stated line in which the check looks for a mark."""
_KNOWN = " and is marked as skipped, failing or a known bug"
_TEST = re.compile(r"(?i)test|spec|should|bench")
_FAILING_PATH = re.compile(r"(?:^|/)(?:failing|known[_-]?(?:bugs|issues|failures)|xfail)(?:/|\.)")


def find(inquiry: FinderInput) -> Iterator[Fact]:
    """Yield the tests that use the most and the rarest names."""
    # The module that a test is about was in the fix in 30 % of cases, so tests are listed and never lead.
    code = inquiry.code
    chunks = _chunks(code, names(inquiry.issue)[:MAX_NAMES])
    # More than are shown: the index also finds similar spellings, and such chunks lead to no fact.
    best = sorted(chunks, key=lambda chunk: (-sum(1 / often for _, often in chunks[chunk]), chunk))[: 3 * MAX_FACTS]
    code.read(int(code.index.chunk_file[chunk]) for chunk in best)
    found = [fact for chunk in best if (fact := _fact(code, chunk, chunks[chunk]))]
    # A test that is known to fail may reproduce the report.
    found.sort(key=lambda item: not item[0])
    yield from [fact for _, fact in found if inquiry.issue.holds(fact.words or "")][:MAX_FACTS]


def _chunks(code: Code, wanted: list[Name]) -> dict[int, list[tuple[str, int]]]:
    """Return the chunks of test files that contain rare names; each name comes with its number of chunks."""
    plain = [name.last for name in wanted if name.last not in BUILT_IN and terms_of(name.last)]
    by_hash = {term_hash(terms_of(name)[-1]): name for name in plain}
    hashes = sorted(by_hash)
    index, found = code.index, defaultdict(list)
    if not hashes:
        return {}
    matches = index.match(hashes)
    tests = np.array([role == "test" for role in index.roles], bool)
    in_tests = tests[index.chunk_file[matches.chunk]]
    often = np.bincount(matches.term[in_tests], minlength=len(hashes))
    for term, chunk in zip(matches.term[in_tests].tolist(), matches.chunk[in_tests].tolist(), strict=True):
        if often[term] <= RARE:
            found[chunk].append((by_hash[hashes[term]], int(often[term])))
    return dict(found)


def _fact(code: Code, chunk: int, held: list[tuple[str, int]]) -> tuple[bool, Fact] | None:
    number = int(code.index.chunk_file[chunk])
    start, end = int(code.index.chunk_start[chunk]), int(code.index.chunk_end[chunk])
    every = code.lines(number)
    # Other tests are above, so only the lines that belong to this one are read.
    above = next((at for at in range(start - 1, 0, -1) if not _ABOVE.match(every[at - 1])), 0)
    failing = _is_marked(every[above:end]) or bool(_FAILING_PATH.search(code.path(number)))
    for name, often in sorted(held, key=lambda item: (item[1], item[0])):
        for line in range(start, end + 1):
            if _uses(code.text(number, line) or "", name) and (hit := code.hit(number, line)):
                own = (hit.symbol or "").rpartition(".")[2]
                # A helper or a resource of the tests is not a test, and a definition of the same name does not use it.
                if own == name:
                    continue
                where = f"The test `{hit.symbol}`" if _TEST.search(own) else f"The test file `{hit.path}`"
                says = f"{where} uses `{name}`{_KNOWN if failing else ''}."
                return failing, hit.fact("tested_here", says, name, count=often)
    return None


def _uses(text: str, name: str) -> bool:
    """Return whether a line of code has a name outside comments and longer strings."""
    own = re.sub(rf"([\"'`])-{{0,2}}({re.escape(name)})\1", r"\2", text)
    return name in text and is_code(text) and whole_word(name).search(without_strings(own)) is not None


def _is_marked(lines: Sequence[str]) -> bool:
    """Return whether lines mark a test as skipped, failing or a known bug, whatever the machine."""
    skips = (at for at, line in enumerate(lines) if _SKIPS.match(line))
    return any(_MARK.search(line[:MAX_WIDTH]) for line in lines) or any(
        not _CONDITION.match(lines[at - 1][:MAX_WIDTH]) for at in skips if at
    )


def check(fact: Fact, witness: Witness) -> str | None:
    """Verify that the file is a test, that the line contains the name, and that a stated mark is near it."""
    path, line = fact.path or "", fact.line or 0
    if role_of(path) != "test":
        return "the file is not a test"
    if fact.says.endswith(f"{_KNOWN}.") and not _FAILING_PATH.search(path):
        near = witness.lines(path, line - NEAR, line + NEAR)
        if not _is_marked(near):
            return "the test has no such mark"
    return None if _uses(fact.text or "", fact.words or "") else "the line does not use the name"
