"""Schemas for strict servers, and the handling of answers that are too long."""

from __future__ import annotations

import json

import pytest
from pydantic import ValidationError

from nodes.brains.briefing import build_briefing, select
from nodes.brains.calls.schema import fit, shorten, strict_schema
from nodes.brains.fence import compress, fence
from nodes.context.brain import Case
from nodes.evidence import Evidence, Locator, NumberedEvidence
from nodes.issue.facts import IssueFacts
from nodes.judgements import Audit, CodeReading, Draft, Investigation, SupervisorDecision, WebReading
from nodes.search.types import Frame, StackTrace
from nodes.state import AgentFinding, BugTriageState, HumanExchange
from prompts.texts import build_shared_prompt
from tests.support.growth import assert_linear


@pytest.mark.parametrize("model", [SupervisorDecision, Investigation, CodeReading, WebReading, Audit, Draft])
def test_a_schema_is_strict(model):
    def walk(node):
        if isinstance(node, list):
            return all(walk(item) for item in node)
        if not isinstance(node, dict):
            return True
        if "properties" in node:
            assert node["additionalProperties"] is False
            assert node["required"] == list(node["properties"])
            return all(walk(field) for field in node["properties"].values())
        assert not {"$ref", "$defs", "default", "maxLength", "pattern", "maximum"} & node.keys()
        return all(walk(value) for value in node.values())

    assert walk(strict_schema(model))


def test_the_schema_contains_bounds_and_docstrings():
    text = json.dumps(strict_schema(Draft))
    assert "One sentence a maintainer can stop after. At most 300 characters." in text
    assert "An evidence id such as E3." in text


def test_lists_are_cut_and_null_means_the_default():
    value = fit(Investigation, {"problem": "p", "hypothesis": "h", "missing": list("abcdef"), "severity": None})
    assert value.missing == ("a", "b", "c", "d")
    assert value.severity == "unknown"


@pytest.mark.parametrize("confidence", [-0.1, 1.1, 9, 185, "high", "185%", [1], float("nan"), float("inf")])
def test_a_confidence_out_of_range_is_invalid(confidence):
    with pytest.raises(ValidationError):
        fit(Audit, {"approved": True, "confidence": confidence})


def test_a_confidence_may_be_clamped():
    assert fit(Audit, {"approved": True, "confidence": 1.2}, clamp=True).confidence == 1.0


@pytest.mark.parametrize("confidence", [85, "85%", "85 %", 0.85])
def test_a_percentage_is_read_as_a_share(confidence):
    assert fit(Audit, {"approved": True, "confidence": confidence}).confidence == 0.85


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("short", "short", id="fits"),
        pytest.param("It is here [E12] and there.", "It is here…", id="no-half-citation"),
        pytest.param("abcdefghijklmnopqrstuvwxyz", "abcdefghijklm…", id="cut"),
    ],
)
def test_shorten(text, expected):
    assert shorten(text, 14) == expected


def test_compress_keeps_both_ends():
    assert compress("a" * 10 + "b" * 100 + "c" * 5, 15) == "aaaaaaaaaa\n[… 100 characters left out …]\nccccc"


@pytest.mark.tried("texts made to be slow to read")
@pytest.mark.parametrize("piece", ["<", "<<< ", "DATA ", "DATA 0a"])
def test_hostile_text_is_fenced_in_linear_time(piece):
    assert_linear(lambda text: fence("issue", text), lambda size: piece * (size // len(piece)), 100_000)


def test_a_briefing_stays_within_its_tokens():
    evidence = tuple(
        NumberedEvidence(
            id=f"E{n}",
            evidence=Evidence(
                kind="code", locator=Locator(path=f"p{n}.py"), quote="q" * 1_000, score=n / 60, reasons=("r" * 100,)
            ),
        )
        for n in range(60)
    )
    trace = StackTrace("python", "E" * 500, "m" * 5_000, tuple(Frame("f" * 300, 1) for _ in range(90)))
    case = Case(
        state=BugTriageState(
            findings=tuple(AgentFinding(agent_name="a", summary="s" * 300, details="d" * 600) for _ in range(20)),
            human_exchanges=(HumanExchange(question="q", answer="a" * 1_000),) * 2,
            redirect_instructions=("r" * 600,) * 3,
        ),
        title="t" * 5_000,
        body="b" * 100_000,
        facts=IssueFacts(traces=(trace,) * 5, errors=("e" * 3_000,) * 50),
        evidence=evidence,
    )
    shown = select(evidence)
    assert [item.id for item in shown] == [f"E{n}" for n in range(60 - len(shown), 60)]
    assert len(build_briefing(case, shown)) + len(build_shared_prompt()) < 8_000 * 3.6


def test_every_role_gets_the_rules():
    prompt = build_shared_prompt()
    assert "Cite only evidence ids that you were given" in prompt
    assert "Never invent" in prompt
    assert "untrusted data" in prompt
