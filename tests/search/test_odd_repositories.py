"""A repository in any state is read by its commits or refused in one line; its code never runs."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from nodes.search.engine import Engine
from nodes.search.git.errors import GitFailed, NotARepository, SearchError, UnknownRevision
from nodes.search.history.types import spots_of
from nodes.search.index.postings import read_log
from nodes.search.types import Query
from tests.support.repositories import git, make_repository

pytestmark = pytest.mark.usefixtures("started_git")

FILES = {
    "pkg/parser.py": "def parse_header(line):\n    raise ValueError('header line has no colon')\n",
    "pkg/other.py": "def other():\n    pass\n",
}
ISSUE = Query("parse_header fails", "ValueError: header line has no colon")
PLACE = ("pkg/parser.py", 1, 2, "parse_header")


def first_place(path: Path, revision: str = "HEAD") -> tuple[str, int, int, str | None]:
    engine = Engine(path)
    sha = engine.commit(revision)
    ranking = engine.find(ISSUE, sha)
    for place in ranking.locations:
        assert engine.repository.lines(sha, place.path, place.quote_start, place.quote_end) == place.quote
    first = ranking.locations[0]
    return first.path, first.start_line, first.end_line, first.symbol


def bare(path: Path) -> Path:
    git(path, "clone", "--quiet", "--bare", ".", str(path.parent / "bare"))
    return path.parent / "bare"


def shallow(path: Path) -> Path:
    make_repository(path, FILES, message="Second")
    git(path, "clone", "--quiet", "--depth=1", f"file://{path}", str(path.parent / "shallow"))
    return path.parent / "shallow"


def detached_work_tree(path: Path) -> Path:
    git(path, "worktree", "add", "--quiet", "--detach", str(path.parent / "tree"))
    return path.parent / "tree"


def borrowed_objects(path: Path) -> Path:
    git(path, "clone", "--quiet", "--shared", ".", str(path.parent / "borrower"))
    return path.parent / "borrower"


def packed(path: Path) -> Path:
    git(path, "gc", "--quiet")
    return path


def submodule(path: Path) -> Path:
    make_repository(path.parent / "super", {"a.py": "a = 1\n"})
    git(path.parent / "super", "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(path), "inner")
    return path.parent / "super" / "inner"


def git_directory(path: Path) -> Path:
    return path / ".git"


def a_folder_inside(path: Path) -> Path:
    (path / "deep" / "down").mkdir(parents=True)
    return path / "deep" / "down"


def replaced_blob(path: Path) -> Path:
    other = git(path, "hash-object", "-w", "--stdin", stdin=b"def evil():\n    pass\n").decode().strip()
    git(path, "replace", git(path, "rev-parse", "HEAD:pkg/parser.py").decode().strip(), other)
    return path


def replaced_commit(path: Path) -> Path:
    before = git(path, "rev-parse", "HEAD").decode().strip()
    after = make_repository(path, {"evil.py": "def evil():\n    pass\n"}, message="Second")
    git(path, "reset", "--quiet", "--soft", before)
    git(path, "replace", before, after)
    return path


def index_in_use(path: Path) -> Path:
    (path / ".git" / "index.lock").touch()
    (path / ".git" / "index").write_bytes(b"junk")
    return path


def files_deleted(path: Path) -> Path:
    for file in path.iterdir():
        if file.name != ".git":
            shutil.rmtree(file)
    return path


def another_blob_damaged(path: Path) -> Path:
    blob = git(path, "rev-parse", "HEAD:pkg/other.py").decode().strip()
    file = path / ".git" / "objects" / blob[:2] / blob[2:]
    file.chmod(0o644)
    file.write_bytes(b"junk")
    return path


@pytest.mark.parametrize(
    "changed",
    [
        *(bare, shallow, detached_work_tree, borrowed_objects, packed, submodule, git_directory, a_folder_inside),
        *(replaced_blob, replaced_commit, index_in_use, files_deleted, another_blob_damaged),
    ],
)
def test_the_place_is_found(tmp_path: Path, changed: Callable[[Path], Path]) -> None:
    make_repository(tmp_path / "plain", FILES)
    assert first_place(changed(tmp_path / "plain")) == PLACE


def test_object_ids_may_be_long(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--initial-branch=main", "--object-format=sha256")
    assert len(make_repository(tmp_path, FILES)) == 64
    assert first_place(tmp_path) == PLACE


def test_an_annotated_tag_is_its_commit(tmp_path: Path) -> None:
    make_repository(tmp_path, FILES)
    git(tmp_path, "tag", "--annotate", "--message=first", "v1")
    assert first_place(tmp_path, "v1") == PLACE


def test_a_commit_is_read_though_no_branch_leads_to_it(tmp_path: Path) -> None:
    sha = make_repository(tmp_path, FILES)
    git(tmp_path, "update-ref", "-d", "refs/heads/main")
    assert first_place(tmp_path, sha) == PLACE


@pytest.mark.tried("odd, broken and hostile git repositories")
@pytest.mark.parametrize("graft", ["", "{first}"], ids=["cut-off", "kept"])
def test_a_graft_does_not_change_the_history(tmp_path: Path, graft: str) -> None:
    first = make_repository(tmp_path, FILES)
    second = make_repository(tmp_path, {**FILES, "new.py": "new = 1\n"}, message="Second")
    (tmp_path / ".git" / "info").mkdir(exist_ok=True)
    (tmp_path / ".git" / "info" / "grafts").write_text(f"{second} {graft.format(first=first)}\n")
    assert b"new.py" in (read_log(Engine(tmp_path).repository, second, 10) or b"")


@pytest.mark.tried("odd, broken and hostile git repositories")
@pytest.mark.parametrize(
    "revision",
    ["^HEAD", "HEAD..HEAD", "HEAD^{tree}", "HEAD:pkg/other.py", "HEAD^9", "--glob=*", "@{upstream}", ":/none"],
)
def test_a_revision_without_a_commit_is_refused(tmp_path: Path, revision: str) -> None:
    make_repository(tmp_path, FILES)
    with pytest.raises(UnknownRevision):
        Engine(tmp_path).commit(revision)


@pytest.fixture
def partial(tmp_path: Path) -> Path:
    """Return a clone without blobs, whose remote records requests for them."""
    make_repository(tmp_path / "whole", FILES)
    git(tmp_path / "whole", "config", "uploadpack.allowFilter", "true")
    source = f"file://{tmp_path / 'whole'}"
    git(tmp_path, "clone", "--quiet", "--no-checkout", "--filter=blob:none", source, "partial")
    git(tmp_path / "partial", "config", "remote.origin.uploadpack", f"touch {tmp_path / 'fetched'}; git-upload-pack")
    return tmp_path / "partial"


@pytest.mark.tried("odd, broken and hostile git repositories")
@pytest.mark.parametrize(
    "settings",
    [
        pytest.param({}, id="by-a-file-address"),
        pytest.param(
            {"remote.origin.url": "ext::sh -c touch% ../fetched", "protocol.ext.allow": "always"}, id="by-a-command"
        ),
        pytest.param(
            {"remote.origin.url": "ssh://host/x", "core.sshCommand": "touch ../fetched; false"}, id="by-a-shell"
        ),
    ],
)
def test_objects_that_a_partial_clone_lacks_are_not_fetched(partial: Path, settings: dict[str, str]) -> None:
    for name, value in settings.items():
        git(partial, "config", name, value)
    engine = Engine(partial)
    ranking = engine.find(Query("`pkg/parser.py` fails"), "HEAD")
    assert ranking.files[0].path == "pkg/parser.py"
    assert ranking.locations == ()
    assert engine.repository.entry(engine.commit(), "pkg/parser.py") is not None
    assert engine.repository.lines(engine.commit(), "pkg/parser.py", 1, 1) is None
    assert not (partial.parent / "fetched").exists()


def test_present_objects_of_a_partial_clone_are_read(partial: Path) -> None:
    source = partial.parent / "whole"
    blob = git(source, "rev-parse", "HEAD:pkg/parser.py").decode().strip()
    git(partial, "hash-object", "-w", "--stdin", stdin=git(source, "cat-file", "blob", blob))
    assert first_place(partial) == PLACE
    missing = git(partial, "rev-parse", "HEAD:pkg/other.py").decode().strip()
    blobs = [missing, blob, missing, blob]
    assert [found for found, _ in Engine(partial).repository.read(blobs)] == [blob, blob]


@pytest.mark.tried("odd, broken and hostile git repositories")
def test_a_clone_without_folders_is_refused_in_one_line(tmp_path: Path) -> None:
    make_repository(tmp_path / "whole", FILES)
    git(tmp_path / "whole", "config", "uploadpack.allowFilter", "true")
    git(tmp_path, "clone", "--quiet", "--bare", "--filter=tree:0", f"file://{tmp_path / 'whole'}", "bare")
    with pytest.raises(GitFailed, match="partial clone: fetch what is missing") as refused:
        Engine(tmp_path / "bare").find(ISSUE, "HEAD")
    assert "\n" not in str(refused.value)


@pytest.mark.tried("odd, broken and hostile git repositories")
@pytest.mark.parametrize("damage", ["HEAD", "config", "objects"])
def test_a_broken_repository_is_refused_in_one_line(tmp_path: Path, damage: str) -> None:
    make_repository(tmp_path, FILES)
    target = tmp_path / ".git" / damage
    shutil.rmtree(target) if target.is_dir() else target.write_text("junk\n[")
    with pytest.raises((NotARepository, SearchError)) as refused:
        first_place(tmp_path)
    assert "\n" not in str(refused.value)


NAMES = {
    "-rf.py": "dash",
    " leading.py": "space",
    "a\tb.py": "tab",
    "a\nb.py": "newline",
    'q"uote.py': "quote",
    "back\\slash.py": "backslash",
    ":(glob)*.py": "magic",
    "\x1b[31m.py": "escape",
    "\udcff\udcfe.py": "bytes",
    "e\u0301.py": "decomposed",
    "\u00e9.py": "composed",
    "Case.py": "upper",
    "case.py": "lower",
    "CON.py": "device",
    "d/" * 300 + "deep.py": "deep",
    f"{'n' * 250}.py": "long",
    "a..b.py": "dots",
}


def test_every_name_that_git_stores_is_found_and_read(tmp_path: Path) -> None:
    sha = make_repository(tmp_path / "r", {name: f"def {word}_thing(): pass\n" for name, word in NAMES.items()})
    for engine in (Engine(tmp_path / "r", tmp_path / "cache"), Engine(tmp_path / "r", tmp_path / "cache")):
        for name, word in NAMES.items():
            assert engine.repository.entry(sha, name) is not None
            assert engine.repository.lines(sha, name, 1, 1) == f"def {word}_thing(): pass"
            assert engine.find(Query(f"{word}_thing fails"), sha).files[0].path == name


CONTENTS: dict[str, bytes] = {
    "binary.py": b"\0\1\2def parse_header(line): pass\n",
    "late_nul.py": b"# x\n" * 2_500 + b"\0\ndef parse_header(line): pass\n",
    "latin.py": "def größe():\n    raise ValueError('header line has no colon')\n".encode("latin-1"),
    "utf16.py": "def parse_header(line): pass\n".encode("utf-16"),
    "bom.py": b"\xef\xbb\xbfdef parse_header(line): pass\n",
    "crlf.py": b"def parse_header(line):\r\n    raise ValueError('header line has no colon')\r\n",
    "old_mac.py": b"def parse_header(line):\r    pass\r",
    "form_feed.py": b"\x0cdef parse_header(line):\n\x0c    pass\n",
    "separators.py": "def parse_header(line):\u2028    pass\u0085\n".encode(),
    "empty.py": b"",
    "blank.py": b"\n\n\n",
    "no_end.py": b"def parse_header(line): pass",
    "one_line.py": b"def parse_header(line): pass;" * 3_000,
    "broken.py": b"def parse_header(line:\n  (((((\n'''\n",
    "every_byte.py": bytes(range(1, 256)) * 4,
    "many_lines.py": b"\n" * 300_000,
    "too_large.py": b"def parse_header(line): pass\n" * 40_000,
    "huge.py": bytes(50_000_000),
}


def test_any_content_is_indexed_and_quoted_unchanged(tmp_path: Path) -> None:
    sha = make_repository(tmp_path, CONTENTS)
    engine = Engine(tmp_path)
    ranking = engine.find(Query(ISSUE.title, ISSUE.body, limit=100), sha)
    assert {hit.path for hit in ranking.files} == set(CONTENTS)
    for place in ranking.locations:
        if place.quote:  # a line that is too long to quote is not
            assert engine.repository.lines(sha, place.path, place.quote_start, place.quote_end) == place.quote
        assert place.end_line <= CONTENTS[place.path].count(b"\n") + 1
    assert {"crlf.py", "no_end.py", "bom.py", "latin.py", "utf16.py"} <= {place.path for place in ranking.locations}


@pytest.mark.tried("odd, broken and hostile git repositories")
def test_nothing_that_a_repository_configures_is_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_repository(tmp_path / "r", {**FILES, ".gitattributes": "*.py filter=evil diff=evil merge=evil\n"})
    sha = make_repository(
        tmp_path / "r", {**FILES, ".gitattributes": "*.py diff=evil\n", "new.py": "\n"}, message="Two"
    )
    hook = tmp_path / "r" / ".git" / "hooks" / "post-index-change"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran-hook\n")
    hook.chmod(0o755)
    commands = (
        *(
            "core.fsmonitor",
            "core.pager",
            "core.editor",
            "core.sshCommand",
            "core.askPass",
            "core.alternateRefsCommand",
        ),
        *("diff.external", "diff.evil.command", "diff.evil.textconv", "filter.evil.smudge", "filter.evil.process"),
        *("gpg.program", "credential.helper", "uploadpack.packObjectsHook", "interactive.diffFilter", "pager.log"),
    )
    for name in commands:
        git(tmp_path / "r", "config", name, f"touch {tmp_path}/ran-{name}; false")
    for name in ("ls-tree", "cat-file", "log", "blame", "rev-parse"):
        git(tmp_path / "r", "config", f"alias.{name}", f"!touch {tmp_path}/ran-alias")
    git(tmp_path / "r", "config", "log.showSignature", "true")
    for leftover in tmp_path.glob("ran-*"):  # by the commands that set them
        leftover.unlink()
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", f"touch {tmp_path}/ran-variable")
    engine = Engine(tmp_path / "r")
    ranking = engine.find(ISSUE, sha)
    assert ranking.locations[0].path == "pkg/parser.py"
    assert engine.repository.lines(sha, "pkg/parser.py", 1, 1) == "def parse_header(line):"
    engine.history(Query("parse_header fails since Two", "It worked before."), spots_of(ranking.locations), sha)
    assert list(tmp_path.glob("ran-*")) == []


def test_personal_git_settings_do_not_change_what_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_repository(tmp_path / "r", FILES)
    sha = make_repository(tmp_path / "r", {**FILES, "é.py": "x = 1\n"}, message="Ändern")
    before = read_log(Engine(tmp_path / "r").repository, sha, 5)
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / ".gitconfig").write_text(
        "[i18n]\n\tlogOutputEncoding = latin-1\n[core]\n\tquotePath = true\n\tfsmonitor = touch ran-fsmonitor\n"
        "[log]\n\tshowSignature = true\n\tmailmap = false\n[diff]\n\tnoprefix = true\n\torderFile = /nowhere\n"
    )
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_REPLACE_REF_BASE", "refs/heads")
    assert read_log(Engine(tmp_path / "r").repository, sha, 5) == before
    assert first_place(tmp_path / "r") == PLACE
