"""Lines of manifests that an error leads to: the path of a file that it misses, and the version of a module."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from nodes.search.git import Repository
from tests.search.facts.finding import facts_at, facts_of, of_kind, verify
from tests.support.repositories import git, make_repository

PACKAGE = json.dumps(
    {
        "name": "acme-zones",
        "files": ["index.ts", "src"],
        "zones": {"entries": ["./index.ts"], "run": ["./dist/run.js"]},
    },
    indent=2,
)
FILES = {"package.json": PACKAGE, "index.ts": "export const zones = [];\n", "src/zones.ts": "export const size = 1;\n"}
GONE = "; the commit has no such file"
MODULE = "module example.com/zones\n\ngo 1.24\n\nrequire (\n\texample.org/x/tools v0.31.0\n\texample.org/y v1.2.0\n)\n"


@pytest.mark.parametrize(
    ("line", "found", "end"),
    [
        pytest.param("runtime entry not found: ./dist/run.js", "./dist/run.js", GONE, id="not-built"),
        pytest.param(
            "install requires output for the entry ./index.ts: expected ./b.js", "./index.ts", "", id="written-so"
        ),
        pytest.param(
            "Cannot find module '/srv/node_modules/acme-zones/dist/run.js' imported from x",
            "dist/run.js",
            GONE,
            id="installed",
        ),
        pytest.param("Loaded ./dist/run.js", None, "", id="no-error"),
        pytest.param("Cannot find module '/srv/node_modules/other/dist/run.js'", None, "", id="another-package"),
        pytest.param("runtime entry not found: ./dist/stop.js", None, "", id="another-file"),
    ],
)
def test_the_line_with_the_path_that_an_error_misses(tmp_path: Path, line: str, found: str | None, end: str):
    facts = [
        fact
        for fact in facts_of(tmp_path, FILES, "It cannot be installed", f"```\n{line}\n```")
        if "The error names" in fact.says
    ]
    assert [fact.says for fact in facts] == ([f"The error names `{found}`, as this line does{end}."] if found else [])
    for fact in facts:
        assert (fact.path, fact.strong, fact.unclaimed) == ("package.json", True, True)
        assert found is not None
        assert found in (fact.text or "")


def test_a_path_that_an_error_misses_is_verified_again(tmp_path: Path):
    head = make_repository(tmp_path, FILES)
    text = "It stops\nruntime entry not found: ./dist/run.js"
    (fact,) = facts_of(tmp_path, FILES, *text.split("\n"))
    repository = Repository.open(tmp_path)
    assert verify(fact, repository, head, text) is None
    for wrong in (
        replace(fact, says=fact.says.replace(GONE, "")),
        replace(fact, line=(fact.line or 0) - 1, text=PACKAGE.split("\n")[(fact.line or 0) - 2]),
    ):
        assert verify(wrong, repository, head, text) is not None
    assert verify(fact, repository, head, text.replace("not found", "found")) is not None


@pytest.mark.parametrize(
    ("named", "line"),
    [
        pytest.param("example.org/x/tools@v0.0.0-20191018212557-ed542cd5b28a/go/load.go:835", 6, id="older"),
        pytest.param("`example.org/y@v1.1.9`", 7, id="older-in-prose"),
        pytest.param("example.org/x/tools@v0.31.0/go/load.go:835", None, id="the-same"),
        pytest.param("example.org/x/tools@v0.32.0/go/load.go:835", None, id="newer"),
        pytest.param("example.org/z/tools@v0.1.0/go/load.go:835", None, id="another"),
    ],
)
def test_a_program_with_an_older_module_is_no_build_of_this_commit(tmp_path: Path, named: str, line: int | None):
    files = {"go.mod": MODULE, "load.go": "package zones\n\nfunc Load() int {\n\treturn 1\n}\n"}
    facts = facts_of(tmp_path, files, "It stops", f"panic: nil\n\t{named}\n")
    older = [fact for fact in of_kind(facts, "named_here") if fact.says.endswith("; this line requires a newer one.")]
    assert [fact.line for fact in older] == [line] * (line is not None)


def test_the_change_that_removed_a_name_which_an_error_misses(tmp_path: Path):
    make_repository(tmp_path, {"zones.py": "import zone_resources\n\nzone_resources.load()\n"})
    change = make_repository(tmp_path, {"zones.py": "def load():\n    pass\n"}, message="Load by hand")
    git(tmp_path, "tag", "v1.2.0")
    head = make_repository(tmp_path, {"other.py": "x = 1\n"})
    body = "ModuleNotFoundError: No module named 'zone_resources'"
    (fact,) = of_kind(facts_of(tmp_path, {"more.py": "y = 1\n"}, "It stops", body), "absent")
    says = (
        f"`zone_resources` occurs nowhere at this commit; `{change[:10]}` “Load by hand” removed it, released in 1.2.0."
    )
    assert (fact.says, fact.change, fact.strong) == (says, change, True)
    assert verify(replace(fact, change=head), Repository.open(tmp_path), head, body) == "the change did not remove it"


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("> Extension of type 'ZoneExtension' does not exist.", "ZoneExtension"),
        ("task `zone_build` not found in the project", "zone_build"),
        ("The zone ‘ZoneExtension’ is open", None),
    ],
)
def test_a_name_that_a_program_misses_occurs_nowhere(tmp_path: Path, line: str, name: str | None):
    files = {"zones.py": "def load():\n    pass\n"}
    facts = of_kind(facts_of(tmp_path, files, "It stops", f"```\n{line}\n```"), "absent")
    assert [(fact.words, fact.says) for fact in facts] == (
        [(name, f"`{name}` occurs nowhere at this commit.")] if name else []
    )


def test_the_change_that_removed_an_import_of_what_a_module_lacks(tmp_path: Path):
    make_repository(tmp_path, {"zones.py": "from host.core import Config, Host\n"})
    text = {"zones.py": "from host.core_config import Config\nfrom host.core import Host\n"}
    change = make_repository(tmp_path, text, message="Import it from its module")
    body = "Setup failed: cannot import name 'Config' from 'host.core' (/srv/host/core.py)"
    (fact,) = of_kind(facts_at(tmp_path, change, "It stops", body), "absent")
    assert fact.says == (
        f"`from host.core import Config` occurs nowhere at this commit; `{change[:10]}` “Import it from its module” "
        "removed it, in no final release yet."
    )
    head = make_repository(tmp_path, {"zones.py": "from host.core import (\n    Config,\n)\n"})
    assert of_kind(facts_at(tmp_path, head, "It stops", body), "absent") == []
