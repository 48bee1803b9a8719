"""Run finders of facts, choose among several places, and compute the confidence that follows."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import islice
from pathlib import Path, PurePosixPath

from nodes.search.facts.code import Code
from nodes.search.facts.inquiry import FIRST, FinderInput, read_issue
from nodes.search.facts.levels import ConfidenceInputs, confidence_inputs, limited
from nodes.search.facts.names import defined_once, read_here
from nodes.search.facts.names.named import names
from nodes.search.facts.output import built_here, error_form, raised_here
from nodes.search.facts.places import labelled_here, linked_here, named_here, pasted_here, quoted_here
from nodes.search.facts.types import Fact
from nodes.search.facts.witness import Witness
from nodes.search.index.index import Index
from nodes.search.ranking.rank import logit_of, probability
from nodes.search.tokens import STOPWORDS, query_terms, terms_of
from nodes.search.types import Query

Finder = Callable[[FinderInput], Iterator[Fact]]
# They take half of the time of all finders, and their modules are loaded in half of the time.
CODE_FINDERS: tuple[Finder, ...] = (
    linked_here.find,
    raised_here.find,
    pasted_here.find,
    defined_once.find,
    built_here.find,
    read_here.find,
    named_here.find,
    quoted_here.find,
    error_form.find,
)
"""The finders that need no history and no fact of another finder."""
MAX_OF_A_KIND = 40
"""Maximum number of facts of one kind."""
WEIGHTS = Path(__file__).with_name("confidence.json")
UNCLAIMED = 0.85
"""The factor of the confidence if what happened in the first file supports no claim; 37 of 60 such files were right."""
FUNCTION, AROUND = 2, 1
"""The weight of a place whose function the report names, and of one whose class or file it names."""

_BY_WORDS = frozenset({"read_here", "pasted_here", "quoted_here", "built_here", "default_here"})
_OF_CODE = frozenset({"built_here", "quoted_here", "pasted_here"})


def find_facts(
    witness: Witness,
    index: Index,
    query: Query,
    first: Sequence[str] = (),
    *,
    finders: Sequence[Finder],
    ignored: Iterable[int] = (),
    template: Iterable[str] = (),
) -> tuple[Fact, ...]:
    """Find the facts of an issue at a commit, in the order of their kinds' precedence, the same on every run.

    ``first`` has the ranked files, best first. Each of the ``finders`` receives the facts of those before it.
    ``ignored`` has the numbers of files that a maintainer excluded, ``template`` lines of the issue templates.
    """
    code = Code(witness.repository, witness.sha, index, ignored)
    inquiry = FinderInput(query, read_issue(query, template), code, witness, tuple(first[:FIRST]))
    for finder in finders:
        # If two finders state the same fact, it keeps the position of the first.
        found = dict.fromkeys(
            (*inquiry.found, *(limited(code, fact) for fact in islice(finder(inquiry), MAX_OF_A_KIND)))
        )
        inquiry = replace(inquiry, found=tuple(found))
    # Finders read the normalised text; a fact cites what the reporter wrote.
    facts = without_echoes(with_choices(inquiry))
    # A handler that prints an error is not its cause.
    caught = {fact.follows for fact in facts if fact.says.startswith("It runs where this catches an error")}
    facts = tuple(replace(it, unclaimed=True) if it.kind == "built_here" and it.at in caught else it for it in facts)
    # What has changed since the release of the report may be fixed.
    fixed = {fact.path for fact in facts if fact.kind == "changed_in" and fact.says.startswith("After ")}
    facts = tuple(replace(it, unclaimed=True) if it.path in fixed else it for it in facts)
    return tuple(replace(fact, words=inquiry.issue.as_written(fact.words)) for fact in facts)


def fact_signs(signs: ConfidenceInputs) -> dict[str, float]:
    """Return features of 0 or 1 that state what facts say about the first file, named like the weights."""
    return {
        "alone": float(signs.on_first and not signs.elsewhere),
        "shared": float(signs.on_first and signs.elsewhere),
        "elsewhere": float(signs.elsewhere and not signs.on_first),
        "two_kinds": float(signs.two_kinds),
    }


def with_facts(ranked: float, paths: Sequence[str], facts: Sequence[Fact]) -> float:
    """Return the calibrated probability that the first file is right (``benchmarks.facts.calibrate`` fits it)."""
    if not paths or ranked <= 0:
        return 0.0
    # Facts count here and not in the ranking: added to its scores they left the first file right in 69.4 to 70.5 % of
    # development issues (69.9 % without), because its features hold the same signals.
    weights = load()
    logit = weights["bias"] + weights["ranked"] * logit_of(ranked)
    inputs = confidence_inputs(facts, paths)
    logit += sum(weights[name] * value for name, value in fact_signs(inputs).items())
    return probability(logit) * (UNCLAIMED if inputs.unclaimed else 1.0)


@cache
def load() -> Mapping[str, float]:
    """Return the fitted weights."""
    weights: dict[str, float] = json.loads(WEIGHTS.read_text(encoding="utf-8"))
    return weights


def with_choices(inquiry: FinderInput) -> tuple[Fact, ...]:
    """Return all facts; among places with the same words, those in the one function that the report names are chosen.

    If it names none of them, the only function of the search's first file is, or all if that file has all of them.
    """
    groups: dict[tuple[str, str | None], list[Fact]] = {}
    for fact in inquiry.found:
        if fact.several:
            groups.setdefault((fact.kind, fact.words), []).append(fact)
    chosen = {fact for group in groups.values() for fact in _chosen(inquiry, group)}
    return tuple(replace(fact, chosen=True) if fact in chosen else fact for fact in inquiry.found)


def without_echoes(facts: Sequence[Fact]) -> tuple[Fact, ...]:
    """Leave out what only repeats a line that the report names: words of the code that a tool prints, a file's name."""
    named = [fact for fact in facts if fact.is_named_line or fact.kind == "raised_here"]
    printed = {(fact.path, fact.line) for fact in named if fact.kind == "named_here" and fact.exact}
    files = {PurePosixPath(fact.path or "").name for fact in named}

    def is_echo(fact: Fact) -> bool:
        is_name = fact.kind in _BY_WORDS and PurePosixPath(fact.words or "").name in files
        return is_name or (fact.kind in _OF_CODE and (fact.path, fact.line) in printed)

    return tuple(fact for fact in facts if not is_echo(fact))


