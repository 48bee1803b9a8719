"""Facts about the release that a report names: its lines, and the releases after it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from bot.report.comment.facts import is_elsewhere
from nodes.search.facts import Fact
from nodes.search.git import Repository
from tests.search.facts.finding import facts_at, facts_of, of_kind, verify
from tests.support.repositories import git, make_repository

OLD = "def load(path):\n    raise ValueError('the zone %s must not be packed' % path)\n"
NEW = "def load(path):\n    return unpack_zone_file(path)\n"


def by(change: str, title: str = "Initial") -> str:
    """Return what a sentence says about a change that no release has."""
    return f"`{change[:10]}` “{title}”, in no final release yet"


def _history(path: Path, new: str) -> tuple[str, str]:
    """Tag 1.2.0 with the old code and 1.3.0 with the new one; return the change and the head after it."""
    path.mkdir(exist_ok=True)
    make_repository(path, {"zones/io.py": OLD})
    git(path, "tag", "v1.2.0")
    change = make_repository(path, {"zones/io.py": new}, message="Read packed zones (#7)")
    git(path, "tag", "v1.3.0")
    return change, make_repository(path, {"zones/io.py": new, "notes.md": "Notes.\n"}, message="Add notes")


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        pytest.param("zone-macros 1.8.1 fails", None, id="the-last-release-of-its-product"),
        pytest.param("zone-macros 1.8.0 fails", ("1.8.0; a later release exists, up to 1.8.1."), id="its-product"),
        pytest.param("zone 1.8.1 fails", ("1.8.1; 2 later releases exist, up to 1.10.0."), id="the-main-product"),
        pytest.param("It fails in 1.8.1", None, id="two-products-have-it"),
        pytest.param("It fails in 1.9.0", ("1.9.0; a later release exists, up to 1.10.0."), id="one-product-has-it"),
        pytest.param("zone-web 1.9.0 fails", None, id="a-package-without-tags"),
        pytest.param("It is gone in 1.9.0: no default gem since Ruby 1.9.0", None, id="a-number-of-other-software"),
        pytest.param("It fails since 1.9.0. - v1.10.0", None, id="the-last-release-is-named-too"),
        pytest.param("zone 1.8.1 and zone-macros 1.8.0 fail", None, id="two-products-are-named"),
        pytest.param("Fails with web@0.4.0", ("0.4.0; a later release exists, up to 0.5.0."), id="a-scope"),
    ],
)
def test_later_releases_are_of_the_product_that_the_report_names(tmp_path: Path, title: str, expected: str | None):
    files = {f"{name}/src/lib.rs": "fn load() {}\n" for name in ("zone", "zone-macros", "zone-web")}
    tags = ("zone-1.8.1", "zone-macros-1.8.0", "zone-macros-1.8.1", "zone-1.9.0", "zone-1.10.0", "@geo/web@0.4.0")
    for number, tag in enumerate((*tags, "@geo/web@0.5.0")):
        head = make_repository(tmp_path, files | {"n": str(number)})
        git(tmp_path, "tag", tag)
    says = [fact.says for fact in of_kind(facts_at(tmp_path, head, title), "older_release")]
    assert says == ([f"The report names {expected}"] if expected else [])


def test_another_tag_of_the_same_code_is_no_later_release(tmp_path: Path):
    head = make_repository(tmp_path, {"n": "1"})
    for tag in ("v1.8.1", "v1.9.0"):
        git(tmp_path, "tag", tag)
    assert of_kind(facts_at(tmp_path, head, "It fails in 1.8.1"), "older_release") == []


def test_a_check_refuses_the_releases_of_another_product(tmp_path: Path):
    for tag in ("zone-1.8.1", "zone-macros-1.8.1", "zone-1.9.0"):
        head = make_repository(tmp_path, {"n": tag})
        git(tmp_path, "tag", tag)
    first = git(tmp_path, "rev-list", "-1", "zone-1.8.1").decode().strip()
    says = "The report names 1.8.1; a later release exists, up to 1.9.0."
    fact, repository = Fact("older_release", says, "1.8.1", sha=first), Repository.open(tmp_path)
    assert verify(fact, repository, head, "zone 1.8.1 fails") is None
    assert verify(fact, repository, head, "zone-macros 1.8.1 fails") is not None


SEEN = "zones 1.2.0, see zones/io.py:2, raise of ValueError"
MOVED_DOWN = "# Reads zones.\n\n\n" + OLD
EQUAL_LINE = OLD.replace("load(path)", "save(path)") + 6 * "\n"


@pytest.mark.parametrize(
    ("new", "body", "line", "says"),
    [
        pytest.param(
            MOVED_DOWN, SEEN, 5, "names this line of `load`, line 2 of 1.2.0.",
            id="a-named-line",
        ),
        pytest.param(
            MOVED_DOWN, "```\n/gems/zones-1.2.0/zones/io.py:2: warning: the zone must be packed\n```", 5,
            "has “warning: the zone must be packed” for this line of `load`, line 2 of 1.2.0.",
            id="an-installed-package",
        ),
        pytest.param(
            EQUAL_LINE + OLD, SEEN, 10, "names this line of `load`, line 2 of 1.2.0.",
            id="an-equal-line-of-another-function-is-nearer",
        ),
        pytest.param(OLD, SEEN, 2, "`load` raises `ValueError` on this line.", id="the-same-line"),
        pytest.param(NEW, SEEN, 2, "“Read packed zones (#7)”, released in 1.3.0.", id="a-line-that-is-gone"),
    ],
)  # fmt: skip
def test_a_line_named_at_a_release_is_found_again(tmp_path: Path, new: str, body: str, line: int, says: str):
    _, head = _history(tmp_path / "zones", new)
    found = of_kind(facts_at(tmp_path / "zones", head, "Packed zones fail", body), "named_here")
    assert [(fact.line, fact.says.endswith(says)) for fact in found] == [(line, True)]


def test_a_frame_without_source_text_is_at_the_line_of_its_release(tmp_path: Path):
    go, body = "package zones\n\nfunc Load(n []int) int {\n\treturn n[4]\n}\n", "zones v1.2.0\n\n```\n{trace}```\n"
    trace = "panic: it stops\n\ngoroutine 1 [running]:\nmain.Load(...)\n\t/src/zones/load.go:4 +0x1d\n"
    make_repository(tmp_path, {"zones/load.go": go})
    git(tmp_path, "tag", "v1.2.0")
    head = make_repository(
        tmp_path, {"zones/load.go": go.replace("int {\n", "int {\n\tif n == nil {\n\t\treturn 0\n\t}\n")}
    )
    (found,) = of_kind(facts_at(tmp_path, head, "It stops", body.format(trace=trace)), "raised_here")
    assert (found.line, found.strong) == (7, True)
    assert found.says.endswith("this line is its innermost frame in the project's own code, line 4 of 1.2.0.")


@pytest.mark.parametrize(
    ("body", "frame", "line", "brought"),
    [
        pytest.param("It worked in 1.2 and fails in 1.3", 4, 5, {5}, id="the-end-of-a-range"),
        pytest.param("It worked in 1.2 and fails in 1.3", 5, 5, set(), id="a-line-that-may-have-moved"),
        pytest.param("It fails in 1.3", 4, 4, set(), id="perhaps-of-another-product"),
        pytest.param("It fails in zones 1.3.x", 4, 4, set(), id="a-series"),
    ],
)
def test_the_end_of_a_range_is_the_release_of_a_frame(
    tmp_path: Path, body: str, frame: int, line: int, brought: set[int]
):
    go = "package zones\n\nfunc Load(n []int) int {\n\treturn unpackZones(n)\n}\n"
    panic = f"panic: it stops\n\ngoroutine 1 [running]:\nmain.Load(...)\n\t/src/zones/load.go:{frame} +0x1d\n"
    # Two changes, so that neither is the only one.
    for tag, code in (("v1.2", "package zones\n"), ("v1.3-rc1", "package zones\n\n"), ("v1.3", go)):
        make_repository(tmp_path, {"zones/load.go": code}, message=f"Unpack zones for {tag}")
        git(tmp_path, "tag", tag)
    head = make_repository(tmp_path, {"zones/load.go": go.replace("int {\n", "int {\n\tlogTheZones(n)\n")})
    facts = facts_at(tmp_path, head, "It stops", f"{body}\n\n```\n{panic}```\n")
    (found,) = of_kind(facts, "raised_here")
    assert found.line == line
    assert {fact.line for fact in of_kind(facts, "introduced_in")} == brought


def test_a_panic_of_a_release_that_is_not_named_is_at_the_line_that_it_fits_there(tmp_path: Path):
    rust = "fn load(n: Option<u8>) -> u8 {\n    n.unwrap()\n}\n"
    trace = "thread 'main' panicked at src/load.rs:2:7:\ncalled `Option::unwrap()` on a `None` value\n"
    make_repository(tmp_path, {"src/load.rs": rust})
    git(tmp_path, "tag", "v1.2.0")
    head = make_repository(tmp_path, {"src/load.rs": rust.replace("u8 {\n", "u8 {\n    log(n);\n    wait();\n")})
    (found,) = of_kind(facts_at(tmp_path, head, "It stops", f"```\n{trace}```\n"), "raised_here")
    assert (found.line, found.says) == (4, "`load` unwraps `n`; the error says that it has no value.")


def test_a_frame_whose_line_a_later_commit_changed_is_stated_as_gone(tmp_path: Path):
    go = "package zones\n\nfunc Load(n []int) int {\n\treturn n[4]\n}\n"
    trace = "panic: it stops\n\ngoroutine 1 [running]:\nmain.Load(...)\n\t/src/zones/load.go:4 +0x1d\n"
    make_repository(tmp_path, {"zones/load.go": go})
    git(tmp_path, "tag", "v1.2.0")
    head = make_repository(tmp_path, {"zones/load.go": go.replace("return n[4]", "return last(n)")})
    (found,) = of_kind(facts_at(tmp_path, head, "It stops", f"zones v1.2.0\n\n```\n{trace}```\n"), "raised_here")
    assert (found.line, found.unclaimed) == (3, True)
    says = f"`panic: it stops` passes through `Load`; line 4 of 1.2.0 is no longer in this file, since {by(head)}."
    assert (found.says, found.change) == (says, head)


def test_a_frame_whose_number_is_that_of_another_call_now_is_gone(tmp_path: Path):
    ruby, path = "def ping\n  require 'cgi/session'\nend\n", tmp_path / "zones"
    make_repository(path, {"lib/zones.rb": ruby})
    git(path, "tag", "v6.3.0")
    head = make_repository(path, {"lib/zones.rb": ruby.replace("cgi/session", "uri")}, message="Use no session")
    gem = "/gems/zones-{}/lib/zones.rb:2:in"
    trace = f"{gem} 'Kernel#require': cannot load such file -- cgi/session (LoadError)\n\tfrom {gem} 'ping'\n"
    says, unclaimed = [], []
    for version in ("6.3.0", "7.0.0"):
        (found,) = of_kind(
            facts_at(path, head, "It stops", f"```\n{trace.format(version, version)}```\n"), "raised_here"
        )
        says.append("no longer in this file, since" in found.says)
        unclaimed.append(found.unclaimed)
    assert (says, unclaimed) == ([True, False], [True, False])


def test_the_change_that_removed_the_code_which_a_compiler_prints_is_named(tmp_path: Path):
    code = "int load(char *to) {\n  strncpy(&to[0], name(), 50);\n  return 0;\n}\n"
    first = make_repository(tmp_path, {"src/zones.c": code})
    change = make_repository(tmp_path, {"src/zones.c": code.replace("strncpy(&to[0]", "strscpy(to")}, message="Copy")
    body = (
        "```\nsrc/zones.c:2:3: error: call to undeclared function 'strncpy'\n"
        "    2 |   strncpy(&to[0], name(), 50);\n      |   ^\n```\n"
    )
    (found,) = of_kind(facts_at(tmp_path, change, "It does not build", body), "named_here")
    end = f"`src/zones.c`; `{change[:10]}` “Copy” removed the line that the report prints."
    assert (found.says, found.change, found.unclaimed) == (f"The report names line 2 of {end}", change, True)
    wrong, text = replace(found, change=first), f"It does not build\n{body}"
    assert verify(wrong, Repository.open(tmp_path), change, text) == "the change did not remove the line"


def test_a_line_that_is_gone_has_no_condition(tmp_path: Path):
    rust = "fn load(n: Option<u8>) {\n    if n.is_some() {\n        n.unwrap();\n    }\n}\n"
    trace = "thread 'main' panicked at src/load.rs:3:7:\ncalled `Option::unwrap()` on a `None` value\n"
    make_repository(tmp_path, {"src/load.rs": rust})
    git(tmp_path, "tag", "v1.2.0")
    head = make_repository(tmp_path, {"src/load.rs": rust.replace("n.unwrap();", "keep(n);")})
    facts = facts_at(tmp_path, head, "It stops", f"```\n{trace}```\n")
    assert "; line 3 of 1.2.0 is no longer in this file, since " in of_kind(facts, "raised_here")[0].says
    assert of_kind(facts, "guarded_by") == []


PHP = "<?php\nfunction load($row) {\n    list($a, $b, $c) = explode(',', $row);\n    return $a;\n}\n"
WARNING = "PHP Warning: Undefined array key 2 in /var/www/zones/load.php on line 3"
PANIC = "thread 'main' panicked at src/load.rs:2:7:\ncalled `Option::unwrap()` on a `None` value\n"


def test_a_named_line_that_cannot_raise_the_error_is_the_one_of_the_last_release_that_can(tmp_path: Path):
    make_repository(tmp_path, {"zones/load.php": PHP})
    git(tmp_path, "tag", "v1.2.0")
    head = make_repository(
        tmp_path, {"zones/load.php": PHP.replace("list($a, $b, $c) = explode(',', $row)", "$a = f($row)")}
    )
    bodies = (WARNING, f"PHP message: {WARNING};")
    raised, named = (facts_at(tmp_path, head, "Many warnings", body)[0] for body in bodies)
    end = f"`zones/load.php`; line 3 of 1.2.0 is no longer in this file, since {by(head)}."
    assert raised.says == f"The error passes through {end}"
    assert named.says == f"The report names line 3 of {end}"
    assert {(one.change, one.unclaimed) for one in (raised, named)} == {(head, True)}


@pytest.mark.parametrize(
    ("path", "code", "body", "says"),
    [
        pytest.param("zones/load.php", PHP.replace("list($a, $b, $c) = explode(',', $row)", "$a = f($row)"), WARNING,
                     "The error passes through `zones/load.php`; its line 3 does not fit the error at this commit.",
                     id="named"),
        pytest.param("src/load.rs", "fn load(n: Option<u8>) -> u8 {\n    keep(n)\n}\n", f"```\n{PANIC}```\n",
                     "`panic` passes through `src/load.rs`; its line 2 does not fit the error at this commit.",
                     id="panic"),
    ],
)  # fmt: skip
def test_a_line_that_cannot_raise_the_error_is_not_the_one(tmp_path: Path, path: str, code: str, body: str, says: str):
    (found,) = of_kind(facts_of(tmp_path, {path: code}, "It stops", body), "named_here", "raised_here")
    assert (found.says, found.symbol, found.strong) == (says, None, False)
    assert is_elsewhere(found)


def test_a_lambda_of_a_constructor_is_in_the_constructor(tmp_path: Path):
    body = "        run(() -> {\n            rows.get(0);\n        });\n"
    code = f"package z;\n\nclass Form {{\n    Form(List<Row> rows) {{\n{body}    }}\n}}\n"
    trace = (
        "java.lang.IndexOutOfBoundsException: Index 0 out of bounds for length 0\n"
        "\tat java.util.ArrayList.get(ArrayList.java:427)\n\tat z.Form.lambda$new$1(Form.java:6)\n"
    )
    (found,) = of_kind(facts_of(tmp_path, {"src/z/Form.java": code}, "It stops", f"```\n{trace}```\n"), "raised_here")
    assert (found.path, found.line) == ("src/z/Form.java", 6)


GATE = "def load(path):\n    zone = read_zone(path)\n    return zone.gates['north']\n"
IN_GATE = """I updated from {named}.

