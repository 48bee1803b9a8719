"""Read a clone with plain git, without rename detection, since a clone may lack large objects."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

SECONDS = 120
_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Change:
    """One file of a commit, compared with its first parent."""

    path: str
    status: str
    """M, A or D."""
    old_lines: tuple[tuple[int, int], ...] = ()
    """First and last line of each replaced range, 1-based; a pure insertion has none."""
    added: str = ""
    """The added lines."""
    removed: str = ""


@dataclass(frozen=True, slots=True)
class Git:
    """A clone."""

    folder: Path

    @classmethod
    def at(cls, folder: Path) -> Git:
        """Open a clone that is either the folder itself or its sub-folder ``repo``."""
        return cls(folder / "repo" if (folder / "repo").is_dir() else folder)

    def run(self, *arguments: str) -> bytes | None:
        """Return what a command printed, or None if it failed or took too long."""
        command = ["git", "-C", str(self.folder), "-c", "core.quotePath=false", *arguments]
        try:
            done = subprocess.run(command, capture_output=True, check=False, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return None
        return done.stdout if done.returncode == 0 else None

    def paths(self, folder: str) -> list[str]:
        """Return the files below a folder of the latest commit whose content the clone has."""
        listed = (self.run("ls-tree", "-r", "-l", "HEAD", folder) or b"").decode(errors="replace")
        rows = (line.partition("\t") for line in listed.splitlines())
        return [path for fields, _, path in rows if fields.split()[3].isdigit()]

    def read(self, path: str, commit: str = "HEAD") -> bytes | None:
        """Return the content of a file, or None if the clone lacks it."""
        return self.run("cat-file", "blob", f"{commit}:{path}")

    def resolve(self, commit: str) -> str | None:
        """Return the full SHA of a commit, or None."""
        found = self.run("rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}")
        return found.decode().strip() if found else None

    def merged(self, number: str) -> str | None:
        """Return the oldest commit that says it is a pull request: squashed, rebased with its number, or a merge."""
        pattern = rf"\(#{number}\)|^Merge pull request #{number}( |$)|^Auto merge of #{number} "
        found = self.run("log", "--format=%H%x00%s", "-E", f"--grep={pattern}") or b""
        rows = [line.split("\0", 1) for line in found.decode(errors="replace").splitlines() if "\0" in line]
        subjects = [sha for sha, subject in rows if re.search(pattern, subject)]
        return subjects[-1] if subjects else None

    def changes(self, base: str, fix: str) -> list[Change] | None:
        """Return the changed files between two commits, or None if the clone lacks an object."""
        status = self.run("diff-tree", "-r", "--no-renames", "--name-status", "-z", base, fix)
        patch = self.run("diff", "--no-renames", "--no-color", "--no-ext-diff", "-U0", base, fix)
        if status is None or patch is None:
            return None
        fields = status.decode(errors="replace").rstrip("\0").split("\0")
        states = dict(zip(fields[1::2], fields[::2], strict=False))
        texts = dict(_patches(patch.decode(errors="replace")))
        return [_change(path, state, texts.get(path, "")) for path, state in states.items()]


def _patches(patch: str) -> Iterator[tuple[str, str]]:
    for part in re.split(r"^diff --git ", patch, flags=re.MULTILINE)[1:]:
        names = re.search(r"^--- (?:a/)?(.*)\n\+\+\+ (?:b/)?(.*)$", part, re.MULTILINE)
        if names:
            old, new = (name.rstrip("\t") for name in names.groups())
            yield (new if new != "/dev/null" else old), part


def _change(path: str, status: str, patch: str) -> Change:
    starts = ((int(start), int(count) if count else 1) for start, count in _HUNK.findall(patch))
    old = tuple((start, start + count - 1) for start, count in starts if count)
    return Change(path, status, old, _lines(patch, "+"), _lines(patch, "-"))


def _lines(patch: str, sign: str) -> str:
    body: Sequence[str] = patch.partition("\n@@")[2].splitlines()
    return "\n".join(line[1:] for line in body if line.startswith(sign))
