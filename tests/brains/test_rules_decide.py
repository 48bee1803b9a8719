"""The rules that choose the next step."""

from __future__ import annotations

import pytest

from nodes.brains.rules import RulesBrain
from nodes.brains.rules.decide import decide
from nodes.state import CriticVerdict, HumanExchange, Marks, Progress
from tests.support.cases import case, place

LEXER = place(
    "src/lexer.py", "scan", reasons=("defines scan, which the text names", "shares rare words with the title")
)
READER = place("src/reader.py", "read", score=0.7)
WORDS = ("shares rare words with the title",)
EXPORT = place("src/exporter.py", "export_orders", reasons=WORDS)
IMPORT = place("src/importer.py", "import_orders", score=0.99, reasons=WORDS)
SEARCHED = Marks(searches=1, after_search=Progress(evidence=2))
JUDGED = SEARCHED.model_copy(update={"at_critic": Progress(evidence=2)})
BODY = "The `scan` function hangs on an open quote in version 1.2.3, I expected an error."
REJECTED = CriticVerdict(verdict="REJECTED", required_evidence=("scan",), on_evidence=Progress(evidence=2))


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param(case("scan hangs", BODY), "investigator", id="not-read"),
        pytest.param(case("scan hangs", BODY, ran="investigator"), "codebase_search", id="read"),
        pytest.param(case("scan hangs", "", ran="investigator"), "codebase_search", id="a-title-is-searched"),
        pytest.param(case("", "", ran="investigator"), "writer", id="empty"),
        pytest.param(case("How do I scan?", "?", ran="investigator", kind="question"), "writer", id="question"),
        pytest.param(case("XSS", BODY, ran="investigator", kind="security"), "writer", id="security"),
        pytest.param(
            case("How?", "?", ran="investigator", kind="question", redirect_instructions=("look at scan",)),
            "codebase_search",
            id="a-redirected-question-is-searched",
        ),
        pytest.param(
            case("scan hangs", BODY, LEXER, READER, ran="investigator codebase_search", confidence=0.9),
            "critic",
            id="found",
        ),
        pytest.param(
            case("scan hangs", BODY, LEXER, READER, ran="investigator codebase_search", confidence=0.9, marks=JUDGED),
            "writer",
            id="judged",
        ),
        pytest.param(
            case(
                *("scan hangs", BODY, LEXER, READER),
                ran="investigator codebase_search critic",
                confidence=0.9,
                marks=JUDGED,
                critic_feedback=REJECTED,
            ),
            "codebase_search",
            id="rejected-with-something-to-look-for",
        ),
        pytest.param(
            case(
                *("scan hangs", BODY, LEXER, READER),
                ran="investigator codebase_search critic codebase_search",
                confidence=0.9,
                marks=JUDGED.model_copy(update={"searches": 2}),
                critic_feedback=REJECTED,
            ),
            "writer",
            id="rejected-after-the-second-search",
        ),
        pytest.param(
            case(
                *("scan hangs", BODY, LEXER, READER),
                ran="investigator codebase_search",
                confidence=0.9,
                redirect_instructions=("look at the reader",),
            ),
            "codebase_search",
            id="redirected",
        ),
        pytest.param(
            case("scan hangs", BODY, LEXER, READER, ran="investigator codebase_search", confidence=0.9, retry_count=1),
            "codebase_search",
            id="sent-back",
        ),
        pytest.param(
            case("It fails", "It says an error.", ran="investigator codebase_search"), "human_input", id="nothing-found"
        ),
        pytest.param(
            case("It fails", "It says an error.", ran="investigator codebase_search", iterations=7),
            "writer",
            id="nothing-found-and-no-round-left",
        ),
        pytest.param(
            case("It fails", "", place("a.py", "f", reasons=()), ran="investigator codebase_search", confidence=0.9),
            "human_input",
            id="one-place-is-left-for-no-reason",
        ),
        pytest.param(
            case("Orders are wrong", "", EXPORT, IMPORT, ran="investigator codebase_search", confidence=0.4),
            "human_input",
            id="two-equal",
        ),
        pytest.param(
            case("Orders are wrong", "", EXPORT, IMPORT, ran="investigator codebase_search", confidence=0.9),
            "critic",
            id="two-equal-but-sure",
        ),
    ],
)
def test_next_step(given, expected):
    decision = decide(given)
    assert decision.next_node == expected
    assert decision.reasoning
    assert bool(decision.question) == (expected == "human_input")


def test_an_answer_causes_a_search():
    answered = HumanExchange(question="Which?", answer="The lexer")
    given = case(
        *("scan hangs", BODY, LEXER, READER),
        ran="investigator codebase_search human_input",
        confidence=0.3,
        human_exchanges=(answered,),
    )
    assert decide(given).next_node == "codebase_search"


def test_the_web_is_searched_once_for_an_error_from_outside():
    trace = (
        'Traceback (most recent call last):\n  File "/v/site-packages/yaml/scan.py", line 9, in f\n    x\nKeyError: 1\n'
    )
    ran = "investigator codebase_search"
    given = case("Load fails", trace, LEXER, ran=ran, confidence=0.9, web_configured=True)
    assert decide(given).next_node == "web_search"
    given = case("Load fails", trace, LEXER, ran=f"{ran} web_search", confidence=0.9, web_configured=True)
    assert decide(given).next_node != "web_search"


async def test_every_judgement_is_attributed_to_the_rules():
    brain = RulesBrain()
    given = case("scan hangs", BODY, LEXER, READER, ran="investigator codebase_search", confidence=0.9)
    judged = [
        await brain.decide(given),
        await brain.investigate(given),
        await brain.read_code(given, given.evidence),
        await brain.read_web(given, ()),
        await brain.audit(given),
        await brain.write(given),
    ]
    assert brain.name == "rules"
    assert {getattr(answer, "judged_by", None) for answer in judged} == {"rules"}
