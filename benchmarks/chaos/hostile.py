"""Triage in hostile repositories, one after the other, while a healthy repository must receive its report in time.

python -m benchmarks.chaos.hostile [name …]    all of them: a quarter of an hour on two free cores
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.chaos.fleet import PER_INSTALLATION
from benchmarks.parsers import SLOWEST, source
from nodes.search.languages.table import LANGUAGES
from tests.serve.app import App, memory_of, running, wait_for
from tests.serve.conftest import BODY, FILES, TITLE
from tests.servers.github_server import GitHubServer, serve_github
from tests.servers.github_world import Repo
from tests.support.repositories import git, make_repository

IN_TIME = 15.0
"""Maximum seconds until the healthy repository's report."""
AT_LAST = 600.0
"""Maximum seconds until the hostile repository's own report."""
MEMORY = 700 * 2**20
"""Maximum resident bytes of all processes."""
WIDTH, DEPTH = 10, 10
"""Entries per folder of the tree bomb, and number of levels: ten billion files in eleven objects."""


@dataclass(frozen=True, slots=True)
class Effect:
    """The effect of one hostile repository."""

    name: str
    healthy: float
    """Seconds until the report in the healthy repository."""
    hostile: float
    """Seconds until the run in the hostile repository ended; infinite if it did not."""
    memory: int
    """Maximum resident bytes of all processes until both were done."""

    @property
    def is_bounded(self) -> bool:
        """Return whether both reports were in time, within the memory."""
        return self.healthy <= IN_TIME and self.hostile < AT_LAST and self.memory <= MEMORY

    def __str__(self) -> str:
        """Return one line."""
        verdict = "kept" if self.is_bounded else "BROKEN"
        seconds = f"healthy {self.healthy:.1f} s, hostile {self.hostile:.1f} s"
        return f"{self.name:<14} {verdict}: {seconds}, {self.memory >> 20} MiB"


def grammar(language: str, ending: str) -> Callable[[Path], str]:
    """Create a dozen files of several sizes on which the parser of one language hangs, and a valid one."""

    def make(folder: Path) -> str:
        tokens = SLOWEST.get(language, ["("])
        sizes = (8_000, 20_000, 60_000, 200_000, 500_000, 999_000)
        files = {f"src/{size}_{number}{ending}": source(t, size) for size in sizes for number, t in enumerate(tokens)}
        return import_files(folder, {**_plain(FILES), **files})

    return make


def many_files(folder: Path) -> str:
    """Create a hundred thousand small files of ten languages."""
    endings = sorted({language.endings[0] for language in LANGUAGES})
    files = {
        f"src/{n % 300}/f{n}{endings[n % len(endings)]}": f"int f{n}(int a) {{ return {n}; }}\n".encode()
        for n in range(100_000)
    }
    return import_files(folder, {**_plain(FILES), **files})


def large_file(folder: Path) -> str:
    """Create one file of 50 MB."""
    return import_files(folder, {**_plain(FILES), "src/large.py": b"def parse_date(text): pass\n" * 1_900_000})


def much_text(folder: Path) -> str:
    """Create 150 files of a megabyte of random words."""
    dice = random.Random(1)
    files = {f"src/text{number}.py": _words(dice, 999_000) for number in range(150)}
    return import_files(folder, {**_plain(FILES), **files})


def tree_bomb(folder: Path) -> str:
    """Create a few folders that contain each other many times."""
    git_folder(folder)
    blob = git(folder, "hash-object", "-w", "--stdin", stdin=b"x = 1\n").decode().strip()
    tree = git(folder, "mktree", stdin="".join(f"100644 blob {blob}\tf{n}.py\n" for n in range(WIDTH)).encode())
    for _ in range(DEPTH - 1):
        below = tree.decode().strip()
        tree = git(folder, "mktree", stdin="".join(f"040000 tree {below}\td{n}\n" for n in range(WIDTH)).encode())
    sha = git(folder, "commit-tree", "-m", "Initial", tree.decode().strip()).decode().strip()
    git(folder, "update-ref", "refs/heads/main", sha)
    return sha


