"""Links and pasted code are located at the commit that is read."""

from __future__ import annotations

from hashlib import md5, sha256
from pathlib import Path

import pytest

from nodes.search.facts.places.linked_here import links
from nodes.search.facts.places.pasted_here import pasted_lines
from tests.search.facts.finding import facts_at, facts_of, of_kind
from tests.support.growth import assert_cheap
from tests.support.repositories import git, make_repository

OLD = "def load(path):\n    handle = open_it(path)\n    return handle\n"
NEW = "import os\n\n\n" + OLD


def test_a_permalink_is_mapped_to_the_commit_that_is_read(tmp_path: Path):
    old = make_repository(tmp_path, {"zones/io.py": OLD})
    new = make_repository(tmp_path, {"zones/io.py": NEW})
    body = f"See https://github.com/acme/zones/blob/{old}/zones/io.py#L2-L3 please."
    (found,) = of_kind(facts_at(tmp_path, new, "It leaks", body), "linked_here")
    assert (found.line, found.exact, found.strong, found.symbol) == (5, True, True, "load")


@pytest.mark.parametrize("path", ["charts/zones/templates/service.yaml", "zones/_page.tpl"])
def test_a_link_to_a_template_or_a_configuration_is_a_fact(tmp_path: Path, path: str):
    sha = make_repository(tmp_path, {path: "a: 1\nport: {{ .Values.port }}\n"})
    link = f"https://github.com/acme/zones/blob/{sha}/{path}#L2"
    (found,) = facts_at(tmp_path, sha, "No port", f"{link}\n\nError: {path}:2:9: nil pointer evaluating .port")
    assert (found.kind, found.path, found.line) == ("linked_here", path, 2)


@pytest.mark.parametrize(
    ("address", "line"),
    [
        pytest.param("https://github.com/acme/zones/blob/v1.2.0/zones/io.py#L2", 5, id="tag"),
        pytest.param("https://github.com/acme/zones/blob/zones@1.2.0/zones/io.py#L2", 5, id="tag-of-a-package"),
        pytest.param("https://github.com/acme/zones/blob/%40acme/zones%401.2.0/zones/io.py#L2", 5, id="escaped-tag"),
        pytest.param("https://github.com/acme/zones/blob/release/1.x/zones/io.py#L2", 5, id="branch-of-a-release"),
        pytest.param("https://github.com/acme/zones/blob/\nv1.2.0/zones/io.py#L2", 5, id="broken-over-lines"),
        pytest.param("https://github.com/acme/zones/blob/v1.2.0/zo\n  nes/io.py#L2", 5, id="broken-inside-a-name"),
        pytest.param("https://github.com/acme/zones/blob/main/zones/io.py#L5", 5, id="the-branch-that-is-read"),
        pytest.param("https://github.com/acme/zones/blob/4.x/zones/io.py#L5", 5, id="the-branch-that-is-read-as-4.x"),
        pytest.param("https://codeberg.org/acme/zones/src/tag/v1.2.0/zones/io.py#L2", 5, id="gitea"),
        pytest.param("https://codeberg.org/acme/zones/src/branch/release/1.x/zones/io.py#L2", 5, id="gitea-branch"),
        pytest.param("https://gitlab.example.org/a/sub/zones/-/blob/v1.2.0/zones/io.py#L2-3", 5, id="gitlab-group"),
        pytest.param("https://git.sr.ht/~acme/zones/tree/v1.2.0/item/zones/io.py#L2", 5, id="sourcehut"),
        pytest.param("https://git.example.org/zones.git/tree/zones/io.py?h=v1.2.0#n2", 5, id="cgit"),
        pytest.param("https://github.com/acme/zones/blob/refs/tags/v1.2.0/zones/io.py#L2", 5, id="whole-ref"),
        pytest.param("https://github.com/acme/zones/blob/v1.2.0/zones/io.py\n#L2", 5, id="broken-before-the-line"),
        pytest.param("https://github.com/acme/zones/blob/v1.2.0/zones/io.py#\nL2", 5, id="broken-after-the-sign"),
        pytest.param("https://github.com/acme/zones/blob/v1.2.0/zones/=\nio.py#L2", 5, id="broken-by-a-mail-program"),
        pytest.param("https://github.com/acme/zones/blob/\nv1.2.0/zones/\nio.py#L2", 5, id="broken-twice"),
        pytest.param("https://github.com/acme/zones/blob/v1.2.0/zones/io.py\nzones/io.py#L5", 5, id="below-an-address"),
        pytest.param("https://github.com/acme/zones/blob/v1.2.0/zones/io.py#L7", None, id="a-line-that-is-gone"),
        pytest.param("https://github.com/acme/zones/blob/v9.9.9/zones/io.py#L5", None, id="an-unknown-tag"),
        pytest.param(f"https://github.com/acme/zones/blob/{'1a' * 20}/zones/io.py#L5", None, id="an-unknown-commit"),
        pytest.param("https://github.com/acme/other/blob/v1.2.0/zones/io.py#L2", None, id="a-tag-of-another-project"),
    ],
)
def test_a_link_to_a_release_is_mapped_to_the_commit_that_is_read(tmp_path: Path, address: str, line: int | None):
    old = make_repository(tmp_path, {"zones/io.py": f"{OLD}\n\ndef close(path):\n    return close_it(path)\n"})
    for ref in ("tags/v1.2.0", "tags/zones@1.2.0", "tags/@acme/zones@1.2.0", "heads/release/1.x"):
        git(tmp_path, "update-ref", f"refs/{ref}", old)
    new = make_repository(tmp_path, {"zones/io.py": NEW, "pyproject.toml": '[project]\nname = "zones"\n'})
    git(tmp_path, "update-ref", "refs/heads/4.x", new)
    found = facts_at(tmp_path, new, "It leaks", f"See {address} please.")
    assert [fact.line for fact in of_kind(found, "linked_here")] == [line] * (line is not None)
    assert "named_here" not in {fact.kind for fact in found}


