"""Histories defined commit by commit, and created as a real repository by one git process."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from tests.support.repositories import git

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

ANN, BOB, CAT = "Ann <ann@example.org>", "Bob <bob@example.org>", "Cat <1234+cat-login@users.noreply.github.com>"


@dataclass
class Story:
    """Commits in the order of definition; each follows the previous one unless stated otherwise."""

    stream: list[bytes] = field(default_factory=list)
    marks: int = 0
    shas: dict[int, str] = field(default_factory=dict)

    def commit(
        self,
        day: str,
        files: Mapping[str, str | None],
        message: str = "Change something",
        *,
        author: str = ANN,
        after: int | None = None,
        merges: int | None = None,
        moves: Mapping[str, str] | None = None,
        branch: str = "main",
    ) -> int:
        """Add a commit to the previous files (None deletes one); return its mark."""
        self.marks += 1
        when = f"{seconds(day)} +0000"
        head = [f"commit refs/heads/{branch}", f"mark :{self.marks}", f"author {author} {when}"]
        self.stream += [f"{line}\n".encode() for line in (*head, f"committer {author} {when}")]
        self.stream.append(data(message))
        parent = after if after is not None else self.marks - 1
        self.stream += [f"from :{parent}\n".encode()] if parent else []
        self.stream += [f"merge :{merges}\n".encode()] if merges else []
        self.stream += [f'R "{old}" "{new}"\n'.encode() for old, new in (moves or {}).items()]
        for path, content in files.items():
            self.stream += [f'D "{path}"\n'.encode()] if content is None else [entry(path), data(content)]
        self.stream.append(b"\n")
        return self.marks

    def tag(self, name: str, commit: int, *, day: str | None = None) -> None:
        """Tag a commit; with a day the tag is an annotated tag made on that day."""
        if day is None:
            self.stream.append(f"reset refs/tags/{name}\nfrom :{commit}\n\n".encode())
            return
        self.stream.append(f"tag {name}\nfrom :{commit}\ntagger {ANN} {seconds(day)} +0000\n".encode() + data(name))

    def build(self, path: Path) -> Path:
        """Create the bare repository; afterwards ``sha`` returns its commits."""
        path.mkdir(parents=True, exist_ok=True)
        git(path, "init", "--quiet", "--bare", "--initial-branch=main")
        git(path, "fast-import", "--quiet", "--export-marks=marks", stdin=b"".join(self.stream))
        for mark, sha in re.findall(r":(\d+) (\w+)", (path / "marks").read_text()):
            self.shas[int(mark)] = sha
        return path

    def sha(self, commit: int) -> str:
        """Return the full SHA of a commit."""
        return self.shas[commit]


def seconds(day: str) -> int:
    """Return noon of a day, in seconds since 1970."""
    return int(datetime.strptime(day, "%Y-%m-%d").replace(hour=12, tzinfo=UTC).timestamp())


def entry(path: str) -> bytes:
    return f'M 100644 inline "{path}"\n'.encode()


def data(text: str) -> bytes:
    raw = text.encode()
    return b"data %d\n%s\n" % (len(raw), raw)


def code(*bodies: str) -> str:
    """Return a module of functions ``f0``, ``f1``, … of three lines each."""
    return "\n".join(f"def f{number}(x):\n    {body}\n    return x\n" for number, body in enumerate(bodies))
