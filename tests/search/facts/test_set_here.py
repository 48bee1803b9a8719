"""The line above a fault that gives a variable its value."""

from __future__ import annotations

from pathlib import Path

import pytest

from nodes.search.facts.around.set_here import _is_shown, _only_setting, _variables
from tests.search.facts.finding import facts_of, of_kind

PANIC = "```\nthread 'main' panicked at src/pond.rs:{}:10:\ncalled `Option::unwrap()` on a `None` value\n```"


@pytest.mark.parametrize(
    ("line", "sets"),
    [
        pytest.param("let deep = pond.depth();", True, id="rust"),
        pytest.param("const deep: Depth = pond.depth()", True, id="typed"),
        pytest.param("wide, deep := pond.size()", True, id="go"),
        pytest.param("Depth deep = pond.depth();", True, id="java"),
        pytest.param("$deep = $pond->depth();", True, id="php"),
        pytest.param("for deep in depths:", True, id="loop"),
        pytest.param("for (const deep of depths) {", True, id="loop-of"),
        pytest.param("with open(name) as deep:", True, id="with"),
        pytest.param("if deep == 3:", False, id="comparison"),
        pytest.param("pond.deep = 3", False, id="member"),
        pytest.param("self.deep = deep", False, id="read"),
        pytest.param("deeper = 3", False, id="longer-name"),
        pytest.param("call(deep => 3)", False, id="arrow"),
        pytest.param("# deep = 3", False, id="comment"),
    ],
)
def test_which_lines_set_a_variable(line: str, *, sets: bool):
    assert (_only_setting("deep", [line, "use(deep)"]) == 0) is sets


def test_the_scope_of_a_variable_is_no_variable():
    assert list(_variables("`Dive` uses the variable `g:pond`", "")) == []
    assert list(_variables("`dive` uses the variable `pond`", "")) == ["pond"]


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param(["deep = 3", "local dig = function(_, deep)", "  use(deep)"], id="of-a-closure"),
        pytest.param(["deep = 3", "ponds.map((deep) => {", "  use(deep)"], id="of-an-arrow"),
        pytest.param(["let deep = 3;", "ponds.map(|deep| {", "    use(deep)"], id="of-a-closure-in-rust"),
        pytest.param(["if wet:", "    deep = 3", "use(deep)"], id="only-sometimes"),
        pytest.param(["deep = 3", "deep = 4", "use(deep)"], id="twice"),
        pytest.param(['"""Depth', ">>> deep = [3, 4]", '"""', "use(deep)"], id="in-an-example"),
    ],
)
def test_a_value_that_may_come_from_elsewhere_is_not_shown(lines: list[str]):
    assert _only_setting("deep", lines) is None


@pytest.mark.parametrize(
    ("body", "line", "set_at"),
    [
        pytest.param("    let deep = pond.depth();\n    deep.unwrap()\n", 3, 2, id="one-line"),
        pytest.param(
            "    let deep = pond\n        .bed()\n        .depth();\n    deep.unwrap()\n", 5, 2, id="first-line"
        ),
        pytest.param(
            "    let name = pond.name();\n    PONDS\n        .iter()\n        // by name\n"
            "        .position(|one| one == name)\n        .unwrap()\n",
            *(7, 2),
            id="argument-of-what-is-unwrapped",
        ),
        pytest.param(
            "    let mut deep = pond.depth();\n    deep = pond.bed();\n    deep.unwrap()\n", 4, None, id="twice"
        ),
        pytest.param("    pond.deep().unwrap()\n", 2, None, id="no-variable"),
    ],
)
def test_the_only_line_that_sets_what_is_unwrapped(tmp_path: Path, body: str, line: int, set_at: int | None):
    files = {"src/pond.rs": f"pub fn fill(pond: &Pond) -> usize {{\n{body}}}\n"}
    facts = facts_of(tmp_path, files, "It panics", PANIC.format(line))
    found = [fact for fact in of_kind(facts, "guarded_by") if "gets its value" in fact.says]
    assert [fact.line for fact in found] == ([set_at] if set_at else [])


def test_what_a_line_of_its_own_unwraps(tmp_path: Path):
    body = "    PONDS\n        .iter()\n        // by name\n        .position(|one| one == pond)\n        .unwrap()\n"
    files = {"src/pond.rs": f"pub fn fill(pond: &Pond) -> usize {{\n{body}}}\n"}
    (fact,) = of_kind(facts_of(tmp_path, files, "It panics", PANIC.format(6)), "raised_here")
    assert fact.says == "`fill` unwraps `PONDS.iter().position(…)`; the error says that it has no value."
    assert fact.unclaimed
    named = "It panics at src/pond.rs:6, called `Option::unwrap()` on a `None` value"
    (fact,) = of_kind(facts_of(tmp_path / "named", files, "It panics", named), "named_here")
    assert fact.says == "`fill` unwraps `PONDS.iter().position(…)`; the error says that it has no value."
    assert fact.unclaimed


def test_the_condition_and_the_call_of_a_named_line_that_raises(tmp_path: Path):
    files = {
        "src/pond.rs": 'pub fn fill_pond(n: u8) {\n    if n > 3 {\n        panic!("deep");\n    }\n    dig(n);\n}\n',
        "src/main.rs": "use crate::pond;\n\nfn main() {\n    pond::fill_pond(9);\n}\n",
    }
    facts = facts_of(tmp_path, files, "It stops", "It stops at src/pond.rs:3 with “deep”.")
    assert [fact.line for fact in of_kind(facts, "guarded_by")] == [2]
    assert [(fact.path, fact.line) for fact in of_kind(facts, "called_from")] == [("src/main.rs", 4)]
    facts = facts_of(tmp_path / "other", files, "It is slow", "The line src/pond.rs:5 is slow, I think, when it digs.")
    assert of_kind(facts, "guarded_by") == of_kind(facts, "called_from") == []


@pytest.mark.parametrize(
    ("message", "says"),
    [
        ("no such pond: 3", "`fill` unwraps `PONDS.get(&pond)`; the error says that it failed."),
        ("no such pond", "`fill` unwraps `PONDS.get(&pond)`; the error says that it has no value."),
        ("no such lake", None),
    ],
)
def test_what_a_failed_expectation_is_about(tmp_path: Path, message: str, says: str | None):
    body = '    PONDS\n        .get(&pond)\n        .expect("no such pond")\n'
    files = {"src/pond.rs": f"pub fn fill(pond: &Pond) -> usize {{\n{body}}}\n"}
    panic = f"```\nthread 'main' panicked at src/pond.rs:4:10:\n{message}\n```"
    (fact,) = of_kind(facts_of(tmp_path, files, "It panics", panic), "raised_here")
    assert (fact.says == says) is (says is not None)


@pytest.mark.parametrize(
    ("value", "is_shown"),
    [
        pytest.param("pond.depths()", True, id="call"),
        pytest.param("None", True, id="null"),
        pytest.param("[]", False, id="empty-list"),
        pytest.param("array();", False, id="empty-array"),
        pytest.param("new HashMap<String, Integer>();", False, id="new-map"),
        pytest.param("map[string]int{}", False, id="go"),
        pytest.param("new Pond(3);", True, id="new-object"),
    ],
)
def test_what_another_line_fills_is_not_shown(value: str, *, is_shown: bool):
    assert _is_shown(f"depths = {value}") is is_shown