@pytest.mark.parametrize(
    ("address", "line"),
    [
        pytest.param("compare/v1.2.0...main#diff-{digest}L2", 5, id="the-old-side"),
        pytest.param("compare/v1.1.0..v1.2.0#diff-{digest}R2-R3", 5, id="the-new-side"),
        pytest.param("commit/{sha}#diff-{digest}R3", 6, id="commit"),
        pytest.param("commit/{sha}?w=1#diff-{md5}R3", 6, id="an-older-digest"),
        pytest.param("commit/{sha}#diff-{digest}L3", None, id="before-a-commit"),
        pytest.param("commit/{sha}#diff-{other}R3", None, id="another-file"),
    ],
)
def test_a_link_into_a_difference_is_mapped_to_the_commit_that_is_read(tmp_path: Path, address: str, line: int | None):
    old = make_repository(tmp_path, {"zones/io.py": OLD})
    git(tmp_path, "tag", "v1.2.0", old)
    new = make_repository(tmp_path, {"zones/io.py": NEW, "pyproject.toml": '[project]\nname = "zones"\n'})
    path, other = b"zones/io.py", b"zones/of.py"
    digests = {"digest": sha256(path).hexdigest(), "md5": md5(path, usedforsecurity=False).hexdigest()}
    link = "https://github.com/acme/zones/" + address.format(sha=old, other=sha256(other).hexdigest(), **digests)
    found = of_kind(facts_at(tmp_path, new, "It leaks", f"See [here]({link})."), "linked_here")
    assert [fact.line for fact in found] == [line] * (line is not None)


@pytest.mark.parametrize(
    ("text", "is_code"),
    [
        ("handle = open_with_retry(path)", True),
        ("return handle or other_handle", True),
        ("           Universal Installer", False),
        ('<?xml version="1.0" encoding="utf-8"?>', False),
        ('<zone name="a" first="true">', True),
        ("Reading the settings of the user", False),
        (r"/ ___/ (_) | |_ | || || |  __/\__ \ ", False),
    ],
)
def test_what_a_program_prints_is_no_pasted_code(text: str, *, is_code: bool):
    assert bool(pasted_lines((text,))) is is_code


