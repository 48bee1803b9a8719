"""What a report states and never claims: lines that show a fault of other code."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nodes.search.engine import Engine
from nodes.search.facts import levels
from nodes.search.types import Query
from tests.search.facts.finding import facts_of, of_kind
from tests.support.repositories import make_repository

if TYPE_CHECKING:
    from pathlib import Path

OTHERS = {f"shop/{name}.py": f"def {name}_all(rows):\n    return [{name}(row) for row in rows]\n" for name in "abcde"}


def report(code: str, *, error: str, needle: str, symbol: str, inner: str = "", before: str = "") -> str:
    """Return the text of a trace whose innermost own frame is the line of ``shop/cart.py`` with the given words."""
    number = next(at for at, line in enumerate(code.splitlines(), 1) if needle in line)
    text = code.splitlines()[number - 1].strip()
    return (
        f"It stops.\n\n```\n{before}Traceback (most recent call last):\n"
        f'  File "/srv/site-packages/shop/cart.py", line {number}, in {symbol}\n    {text}\n{inner}{error}\n```\n'
    )


PLAIN = "def total(rows):\n    price = rows.first.price\n    return price\n"
ASSERTS = "def total(rows):\n    assert rows.first.price > 0\n    return rows\n"
EMPTY = 'def total(rows):\n    """Left for overriding."""\n    pass\n'
HANDLER = "import sys\n\n\ndef explain(kind, error, trace):\n    print(error.args[0])\n\n\nsys.excepthook = explain\n"
REGISTERED = "def explain(kind, error, trace):\n    print(error.args[0])\n"
REFUSES = 'def total(rows):\n    if not rows:\n        raise ValueError("no rows")\n    return rows\n'
PROGRAM = '  File "/home/me/try.py", line 3, in rows\n    return self.table[0]\n'
EARLIER = 'Traceback (most recent call last):\n  File "/home/me/try.py", line 3, in go\n    x.go()\nKeyError: 1\n\n'
MISSING = "AttributeError: 'NoneType' object has no attribute 'price'"


@pytest.mark.parametrize(
    ("code", "text", "claimed"),
    [
        pytest.param(PLAIN, report(PLAIN, error=MISSING, needle="first", symbol="total"), True, id="plain"),
        pytest.param(
            ASSERTS, report(ASSERTS, error="AssertionError", needle="assert", symbol="total"), False, id="assertion"
        ),
        pytest.param(
            PLAIN, report(PLAIN, error="KeyboardInterrupt", needle="first", symbol="total"), False, id="interrupt"
        ),
        pytest.param(
            PLAIN, report(PLAIN, error="TimeoutError: 30 s", needle="first", symbol="total"), False, id="time-limit"
        ),
        pytest.param(
            PLAIN,
            report(PLAIN, error="IndexError: 0", needle="first", symbol="total", inner=PROGRAM),
            False,
            id="below-the-reporters-program",
        ),
        pytest.param(
            PLAIN,
            report(PLAIN, error=MISSING, needle="first", symbol="total", before=EARLIER),
            False,
            id="after-an-earlier-error",
        ),
        pytest.param(EMPTY, report(EMPTY, error="TypeError: x", needle="pass", symbol="total"), False, id="empty-body"),
        pytest.param(
            HANDLER, report(HANDLER, error="IndexError: 0", needle="print", symbol="explain"), False, id="crash-printer"
        ),
        pytest.param(
            REGISTERED,
            report(REGISTERED, error="IndexError: 0", needle="print", symbol="explain"),
            False,
            id="registered-elsewhere",
        ),
        pytest.param(
            REFUSES, report(REFUSES, error="ValueError: no rows", needle="raise", symbol="total"), False, id="refusal"
        ),
    ],
)
def test_a_line_that_shows_a_fault_of_other_code_is_stated_and_not_claimed(
    tmp_path: Path, code: str, text: str, *, claimed: bool
) -> None:
    start = "import sys\n\nfrom shop.cart import explain\n\n\ndef main():\n    sys.excepthook = explain\n"
    commit = make_repository(tmp_path, {"shop/cart.py": code, "shop/main.py": start, **OTHERS})
    survey = Engine(tmp_path).survey(Query("Stops at checkout", text), commit)
    stated = levels.statement(survey.facts, survey.paths, survey.confidence)
    assert any(fact.path == "shop/cart.py" and fact.line for fact in survey.facts)
    assert (stated.level == "claimed") is claimed
    assert stated.headline is not None


LEFT_OPEN = '''class Cart:
    def add_rows(self, rows):
        """Left for subclasses."""
        pass
'''


@pytest.mark.parametrize(
    ("code", "unclaimed"),
    [
        pytest.param(LEFT_OPEN, True, id="left-open"),
        pytest.param(LEFT_OPEN.replace("pass", "self.rows += rows"), False, id="with-a-body"),
    ],
)
def test_a_function_that_is_empty_on_purpose_supports_no_claim(tmp_path: Path, code: str, unclaimed: bool) -> None:
    facts = facts_of(tmp_path, {"shop/cart.py": code}, "Rows are lost", "`Cart.add_rows` is empty.")
    (found,) = of_kind(facts, "defined_once")
    assert found.unclaimed is unclaimed


@pytest.mark.parametrize(
    ("mark", "strong"),
    [("@server.tool()", False), ("@app.get('/rows')", False), ("@functools.lru_cache(3)", True), ("@property", True)],
)
def test_a_function_that_a_framework_calls_does_not_lead_because_it_is_named(
    tmp_path: Path, mark: str, *, strong: bool
):
    head = f"{mark}\n# The rows.\ndef list_rows(limit):\n"
    code = f"def total(rows):\n    return sum(rows)\n\n\n{head}    return total([limit])\n"
    facts = facts_of(tmp_path, {"shop/cart.py": code}, "`list_rows` fails for all rows", "It says nothing.")
    (found,) = of_kind(facts, "defined_once")
    assert (found.strong, found.unclaimed) == (strong, not strong)


def test_an_attribute_of_rust_that_registers_a_function(tmp_path: Path):
    body = (
        '    #[tool(\n        name = "rows",\n    )]\n    pub fn list_rows(&self) -> u8 {\n        self.n + 1\n    }\n'
    )
    for mark, strong in (("tool", False), ("inline", True)):
        files = {"src/cart.rs": f"impl Cart {{\n{body.replace('tool', mark)}}}\n"}
        facts = facts_of(tmp_path / mark, files, "`Cart::list_rows` fails for all rows", "It says nothing.")
        assert [fact.strong for fact in of_kind(facts, "defined_once")] == [strong]
