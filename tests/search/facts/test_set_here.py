"""The line above a fault that gives a variable its value."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from nodes.search.facts.around.set_here import _is_shown, _only_setting, _variables
from nodes.search.git import Repository
from tests.search.facts.finding import facts_of, of_kind, verify

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


RAISED = """```
Traceback (most recent call last):
  File "/srv/acme/handle.py", line 4, in handle
    return read(event.raw)
  File "/srv/acme/model.py", line 2, in read
    return raw.get("kind")
AttributeError: 'str' object has no attribute 'get'
```
"""
HANDLE = "from acme.model import read\n\ndef handle(event):\n    return read(event.raw)\n"


@pytest.mark.parametrize(
    ("model", "line"),
    [
        pytest.param('def read(raw):\n    return raw.get("kind")\n', 4, id="argument"),
        pytest.param('def read(n):\n    return raw.get("kind")\n', None, id="another-argument"),
    ],
)
def test_the_next_frame_passes_the_argument_that_the_error_is_about(tmp_path: Path, model: str, line: int | None):
    others = {"acme/other.py": "from acme.model import read\n\n\ndef a():\n    read(1)\n\n\ndef b():\n    read(2)\n"}
    facts = facts_of(tmp_path, {"acme/handle.py": HANDLE, "acme/model.py": model, **others}, "It fails", RAISED)
    found = of_kind(facts, "called_from")
    assert [(fact.path, fact.line, fact.says) for fact in found] == (
        [("acme/handle.py", line, "`read` is called here, in `handle`.")] if line else []
    )


def test_the_variable_that_a_compiler_names_gets_its_value_above(tmp_path: Path):
    files = {"src/pond.swift": "func fill() {\n    var deep = false\n    run {\n        deep = true\n    }\n}\n"}
    body = "```\nsrc/pond.swift:4:9: error: sending 'deep' risks causing data races\n```"
    (fact,) = of_kind(facts_of(tmp_path, files, "It does not build", body), "guarded_by")
    assert (fact.line, fact.says) == (2, "`deep` gets its value on this line: `var deep = false`.")
    body = "```\nsrc/pond.swift:4:9: error: sending a value risks causing data races\n```"
    assert of_kind(facts_of(tmp_path / "unnamed", files, "It does not build", body), "guarded_by") == []


def test_what_a_call_is_given_precedes_what_it_is_called_on():
    assert list(_variables("`cut` has `text.truncate(most)`; the error says", "")) == ["most", "text", "most"]
    assert list(_variables("`cut` reads `text[most]`; the error says", "")) == ["most", "text", "most"]
    assert list(_variables("`cut` uses `text.most`; the error says", "")) == ["text"]


COMPARED = "    if key ~= self:read('key') then\n        return\n    end\nend\n\n"


@pytest.mark.parametrize(
    ("more", "says"),
    [
        pytest.param(1, "`key ~= self:read('key')` is on 1 other line of this file.", id="one"),
        pytest.param(3, "`key ~= self:read('key')` is on 3 other lines of this file.", id="three"),
        pytest.param(10, None, id="too-many"),
        pytest.param(0, None, id="none"),
    ],
)
def test_the_code_of_a_fault_is_on_other_lines_of_its_file(tmp_path: Path, more: int, says: str | None):
    heads = ["function Bar:stop(key)\n", *(f"function Bar:stop{at}(key)\n" for at in range(more))]
    lua = "Bar = {}\n" + "".join(f"{head}{COMPARED}" for head in heads)
    error = "addons/acme/bar.lua:3: attempt to compare a secret value"
    body = f"```\nMessage: {error}\n[addons/acme/bar.lua]:3: in function 'func'\n```"
    facts = facts_of(tmp_path, {"acme/bar.lua": lua}, "It fails", body)
    (frame,) = of_kind(facts, "raised_here")
    assert frame.says.startswith(
        "`Bar.stop` has `key ~= self:read('key')`; the error says “attempt to compare a secret"
    )
    found = of_kind(facts, "used_here")
    assert [(fact.line, fact.says) for fact in found] == ([(9, says)] if says else [])
    for fact in found:
        other = replace(fact, says=fact.says.replace(f"{more} other", f"{more + 1} other"))
        assert verify(other, Repository.open(tmp_path), "HEAD", body) == "other lines of the file have the code"


def test_the_same_code_further_down_the_function_is_no_other_place(tmp_path: Path):
    code = "def read(raw):\n    a = raw.get(1)\n    return raw.get(2)\n"
    trace = '  File "/srv/acme/model.py", line 2, in read\n    a = raw.get(1)\n'
    body = f"```\nTraceback (most recent call last):\n{trace}AttributeError: 'str' object has no attribute 'get'\n```"
    for name, more, count in (("same", "", 0), ("other", "\n\ndef write(raw):\n    raw.get(3)\n", 1)):
        facts = facts_of(tmp_path / name, {"acme/model.py": f"{code}{more}"}, "It fails", body)
        found = [fact for fact in of_kind(facts, "used_here") if "other line" in fact.says]
        assert [fact.line for fact in found] == [7] * count


def test_the_value_of_a_template_is_set_above_the_line_that_the_report_names(tmp_path: Path):
    code = "<div>\n<% first_page = pages.index { |page| page.to_s.start_with?(base) } %>\n</div>\n<%= first_page+1 %>\n"
    body = "    line 4 of [PROJECT_ROOT]/app/views/_pages.html.erb: _app_views__pages_html_erb___12_44"
    title = "NoMethodError: undefined method '+' for nil"
    facts = facts_of(tmp_path, {"app/views/_pages.html.erb": code}, title, f"## Backtrace\n\n{body}\n")
    (named,) = of_kind(facts, "named_here")
    assert named.says.endswith("has `first_page`; the error says “undefined method '+' for nil”.")
    (found,) = of_kind(facts, "guarded_by")
    assert (found.line, found.says.startswith("`first_page` gets its value on this line: `")) == (2, True)


@pytest.mark.parametrize(
    ("lines", "set_at"),
    [
        pytest.param(["use(self.state)", "self.state = State()"], 6, id="once"),
        pytest.param(["self.state = None", "self.state = State()"], None, id="without-a-value-too"),
        pytest.param(["self.state, self.name = 3, 4", "self.state = State()"], None, id="with-another-one"),
        pytest.param(["self.state = State()", "self.state = State(2)"], None, id="twice"),
        pytest.param(["other.self.state = 3", "use(self.state == 3)"], None, id="never"),
    ],
)
def test_the_only_line_of_a_file_that_sets_a_member(tmp_path: Path, lines: list[str], set_at: int | None):
    body = "\n".join(f"        {line}" for line in lines)
    code = f"class Pond:\n    def draw(self):\n        return self.state.name\n    def fill(self):\n{body}\n"
    trace = (
        'Traceback (most recent call last):\n  File "pond.py", line 3, in draw\n    return self.state.name\n'
        "AttributeError: 'NoneType' object has no attribute 'name'\n"
    )
    facts = facts_of(tmp_path, {"pond.py": code}, "It fails", trace)
    found = [fact for fact in of_kind(facts, "guarded_by") if "on no other of this file" in fact.says]
    assert [fact.line for fact in found] == ([set_at] if set_at else [])