@pytest.mark.parametrize(
    ("body", "lines"),
    [
        pytest.param("https://github.com/acme/zones/blob/main/zones/io.py#L5", [5], id="branch"),
        pytest.param("https://gitlab.com/acme/zones/-/blob/main/zones/io.py#L5", [5], id="gitlab"),
        pytest.param("In zones/io.py#L5 the handle stays open", [5], id="short"),
        pytest.param("https://github.com/acme/other/blob/main/zones/io.py#L5", [], id="another-project"),
        pytest.param(f"https://github.com/acme/other/blob/{'a1' * 20}/zones/io.py#L5", [], id="unknown-commit"),
        pytest.param("https://github.com/acme/zones/blob/main/zones/io.py#L500", [], id="no-such-line"),
        pytest.param("https://github.com/acme/zones/blob/main/tests/test_io.py#L1", [], id="a-test"),
        pytest.param("https://github.com/acme/zones/blob/main/zones/io.py", [], id="no-line"),
    ],
)
def test_links_without_a_commit_are_read_as_numbered(tmp_path: Path, body: str, lines: list[int]):
    found = of_kind(
        facts_of(tmp_path, {"zones/io.py": NEW, "tests/test_io.py": "x = 1\n"}, "It leaks", body), "linked_here"
    )
    assert [fact.line for fact in found] == lines


@pytest.mark.parametrize(
    ("path", "code"),
    [
        pytest.param(
            "a.py", "def load(p):\n    handle = open_with_retry(p)\n    cache[p] = handle.read_all()\n", id="python"
        ),
        pytest.param(
            "a.js",
            "function load(p) {\n  const handle = openWithRetry(p)\n  cache.set(p, handle.readAll())\n}\n",
            id="js",
        ),
        pytest.param(
            "a.go",
            "package a\n\nfunc load(p string) {\n\thandle := openWithRetry(p)\n\tcache.set(p, handle.all())\n}\n",
            id="go",
        ),
        pytest.param(
            "a.rs",
            "fn load(p: &str) {\n    let handle = open_with_retry(p);\n    cache.set(p, handle.read_all());\n}\n",
            id="rust",
        ),
        pytest.param(
            "A.java",
            "class A {\n  void load(String p) {\n    Handle h = "
            "openWithRetry(p);\n    cache.put(p, h.readAll());\n  }\n}\n",
            id="java",
        ),
        pytest.param(
            "a.c",
            "int load(char *p) {\n  FILE *handle = open_with_retry(p);\n"
            "  cache_put(p, read_all(handle));\n  return 0;\n}\n",
            id="c",
        ),
    ],
)
def test_pasted_code_is_found_in_its_function(tmp_path: Path, path: str, code: str):
    rows = [row.strip() for row in code.split("\n") if "etry" in row or "cache" in row]
    body = "This looks wrong:\n\n```\n" + "\n".join(rows) + "\n```\n"
    (found,) = of_kind(facts_of(tmp_path, {path: code}, "Wrong value", body), "pasted_here")
    assert (found.path, found.count, found.strong) == (path, 2, True)
    assert found.words in rows


def test_code_that_is_pasted_into_prose_is_found(tmp_path: Path):
    body = "in load,\n        handle = open_it(path)\n        rows = [parse(row) for row in handle]\nit never closes.\n"
    code = "def load(path):\n    handle = open_it(path)\n    rows = [parse(row) for row in handle]\n    return rows\n"
    (found,) = of_kind(facts_of(tmp_path, {"a.py": code}, "A handle stays open", body), "pasted_here")
    assert (found.path, found.line, found.count, found.strong) == ("a.py", 2, 2, True)


def test_prose_that_the_code_repeats_is_not_pasted_code(tmp_path: Path):
    code = "def load(path):\n    # The handle stays open until the end.\n    return path\n"
    facts = facts_of(tmp_path, {"a.py": code}, "Wrong", "The handle stays open until the end.\n")
    assert of_kind(facts, "pasted_here") == []


@pytest.mark.parametrize(("first", "unclaimed"), [("a.py", False), ("c.py", True)])
def test_one_pasted_line_supports_a_claim_on_the_first_file_alone(tmp_path: Path, first: str, unclaimed: bool):
    body = "```python\n    handle = open_it(path)\n```\n"
    files = {"a.py": OLD, "c.py": "x = 1\n"}
    (found,) = of_kind(facts_of(tmp_path, files, "Wrong", body, first=sorted(files, key=first.__ne__)), "pasted_here")
    assert (found.path, found.strong, found.unclaimed) == ("a.py", True, unclaimed)