HOSTILE: dict[str, Callable[[Path], str]] = {
    **{language.name + language.endings[0]: grammar(language.name, language.endings[0]) for language in LANGUAGES},
    "many-files": many_files,
    "large-file": large_file,
    "much-text": much_text,
    "tree-bomb": tree_bomb,
}


def import_files(folder: Path, files: Mapping[str, bytes]) -> str:
    """Commit many files at once and return the commit."""
    git_folder(folder)
    head = b"commit refs/heads/main\ncommitter T <t@example.org> 1704067200 +0000\ndata 7\nInitial\n"
    parts = (b"M 100644 inline %b\ndata %d\n%b\n" % (name.encode(), len(text), text) for name, text in files.items())
    git(folder, "fast-import", "--quiet", stdin=b"".join([head, *parts]))
    return git(folder, "rev-parse", "HEAD").decode().strip()


def git_folder(folder: Path) -> None:
    """Create an empty repository."""
    folder.mkdir(parents=True)
    git(folder, "init", "--quiet", "--initial-branch=main")


def _plain(files: Mapping[str, str]) -> dict[str, bytes]:
    return {name: text.encode() for name, text in files.items()}


def _words(dice: random.Random, size: int) -> bytes:
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ("".join(dice.choices(letters, k=6)) for _ in range(size // 7 + 1))
    text = " ".join(words)
    return "\n".join(text[at : at + 70] for at in range(0, size, 70)).encode()[:size]


def effects(names: list[str], folder: Path) -> Iterator[Effect]:
    """Open an issue in each hostile repository, and one in the healthy repository at the same moment."""
    with serve_github() as github:
        origin = folder / "healthy"
        sha = make_repository(origin, FILES)
        healthy = [
            github.world.repository(f"octo/feedbox{k}", installation=100 + k, git=origin, head=sha)
            for k in range(-(-(len(names) + 1) // PER_INSTALLATION))
        ]
        with running(github, folder / "data", fresh=True) as app:
            first = app.open_issue(healthy[0], TITLE, BODY)
            wait_for(lambda: bool(github.world.reports(healthy[0], first)), 300)  # imports and the first index
            for number, name in enumerate(names):
                repo = _hostile(github, folder / name, name, number)
                yield _one(app, name, repo, healthy[(number + 1) // PER_INSTALLATION])


def _hostile(github: GitHubServer, folder: Path, name: str, number: int) -> Repo:
    head = HOSTILE[name](folder)
    title = "".join(letter if letter.isalnum() else "-" for letter in name)
    return github.world.repository(f"evil/{title}", installation=500 + number, git=folder, head=head)


def _one(app: App, name: str, hostile: Repo, healthy: Repo) -> Effect:
    world, most = app.github.world, 0
    bad = app.open_issue(hostile, f"{TITLE}, {name}", BODY)
    good = app.open_issue(healthy, f"{TITLE}, next to {name}", BODY)
    started = time.monotonic()

    def is_done(repo: Repo, number: int) -> bool:
        """Return whether the issue has a report, or its run ended without a place and so without a comment."""
        nonlocal most
        assert app.process is not None
        most = max(most, memory_of(app.process.pid))
        key = f"issue_key = '{app.key(repo, number)}'"
        return bool(world.reports(repo, number)) or bool(
            app.ask(f"SELECT 1 FROM runs WHERE {key} AND status = 'finished'")
        )

    wait_for(lambda: is_done(healthy, good), AT_LAST, lambda: app.log[-3:], pause=0.1)
    seconds = time.monotonic() - started
    try:
        wait_for(lambda: is_done(hostile, bad), AT_LAST, pause=0.1)
    except AssertionError:
        return Effect(name, seconds, float("inf"), most)
    return Effect(name, seconds, time.monotonic() - started, most)


def main() -> None:
    """Print one line per hostile repository."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("names", nargs="*", default=[], choices=[*HOSTILE, []], metavar="name")
    broken = []
    with tempfile.TemporaryDirectory() as folder:
        for one in effects(options.parse_args().names or list(HOSTILE), Path(folder)):
            broken += [] if one.is_bounded else [one.name]
            print(one, flush=True)
    raise SystemExit(f"guarantees broken: {' '.join(broken)}" if broken else 0)


if __name__ == "__main__":
    main()