def _chosen(inquiry: FinderInput, group: Sequence[Fact]) -> list[Fact]:
    named = frozenset(name.last for name in names(inquiry.issue))
    points = {fact: _points(inquiry, fact, named) for fact in group}
    most = max(points.values())
    best = [fact for fact in group if points[fact] == most]
    if not most:
        best = [fact for fact in group if fact.path in inquiry.first[:1]]
    # A few places that are all in the search's first file are stated together; for code, in its first files.
    is_code = group[0].kind == "quoted_here" and not any(map(labelled_here.SAYS.match, (fact.says for fact in group)))
    if not most and is_code and {fact.path for fact in group} <= {*inquiry.first}:
        return list(group)
    is_first = best == group and {fact.path for fact in best} <= {*inquiry.first[:1]}
    is_first = is_first and group[0].kind in ("read_here", "quoted_here", "built_here")
    return best if is_first or len({(fact.path, fact.symbol) for fact in best}) == 1 else []


def _points(inquiry: FinderInput, fact: Fact, named: frozenset[str]) -> int:
    *owners, function = (fact.symbol or "").split(".")
    if function in named:
        return FUNCTION
    files = {other.path for other in inquiry.found if other.kind in ("named_here", "linked_here")}
    around = {*owners, PurePosixPath(fact.path or "").stem}
    titled = {word.strip("`'\",;:()") for word in inquiry.issue.title.split()}
    is_around = fact.path in files or not named.isdisjoint(around) or PurePosixPath(fact.path or "").name in titled
    if not is_around and labelled_here.SAYS.match(fact.says):
        # Many files may contain a program's text; the title's other words say on which page it was seen.
        subject = {term for name in (*around, function) for term in terms_of(name)} - STOPWORDS
        is_around = not subject.isdisjoint({*query_terms(inquiry.issue.title)} - {*query_terms(fact.words or "")})
    return AROUND if is_around else 0
