"""Whole runs of scripted models: one knows the fix, one is always wrong, one has a critic that rejects everything."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from benchmarks.models import Scripted, repeated_tokens
from bot.report.comment.markdown import MarkdownRenderer
from bot.runs.code import EngineCode
from nodes.brains.calls.models import Models, ModelSettings
from nodes.brains.llm import LLMBrain
from nodes.brains.rules import RulesBrain
from nodes.graph import build_graph
from nodes.report import TriageReport
from nodes.run import advance, initial_state
from nodes.search.engine import Engine
from nodes.state import Answer, BugTriageState, Waiting
from nodes.state.checkpoints import serializer
from nodes.trust.statements import uncited
from tests.servers.endpoints import ANSWERS, prompt_of
from tests.servers.model_server import ModelServer, Reply, Request, says, serve
from tests.support.code_reader import is_reading
from tests.support.fakes import context
from tests.support.patience import patience
from tests.support.repositories import make_repository

TITLE = "Total of a cart with a discount is off by one cent"
BODY = """With a discount of 15 % the total of a cart is one cent too low.

```python
cart = Cart([Item("tea", 1.10), Item("cup", 2.35)])
cart.apply(Discount(15))
print(cart.total())  # 2.92 instead of 2.93
```
"""
FILES = {
    "shop/cart.py": '''"""The cart of a customer."""

from shop.rounding import to_cents


class Cart:
    def __init__(self, items):
        self.items = items
        self.discount = None

    def apply(self, discount):
        self.discount = discount

    def total(self):
        """Return the total of the cart."""
        total = sum(item.price for item in self.items)
        return to_cents(self.discount.of(total) if self.discount else total) / 100
''',
    "shop/discount.py": '''"""Discounts in per cent."""


class Discount:
    def __init__(self, share):
        self.share = share

    def of(self, total):
        return total * (100 - self.share) / 100
''',
    "shop/rounding.py": '''"""Money as whole numbers."""


def to_cents(amount):
    return int(amount * 100)
''',
}
OTHERS = ("stock", "tax", "orders", "mail", "users", "reports", "export", "currency", "invoice", "coupon", "price")
_OTHER = '''"""{title} of the shop."""


def {name}(item):
    """Return the {name} of an item."""
    return item.{name}
'''
FILES |= {f"shop/{name}.py": _OTHER.format(name=name, title=name.capitalize()) for name in OTHERS}
FIXED = "shop/rounding.py"


@dataclass
class Triaged:
    """A run and what it asked."""

    state: BugTriageState
    requests: list[Request]

    @property
    def report(self) -> TriageReport:
        """The report of the run."""
        assert self.state.report is not None
        return self.state.report

    @property
    def steps(self) -> list[str]:
        """The nodes in their order, without the supervisor."""
        return [entry.node for entry in self.state.trace if entry.node != "supervisor"]


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with serve() as running:
        yield running


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    folder = tmp_path_factory.mktemp("shop")
    make_repository(folder, FILES)
    return Engine(folder)


class Certain(EngineCode):
    """The same repository with a search of a given probability."""

    sure = 0.5

    async def find(self, query: Any) -> Any:
        return replace(await super().find(query), confidence=self.sure)

    async def survey(self, query: Any) -> Any:
        return replace(await super().survey(query), confidence=self.sure)


async def triage(server: ModelServer, engine: Engine, script: Any, sure: float = 0.5, body: str = BODY) -> Triaged:
    server.script = script
    server.requests.clear()
    models = Models(ModelSettings(base_url=server.url, max_retries=0, timeout=patience(10), calls_per_minute=10**6))
    code = Certain(engine, engine.commit())
    code.sure = sure
    ctx = context(LLMBrain(models), rules=RulesBrain(), code=code, title=TITLE, body=body)
    start = initial_state(TITLE, body, repository="o/r", sha=code.sha)
    graph = build_graph(InMemorySaver(serde=serializer()))
    try:
        outcome = await advance(graph, ctx, "t", start)
        while isinstance(outcome, Waiting):
            asked = outcome.exchange.question_id
            outcome = await advance(graph, ctx, "t", start, answer=Answer(), question_id=asked)
    finally:
        await models.aclose()
    return Triaged(outcome.state, list(server.requests))


@pytest.mark.parametrize("fixed", ["shop/rounding.py", "shop/cart.py", "shop/discount.py"])
async def test_a_model_that_knows_the_fix_claims_it_although_the_search_doubts(
    server: ModelServer, engine: Engine, fixed: str
) -> None:
    run = await triage(server, engine, Scripted("oracle", frozenset({fixed})))
    assert run.report.suspects[0].path == fixed
    assert run.report.root_cause
    assert run.report.written_by == "gpt-4o"
    assert run.report.status == "success"
    assert len(run.requests) <= 8
    assert run.steps == ["investigator", "codebase_search", "critic", "writer"]
    preferred = bool(run.state.search_prefers)
    assert preferred == any("The search and the model disagree" in doubt for doubt in run.report.doubts)
    assert preferred == (fixed != _first(run))


def _first(run: Triaged) -> str:
    """The first file of the list that the model was shown."""
    listed = next(prompt_of(request) for request in run.requests if is_reading(request))
    found = re.search(r"^E\d+ (\S+)$", listed.partition("files of the search\n")[2], re.MULTILINE)
    assert found is not None
    return found[1]


@pytest.mark.parametrize("who", ["wrong"])
async def test_a_file_that_the_search_ranks_low_is_shown_but_not_claimed(
    server: ModelServer, engine: Engine, who: str
) -> None:
    every = frozenset(FILES)
    known = frozenset({"shop/invoice.py"}) if who == "oracle" else every - {"shop/invoice.py"}
    run = await triage(server, engine, Scripted(who, known))
    assert run.report.suspects[0].path == "shop/invoice.py"
    assert run.report.root_cause is None
    assert run.report.not_found == "search_and_model_disagree"
    both = f"the search ranks `{_first(run)}` first, the model `shop/invoice.py`."
    assert any(both in doubt for doubt in run.report.doubts)
    assert "**Ranked by the model:**" in MarkdownRenderer().comment(run.report)
    assert run.report.claim_strength < 0.65


@pytest.mark.parametrize("fixed", ["shop/rounding.py", "shop/cart.py", "shop/discount.py"])
@pytest.mark.parametrize("sure", [0.3, 0.5, 0.65, 0.9])
async def test_a_consistent_model_does_not_raise_the_shown_number(
    server: ModelServer, engine: Engine, fixed: str, sure: float
) -> None:
    """A model that is wrong in both orders looks like one that knows; so neither shows more than the search alone."""
    run = await triage(server, engine, Scripted("oracle", frozenset({fixed})), sure=sure)
    assert run.report.confidence <= sure
    comment = MarkdownRenderer().comment(run.report)
    if run.report.root_cause:
        assert "The fix is probably in" in comment
        assert f"{run.report.confidence:.0%}" not in comment


async def test_a_disagreement_with_a_sure_search_is_named_and_not_claimed(server: ModelServer, engine: Engine) -> None:
    run = await triage(server, engine, Scripted("oracle", frozenset({FIXED})), sure=0.95)
    assert run.report.suspects[0].path == FIXED
    assert run.report.root_cause is None
    assert run.report.not_found == "search_and_model_disagree"
    assert run.report.confidence < 0.65
    assert "writer" not in run.steps[:-1]


@pytest.mark.parametrize("sure", [0.2, 0.5, 0.7, 0.9])
async def test_a_model_that_is_always_wrong_claims_nothing_above_the_searchs_confidence(
    server: ModelServer, engine: Engine, sure: float
) -> None:
    first = _first(await triage(server, engine, Scripted("oracle", frozenset({FIXED}))))
    run = await triage(server, engine, Scripted("wrong", frozenset({first})), sure=sure)
    assert run.report.root_cause is None
    assert run.report.confidence <= sure


async def test_a_search_that_is_sure_costs_five_calls(server: ModelServer, engine: Engine) -> None:
    first = _first(await triage(server, engine, Scripted("oracle", frozenset({FIXED}))))
    run = await triage(server, engine, Scripted("oracle", frozenset({first})), sure=0.95)
    # The investigator, a turn that reads, one that submits, the critic, and a writer for the missing verdict.
    assert len(run.requests) == 5
    assert run.report.root_cause
    assert not run.report.doubts


def critic_says(**objection: Any) -> Any:
    """A model that knows the fix, with a critic of this opinion."""
    model = Scripted("oracle", frozenset({FIXED}))

    def script(request: Request) -> Reply:
        if "You are the critic" in prompt_of(request):
            return says({**ANSWERS["critic"], "approved": False, **objection})
        return model(request)

    return script


@pytest.mark.parametrize(
    "objection",
    [
        pytest.param({"gaps": ["No evidence shows how the amount is rounded."]}, id="a-gap"),
        pytest.param({"gaps": []}, id="no-gap"),
        pytest.param(
            {"required_evidence": ["where an invoice is written"], "gaps": ["Invoices are left out."]}, id="new"
        ),
        pytest.param({"better_place": "shop/tax.py", "gaps": ["Taxes are left out."]}, id="a-better-place"),
        pytest.param({"better_place": "shop/ghost.py", "gaps": ["`launch_missiles()` is left out."]}, id="ghosts"),
    ],
)
@pytest.mark.parametrize("sure", [0.5, 0.95])
async def test_a_critic_that_rejects_everything_leaves_the_cause_not_confirmed(
    server: ModelServer, engine: Engine, sure: float, objection: dict[str, Any]
) -> None:
    run = await triage(server, engine, critic_says(**objection), sure=sure)
    assert len(run.requests) <= 8
    assert run.steps[-1] == "writer"
    assert run.steps.count("writer") == 1
    assert run.report.written_by == "gpt-4o"
    text = " ".join(run.report.doubts)
    assert "A critical second reading objects: " in text
    assert "ghost" not in text
    assert "missiles" not in text
    for gap in objection["gaps"][:1]:
        assert (gap in text) == ("missiles" not in gap)
    assert run.report.root_cause is None
    assert run.report.unconfirmed
    comment = MarkdownRenderer().comment(run.report)
    assert comment.startswith("**Not confirmed: ")
    assert uncited(run.report.unconfirmed).rstrip(".") in comment


async def test_an_objection_is_answered_from_its_lines_alone(server: ModelServer, engine: Engine) -> None:
    objection = {
        "better_place": "shop/tax.py",
        "gaps": ["Taxes are left out."],
        "required_evidence": ["the definition of Discount.of"],
    }
    run = await triage(server, engine, critic_says(**objection))
    assert run.steps == ["investigator", "codebase_search", "critic", "codebase_search", "critic", "writer"]
    readings = [prompt_of(request) for request in run.requests if is_reading(request)]
    before, after = readings[-2:]
    # The lines of the first place, with those around them; not the files of the search and not what else was read.
    assert FILES[FIXED].splitlines()[-1] in after
    assert "## The first files of the search" in before
    assert "## The first files of the search" not in after
    assert "Gaps: Taxes are left out." in after
    # The exact definition comes before what the search found.
    asked = after.partition("## Looked up for it")[2]
    assert 0 < asked.index("return total * (100 - self.share) / 100") < asked.index("shop/tax.py\n")
    critics = [prompt_of(request) for request in run.requests if "You are the critic" in prompt_of(request)]
    assert "shop/tax.py" in critics[1].partition("## Evidence")[2]
    assert "`shop/tax.py`" in " ".join(run.report.doubts)


async def test_a_cause_that_is_corrected_after_an_objection_is_claimed(server: ModelServer, engine: Engine) -> None:
    model, verdicts = Scripted("oracle", frozenset({FIXED})), [False, True]

    def script(request: Request) -> Reply:
        if "You are the critic" in prompt_of(request):
            gap = {"gaps": ["The lines of `to_cents` are not shown."]}
            return says({**ANSWERS["critic"], **gap, "approved": verdicts.pop(0)})
        return model(request)

    run = await triage(server, engine, script)
    assert not verdicts
    assert run.report.root_cause
    assert not run.report.doubts or "disagree" in run.report.doubts[0]


async def test_the_critic_gets_the_first_functions_in_full(server: ModelServer, engine: Engine) -> None:
    run = await triage(server, engine, Scripted("oracle", frozenset({FIXED})))
    critic = next(prompt_of(request) for request in run.requests if "You are the critic" in prompt_of(request))
    functions = critic.partition("## The code around the first places")[2]
    assert "def to_cents(amount):\n    return int(amount * 100)" in functions


async def test_no_request_is_sent_twice(server: ModelServer, engine: Engine) -> None:
    model = Scripted("oracle", frozenset({FIXED}))

    def script(request: Request) -> Reply:
        if "You are the writer" in prompt_of(request):
            return says({**ANSWERS["writer"], "root_cause": "It is stale [E777]."})
        return model(request)

    run = await triage(server, engine, script)
    texts = [prompt_of(request) for request in run.requests]
    assert len(set(texts)) == len(texts)
    assert run.state.retry_count
    assert any(finding.agent_name == "writer" and "stale" in finding.details for finding in run.state.findings)


async def test_a_models_labels_are_the_repositorys_own(server: ModelServer, engine: Engine) -> None:
    model = Scripted("oracle", frozenset({FIXED}))

    def script(request: Request) -> Reply:
        reply = model(request)
        if "You are the writer" in prompt_of(request):
            return says({**ANSWERS["writer"], "labels": ["priority: critical", "bug"]})
        return reply

    assert (await triage(server, engine, script)).report.labels == ("bug",)


async def test_every_specialist_gets_the_same_prefix(server: ModelServer, engine: Engine) -> None:
    run = await triage(server, engine, Scripted("oracle", frozenset({FIXED})))
    stages = [request for request in run.requests if "You are the supervisor" not in prompt_of(request)]
    assert len(stages) == 5
    assert len({request["messages"][0]["content"] for request in stages}) == 1
    starts = [request["messages"][1]["content"].partition("You are the ")[0] for request in stages]
    whole = {start.partition("## Evidence")[0] for start in starts}
    assert len(whole) == 1
    assert BODY.strip() in whole.pop()
    critic, writer = (start for start in starts if "## Evidence" in start)
    # The critic has the first functions whole, so their lines are not among its quotes as well.
    assert "(in the code around E" in critic
    assert "(in the function of E" not in writer
    # The reading, the critic and the writer begin with a part of what the investigator has.
    assert repeated_tokens(stages) > 0.2 * sum(len(prompt_of(request)) / 4 for request in stages[1:])


async def test_every_stage_gets_the_same_part_of_a_long_issue(server: ModelServer, engine: Engine) -> None:
    lines = "\n".join(f"Step {number} of the long report is repeated." for number in range(400))
    long = f"{BODY}\n{lines}\nThe end."
    run = await triage(server, engine, Scripted("oracle", frozenset({FIXED})), body=long)
    stages = [prompt_of(request) for request in run.requests if "You are the supervisor" not in prompt_of(request)]
    assert all(100 < len(set(re.findall(r"Step \d+ of", text))) < 200 for text in stages)
    assert len({text.partition("You are the ")[0].partition("## Evidence")[0] for text in stages}) == 1
    assert all("The end." in text for text in stages)
    compressed = [entry.node for entry in run.state.trace if entry.counts.get("context_compressed")]
    assert compressed == ["investigator", "codebase_search", "critic", "writer"]
    short = await triage(server, engine, Scripted("oracle", frozenset({FIXED})))
    compressed = [entry.node for entry in short.state.trace if entry.counts.get("context_compressed")]
    assert compressed == []
