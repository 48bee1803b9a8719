"""A critic judges a statement that contradicts the hypothesis, too: who approves both has refuted neither."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from typing import Any

import pytest

from nodes.brains.briefing import build_briefing, evidence_for
from nodes.brains.calls.models import Models, ModelSettings
from nodes.brains.llm import UNCRITICAL, ComparedAudit, LLMBrain, other_place
from nodes.context.brain import Case
from nodes.judgements import CauseSentence, Submission, SubmittedPlace
from nodes.state import AgentFinding
from tests.servers.endpoints import ANSWERS
from tests.servers.model_server import ModelServer, says, serve, text_of
from tests.support.cases import case, place

NAMED = place("src/lexer.py", "scan", score=0.9)
CITED = place("src/cursor.py", "advance", score=0.5)
RANKED = place("src/reader.py", "read", score=0.7)
LOWER = place("src/writer.py", "write", score=0.2)


def submitted(*evidence: Any) -> Case:
    given = Submission(
        cause=(CauseSentence(text="`scan` never calls `advance`.", evidence=(NAMED.key, CITED.key)),),
        places=(SubmittedPlace(evidence=NAMED.key),),
    )
    finding = AgentFinding(agent_name="codebase_search", summary="It loops.", judged_by="m", submitted=given)
    return case("scan never ends", "It hangs.", *evidence, findings=(finding,))


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serve() as running:
        yield running


@pytest.fixture
async def brain(server: ModelServer) -> AsyncIterator[LLMBrain]:
    models = Models(ModelSettings(base_url=server.url, max_retries=0, calls_per_minute=1e6))
    yield LLMBrain(models)
    await models.aclose()


@pytest.mark.parametrize(
    ("evidence", "path"),
    [
        pytest.param((NAMED, CITED, LOWER, RANKED), "src/reader.py", id="the-best-of-a-file-that-is-not-cited"),
        pytest.param((NAMED, CITED), "src/cursor.py", id="else-one-that-is-not-to-change"),
        pytest.param((NAMED,), None, id="else-none"),
    ],
)
def test_the_other_place_is_not_the_submitted_one(evidence: tuple[Any, ...], path: str | None) -> None:
    found = other_place(submitted(*evidence), ())
    assert (found.evidence.locator.path if found else None) == path


def test_a_named_rival_is_the_other_explanation() -> None:
    given = submitted(NAMED, CITED, RANKED, LOWER)
    finding = given.state.findings[-1]
    assert finding.submitted is not None
    rival = SubmittedPlace(evidence=LOWER.key, why="It writes too early.")
    named = finding.submitted.model_copy(update={"rival": rival, "against": RANKED.key})
    finding = finding.model_copy(update={"submitted": named})
    given = replace(given, state=given.state.model_copy(update={"findings": (finding,)}))
    found = other_place(given, ())
    assert found is not None
    assert found.evidence.locator.path == "src/writer.py"
    shown = evidence_for(given)
    asked = build_briefing(given, shown, role="critic")
    assert "The strongest rival: E4: It writes too early. Against it: E3." in asked
    # What only the search found is shown no further than its best place, but a critic needs both of these.
    assert {"E3", "E4"} <= {item.id for item in shown}


def test_what_is_compared_comes_before_the_verdict() -> None:
    fields = list(ComparedAudit.model_fields)
    assert fields.index("against_other") < fields.index("other_holds") < fields.index("approved")


@pytest.mark.parametrize(
    ("answer", "approved", "gaps"),
    [
        pytest.param({"approved": True, "other_holds": False, "against_other": "[E1:2] decides."}, True, (), id="one"),
        pytest.param(
            {"approved": True, "other_holds": False, "against_other": "No."}, False, (UNCRITICAL,), id="no-id"
        ),
        pytest.param(
            {"approved": True, "other_holds": False, "against_other": "E9."}, False, (UNCRITICAL,), id="unseen"
        ),
        pytest.param({"approved": True, "other_holds": True}, False, (UNCRITICAL,), id="both"),
        pytest.param({"approved": False, "other_holds": True, "gaps": ["Why?"]}, False, ("Why?",), id="the-other"),
        pytest.param({"approved": True}, False, (UNCRITICAL,), id="not-answered"),
    ],
)
async def test_who_approves_a_contradiction_too_approves_nothing(
    brain: LLMBrain, server: ModelServer, answer: dict[str, Any], approved: bool, gaps: tuple[str, ...]
) -> None:
    plain = {key: value for key, value in ANSWERS["critic"].items() if key not in {"against_other", "other_holds"}}
    server.script = [says({**plain, **answer})]
    judged = await brain.audit(submitted(NAMED, CITED, RANKED))
    assert (judged.value.approved, judged.value.gaps) == (approved, gaps)
    asked = text_of(server.requests[0])
    assert "does not belong there but in `read`, as E3 shows." in asked
    assert "def read():" in asked


async def test_without_another_place_there_is_no_other_explanation(brain: LLMBrain, server: ModelServer) -> None:
    server.script = [says(ANSWERS["critic"])]
    assert (await brain.audit(submitted(NAMED))).value.approved
    assert "other_holds" not in str(server.requests[0])