@pytest.mark.parametrize(
    ("source", "line"),
    [
        pytest.param(
            'def run():\n    """Use it::\n\n        handle = open_it(zone)\n    """\n',
            "handle = open_it(zone)",
            id="docs",
        ),
        pytest.param("@zones.pass_context\ndef run():\n    return 1\n", "@zones.pass_context", id="decorator"),
    ],
)
def test_examples_and_decorators_of_the_public_interface_are_no_pasted_code(tmp_path: Path, source: str, line: str):
    facts = facts_of(tmp_path, {"a.py": source}, "Wrong", f"```python\n{line}\n```\n", first=["a.py"])
    assert of_kind(facts, "pasted_here") == []


def test_a_pasted_line_that_one_function_has_twice_is_a_fact(tmp_path: Path):
    code = "def load(path):\n    if path:\n        return fail('Use zone(path)')\n    return fail('Use zone(path)')\n"
    files = {"a.py": code, "b.py": "x = 1\n"}
    body = "```python\nreturn fail('Use zone(path)')\n```\n"
    (found,) = of_kind(facts_of(tmp_path, files, "Wrong hint", body, first=["a.py"]), "pasted_here")
    assert (found.line, found.count, found.says) == (3, 1, "A line of the report's code is in `load` and nowhere else.")


@pytest.mark.parametrize(("line", "count"), [("return the_results", 1), ("return results[index]", 0)])
def test_a_short_pasted_line_without_a_name_or_a_call_is_not_a_fact(tmp_path: Path, line: str, count: int):
    files = {"a.py": f"def load(index, results):\n    {line}\n", "b.py": "x = 1\n"}
    facts = facts_of(tmp_path, files, "Wrong", f"```python\n{line}\n```\n", first=["a.py"])
    assert len(of_kind(facts, "pasted_here")) == count


def test_a_pasted_idiom_is_not_a_fact(tmp_path: Path):
    files = {"a.py": OLD, "b.py": OLD.replace("load", "read")}
    body = "```python\n    handle = open_it(path)\n```\n"
    assert of_kind(facts_of(tmp_path, files, "Wrong", body), "pasted_here") == []


def test_a_pasted_line_that_documents_or_tests_have_too_is_not_a_fact(tmp_path: Path):
    body = "```python\n    handle = open_it(path)\n```\n"
    for other in ("docs/use.md", "tests/test_a.py", "a.py-tpl"):
        root = tmp_path / other.replace("/", "-")
        root.mkdir()
        files = {"a.py": OLD, other: "Use:\n    handle = open_it(path)\n"}
        assert of_kind(facts_of(root, files, "Wrong", body), "pasted_here") == []


def test_lines_that_a_trace_prints_are_not_pasted_code(tmp_path: Path):
    trace = (
        'Traceback (most recent call last):\n  File "/x/a.py", line 2, in load\n'
        "    handle = open_it(path)\nOSError: x\n"
    )
    assert of_kind(facts_of(tmp_path, {"a.py": OLD}, "Wrong", f"```\n{trace}```\n"), "pasted_here") == []


def test_a_diff_is_read_without_its_markers_and_added_lines():
    diff = (
        "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-handle = open_it(path)\n"
        "+handle = open_it_again(path)\n context_line = 12345\n"
    )
    assert pasted_lines([diff]) == ["handle = open_it(path)", "context_line = 12345"]


def test_hostile_links_and_blocks_are_read_within_limits(tmp_path: Path):
    block = "```\n" + "handle = open_it(path) + 1\n" * 2_000 + "```"
    assert_cheap(lambda: links("https://github.com/a/b/blob/" + "a/" * 30_000 + "#L1" * 1_000), 2.0)
    assert_cheap(lambda: links("a/" * 30_000 + ".py#L1"), 2.0)
    assert_cheap(lambda: facts_of(tmp_path, {"a.py": OLD}, "x", block), 10.0)