```
Traceback (most recent call last):
  File "/usr/lib/site-packages/zones/run.py", line 2, in run
    return load(path)
  File "/usr/lib/site-packages/zones/{file}", line {line}, in load
    return zone.gates['north']
KeyError: 'north'
```
"""


def _removed(path: Path, new: dict[str, str]) -> tuple[str, str, str]:
    """Tag 1.2.0 with `zones/gate.py` and replace it by other files; return the release, the change and the head."""
    files = {"zones/run.py": "def run(path):\n    return load(path)\n"}
    release = make_repository(path, {**files, "zones/gate.py": GATE})
    git(path, "tag", "v1.2.0")
    git(path, "rm", "-q", "zones/gate.py")
    change = make_repository(path, new, message="One way in (#8)")
    head = make_repository(path, {"zones/run.py": "def run(path):\n    return enter(path)\n"}, message="Enter")
    return release, change, head


@pytest.mark.parametrize(
    ("new", "end"),
    [
        pytest.param({"zones/door.py": "def enter(way):\n    return way\n"}, "removed it.", id="removed"),
        pytest.param(
            {"zones/port.py": GATE.replace("load", "pass_by")}, "renamed it to `zones/port.py`.", id="renamed"
        ),
    ],
)
def test_a_frame_in_a_removed_file_is_read_in_its_release(tmp_path: Path, new: dict[str, str], end: str):
    release, change, head = _removed(tmp_path, new)
    body = IN_GATE.format(named="v1.2.0", file="gate.py", line=3)
    lead, outer = of_kind(facts_at(tmp_path, head, "It stops", body), "raised_here")
    assert lead.says == (
        "`load` looks up `'north'` in `zone.gates`; the error says that this key is missing."
        f" The file is in 1.2.0; `{change[:10]}` “One way in (#8)” {end}"
    )
    assert (lead.path, lead.line, lead.sha, lead.change) == ("zones/gate.py", 3, release, change)
    assert (lead.strong, lead.unclaimed, lead.exact) == (True, True, False)
    # What is inside the frame of a file that is still there is not at this commit.
    assert (outer.path, outer.strong) == ("zones/run.py", False)
    text, repository = f"It stops\n{body}", Repository.open(tmp_path)
    for other in (
        replace(lead, change=head),
        replace(lead, sha=head),
        replace(lead, says=lead.says.replace(" 1.2.0;", " 1.1.0;")),
        replace(lead, says=lead.says.replace(end, "renamed it to `zones/run.py`.")),
    ):
        assert verify(other, repository, head, text) is not None
    assert verify(lead, repository, release, text) is not None


@pytest.mark.parametrize(
    "values",
    [
        pytest.param({"named": "an older one", "file": "gate.py", "line": 3}, id="no-release"),
        pytest.param({"named": "v1.2.0", "file": "gate.py", "line": 2}, id="another-line"),
        pytest.param({"named": "v1.2.0", "file": "wall.py", "line": 3}, id="another-file"),
    ],
)
def test_a_frame_that_its_release_does_not_have_is_in_no_removed_file(tmp_path: Path, values: dict[str, str]):
    *_, head = _removed(tmp_path, {"zones/door.py": "def enter(way):\n    return way\n"})
    facts = of_kind(facts_at(tmp_path, head, "It stops", IN_GATE.format(**values)), "raised_here")
    assert {fact.path for fact in facts} == {"zones/run.py"}


def test_a_frame_without_text_in_a_removed_file_calls_the_next_one(tmp_path: Path):
    java = "package org.zones;\n\nclass Gate {\n    int open() {\n        return swing();\n    }\n    int swing() {\n        throw new Stuck();\n    }\n}\n"  # noqa: E501
    trace = "org.zones.Stuck: no oil\n\tat org.zones.Gate.swing(Gate.java:{})\n\tat org.zones.Gate.open(Gate.java:5)\n"
    make_repository(tmp_path, {"src/org/zones/Gate.java": java})
    git(tmp_path, "tag", "v1.2.0")
    git(tmp_path, "rm", "-q", "src/org/zones/Gate.java")
    head = make_repository(tmp_path, {"src/org/zones/Door.java": "package org.zones;\n\nclass Door {\n}\n"})
    for line, found in ((8, ["src/org/zones/Gate.java:8"]), (7, ["src/org/zones/Gate.java:5"])):
        facts = facts_at(tmp_path, head, "It stops", f"I updated from v1.2.0.\n\n```\n{trace.format(line)}```\n")
        assert [f"{fact.path}:{fact.line}" for fact in of_kind(facts, "raised_here")] == found


def test_the_change_that_removed_a_line_which_a_trace_prints_is_named(tmp_path: Path):
    printed = 'Traceback (most recent call last):\n  File "zones/io.py", line 2, in load\n    return unpack(path,  0)\n'
    code = "def load(path):\n    return unpack(path,  0)\n"
    make_repository(tmp_path, {"zones/io.py": code})
    change = make_repository(tmp_path, {"zones/io.py": code.replace(",  0", "")}, message="Unpack all")
    head = make_repository(tmp_path, {"zones/io.py": code.replace(",  0", ""), "n": "1"})
    facts = facts_at(tmp_path, head, "It stops", f"```\n{printed}ValueError: it is packed\n```\n")
    (found,) = of_kind(facts, "raised_here")
    assert found.says.endswith(f"; `{change[:10]}` “Unpack all” removed the line that the report prints.")
    assert (found.change, found.unclaimed, found.strong) == (change, True, False)
    wrong, text = replace(found, change=head), f"It stops\n```\n{printed}ValueError: it is packed\n```\n"
    assert verify(wrong, Repository.open(tmp_path), head, text) == "the change did not remove the line"


def test_a_frame_of_go_in_a_removed_file_is_inside_its_function(tmp_path: Path):
    go = "package dolt\n\nfunc openZone(p int) int {\n\treturn ping(p)\n}\n\nfunc ping(p int) int {\n\treturn 1\n}\n"
    make_repository(tmp_path, {"go.mod": "module example.com/zones\n", "internal/dolt/embedded.go": go})
    git(tmp_path, "tag", "v1.2.0")
    git(tmp_path, "rm", "-q", "internal/dolt/embedded.go")
    head = make_repository(tmp_path, {"internal/dolt/server.go": "package dolt\n\nfunc Serve() int {\n\treturn 2\n}\n"})
    trace = (
        "panic: runtime error: invalid memory address\n\ngoroutine 1 [running]:\nexample.org/lib.Retry(...)\n"
        "\tretry.go:8 +0x1\nexample.com/zones/internal/dolt.openZone(...)\n\tembedded.go:{} +0x5\n"
    )
    for line, found in ((4, ["internal/dolt/embedded.go:4"]), (8, [])):
        facts = facts_at(tmp_path, head, "It stops", f"I updated from v1.2.0.\n\n```\n{trace.format(line)}```\n")
        assert [f"{fact.path}:{fact.line}" for fact in of_kind(facts, "raised_here")] == found


def test_a_line_that_fits_the_error_now_is_not_the_one_of_an_older_release(tmp_path: Path):
    old = "fn cut(text: &str, at: usize) {\n    let n = at;\n    show(text);\n}\n"
    make_repository(tmp_path, {"src/cut.rs": old})
    git(tmp_path, "tag", "v1.2.0")
    new = "fn cut(text: &str, at: usize) {\n    let head = &text[..at];\n    let n = at;\n    show(head);\n}\n"
    head = make_repository(tmp_path, {"src/cut.rs": new})
    error = "thread 'main' panicked at src/cut.rs:2:20:\nend byte index 1 is not a char boundary; it is inside 'é'"
    (fact,) = of_kind(facts_at(tmp_path, head, "It panics", f"Version 1.2.0\n\n```\n{error}\n```"), "raised_here")
    assert (fact.line, fact.says.startswith("`cut` has `&text[..at]`")) == (2, True)
