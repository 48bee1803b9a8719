"""The citation engine: kept and dropped claims, and penalties."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.evidence import Evidence, Locator
from nodes.judgements import Draft, DraftSuspect
from nodes.report import CitationAudit
from nodes.trust.citations import Checked, check, penalised
from nodes.trust.statements import HEDGES
from tests.support.fakes import FakeCode

CODE = Evidence(
    kind="code",
    locator=Locator(path="a.py", start_line=1, end_line=2, sha="s"),
    quote="one\ntwo",
    reasons=("defines one, which the text names",),
)
MOVED = Evidence(kind="code", locator=Locator(path="a.py", start_line=2, end_line=3, sha="s"), quote="one\ntwo")
GONE = Evidence(kind="code", locator=Locator(path="b.py", start_line=1, end_line=1, sha="s"), quote="x")
SAID = Evidence(kind="issue", quote="KeyError: 'x'")
PUT_IN_A_MOUTH = Evidence(kind="issue", quote="it is your cache")
CHANGE = Evidence(kind="commit", locator=Locator(sha="c" * 40), quote="Speed up the lexer")
REWORDED = Evidence(kind="commit", locator=Locator(sha="c" * 40), quote="Break the lexer")
FOREIGN = Evidence(kind="commit", locator=Locator(sha="d" * 40), quote="Speed up the lexer")
GATHERED = (CODE, MOVED, GONE, SAID, PUT_IN_A_MOUTH, CHANGE, REWORDED, FOREIGN)
EVIDENCE = {f"E{number}": item for number, item in enumerate(GATHERED, 1)}
CODE_READ = FakeCode(files={"a.py": ["one", "two", "three"]}, subjects={"c" * 40: "Speed up the lexer"})


def checked(**draft: object) -> Checked:
    proposal = Draft(**{"verdict": "v", "root_cause": "", **draft})
    return asyncio.run(check(proposal, EVIDENCE, CODE_READ, "It says KeyError: 'x' here."))


@pytest.mark.parametrize(
    ("text", "kept", "fabricated", "failed", "uncited"),
    [
        pytest.param("It loops [E1].", "It loops [E1].", (), (), 0, id="holds"),
        pytest.param("It raises [E4].", "", (), (), 0, id="only-the-issue-says-so"),
        pytest.param("It raises [E1, E4].", "It raises [E1, E4].", (), (), 0, id="the-issue-says-so-too"),
        pytest.param("They blame the cache [E5].", "", (), ("E5",), 0, id="the-issue-does-not-say-so"),
        pytest.param("It broke [E6].", "It broke [E6].", (), (), 0, id="the-commit-is-there"),
        pytest.param("It broke [E7].", "", (), ("E7",), 0, id="its-message-says-otherwise"),
        pytest.param("It broke [E8].", "", (), ("E8",), 0, id="not-in-this-history"),
        pytest.param("It loops [E9].", "", ("E9",), (), 0, id="fabricated"),
        pytest.param("It loops [E2].", "", (), ("E2",), 0, id="lines-moved"),
        pytest.param("It loops [E3].", "", (), ("E3",), 0, id="file-gone"),
        pytest.param("It loops.", "", (), (), 1, id="uncited"),
        pytest.param(
            "It loops [E1]. It is old. It ends [E1, E4].", "It loops [E1]. It ends [E1, E4].", (), (), 1, id="some"
        ),
        pytest.param("One holds, one not [E1, E9].", "", ("E9",), (), 0, id="half-true-is-dropped"),
        pytest.param("`two` reads rows[-1] [E1].", "`two` reads rows[-1] [E1].", (), (), 0, id="a-bracket-of-code"),
        pytest.param(
            "It loops. [E1] It ends [E1].", "It loops. [E1] It ends [E1].", (), (), 0, id="cited-after-the-stop"
        ),
        pytest.param("`one two` ends. So does `x. Y` [E1].", "", (), (), 1, id="a-stop-inside-code"),
        pytest.param("`one(two)` loops [E1].", "`one(two)` loops [E1].", (), (), 0, id="names-in-another-order"),
        pytest.param("`one(three)` loops [E1].", "", (), (), 0, id="an-unknown-name-in-a-call"),
        pytest.param(
            "It loops [E1]. It raises 'x' as `one two` [E4].",
            "It loops [E1]. It raises 'x' as `one two` [E4] [E1].",
            (),
            (),
            0,
            id="a-message-and-its-mechanism",
        ),
        pytest.param("The version is not provided.", "The version is not provided.", (), (), 0, id="hedge"),
    ],
)
def test_sentences(text: str, kept: str, fabricated: tuple[str, ...], failed: tuple[str, ...], uncited: int) -> None:
    result = checked(root_cause=text)
    assert result.draft.root_cause == kept
    assert (result.audit.fabricated, result.audit.failed) == (fabricated, failed)
    assert result.audit.uncited_claims == uncited


def test_suspects_that_do_not_hold_are_dropped_and_counted() -> None:
    names = ("E1", "E2", "E3", "E9")
    result = checked(suspects=tuple(DraftSuspect(evidence=name, why="w") for name in names))
    assert [suspect.evidence for suspect in result.draft.suspects] == ["E1"]
    assert len(result.audit.dropped) == 3


def test_an_unsupported_headline_is_dropped() -> None:
    assert checked(verdict="It is certainly `a.py` [E1].").draft.verdict == ""
    assert (
        checked(verdict="Probably in `a.py` [E1].", root_cause="It loops [E1].").draft.verdict == "Probably in `a.py`."
    )


def test_an_unsupported_reason_is_replaced_by_the_programs() -> None:
    result = checked(suspects=(DraftSuspect(evidence="E1", why="`launch_missiles` is called here"),))
    assert [suspect.why for suspect in result.draft.suspects] == ["defines one, which the text names"]
    assert result.audit.dropped == ("names code that is not in what it cites: `launch_missiles` is called here",)


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        pytest.param("b.py: another path [E1]", True, id="cited"),
        pytest.param("b.py: another path", False, id="uncited"),
        pytest.param("b.py: another path [E9]", False, id="fabricated"),
    ],
)
def test_ruling_out_a_cause_needs_evidence(line: str, kept: bool) -> None:
    assert checked(ruled_out=(line,)).draft.ruled_out == ((line,) if kept else ())


@pytest.mark.parametrize(
    ("audit", "factor"),
    [
        pytest.param(CitationAudit(), 1.0, id="clean"),
        pytest.param(CitationAudit(fabricated=("E9", "E8")), 0.5, id="fabricated-once-or-often"),
        pytest.param(CitationAudit(uncited_claims=3), 0.91, id="three-uncited"),
        pytest.param(CitationAudit(uncited_claims=50), 0.6, id="capped"),
        pytest.param(CitationAudit(fabricated=("E9",), uncited_claims=3), 0.455, id="seed-002-by-the-formula"),
    ],
)
def test_penalty(audit: CitationAudit, factor: float) -> None:
    assert penalised(1.0, audit) == pytest.approx(factor)


@given(raw=st.floats(0, 1), uncited=st.integers(0, 1000), fabricated=st.booleans())
def test_the_penalty_never_raises_confidence_and_never_rewards_a_fault(
    raw: float, uncited: int, fabricated: bool
) -> None:
    audit = CitationAudit(uncited_claims=uncited, fabricated=("E9",) if fabricated else ())
    worse = CitationAudit(uncited_claims=uncited + 1, fabricated=("E9",))
    assert 0 <= penalised(raw, worse) <= penalised(raw, audit) <= raw


@given(st.text(alphabet=" .![]()E0123456789abcXYZ`", max_size=400))
def test_only_sentences_with_valid_citations_or_hedges_remain(text: str) -> None:
    kept = checked(root_cause=text).draft.root_cause
    assert not kept or "[" in kept or any(hedge in kept.lower() for hedge in HEDGES)
    assert "E9" not in kept
