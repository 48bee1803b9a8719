"""Answer the queries of a reader of one commit: grep, read, function, callers, tree and log."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import islice

from nodes.search.git import Repository
from nodes.search.git.objects import decode
from nodes.search.git.running import Running
from nodes.search.history.log import Log
from nodes.search.index.index import Index
from nodes.search.paths.roles import CODE
from nodes.search.reading.lookups import EXPRESSION, Lookups, compile_expression, grep, name_parts, passage
from nodes.search.types import ToolAnswer, ToolCall

LINES, _FINISHED = 80, 30
"""Lines of one answer to ``read``, a wider range is clamped; further lines that finish a function."""
FUNCTION = 200
"""Lines of one function."""
SHOWN = 40
"""Matching lines of one answer."""
_PER_FILE = 6
_NAMES, _CHANGES = 80, 8
_LINE = 320
"""Bytes of a line among others."""
_DIFF = 200_000
"""Bytes of a diff that git may print."""
_WHOLE = 24_000
"""Bytes of a passage."""
_DEEP, _SECONDS = 3_000, 10.0
"""Commits through which the changes of a string are searched, and the time for it."""
_GLOB = re.compile(r"[*{]")
_SHA = re.compile(r"[0-9a-fA-F]{7,40}")
_ORDER = {"source": 1, "config": 2, "test": 3, "docs": 4, "example": 4, "data": 5}
"""By role, after the source in a programming language; built, generated, vendored and minified files come last."""
_LAST = max(_ORDER.values()) + 1
_TRANSLATED = re.compile(r"(?:^|/)(?:_?locales?|i18n|l10n|lang|languages?|translations?)/", re.IGNORECASE)
"""Folders with texts of a user interface, which would take the place of the code that shows them."""
_BUILT = re.compile(r"(?:^|/)(?:dist|build|out|bundles?|vendor|third_party|node_modules)/|\.min\.\w{1,4}$")


class ReadingTools(Lookups):
    """Queries of one commit. No text of a reader is used as a revision, and no path leaves the commit."""

    def __init__(self, repository: Repository, commit: str, index: Index, ignore: Sequence[str] = ()) -> None:
        """Create the tools for a commit; files whose paths match ``ignore`` do not exist for them."""
        super().__init__(repository, commit, index, ignore)
        self._history = Log(repository, commit)

    def answer(self, call: ToolCall) -> ToolAnswer:
        """Answer one call; a call that means nothing is answered with a note that says why."""
        tools = {
            "grep": self._grep,
            "read": self._read,
            "function": self._function,
            "callers": self._callers,
            "tree": self._tree,
            "log": self._log,
        }
        return tools[call.tool](call)

    def _grep(self, call: ToolCall) -> ToolAnswer:
        if not call.what.strip():
            return ToolAnswer("grep needs an expression.")
        files = self._files(call.path)
        if not files:
            return ToolAnswer(f"No file or folder is called `{call.path[:120]}`.")
        (pattern, is_literal), note = compile_expression(call.what), ""
        lines, complete = grep(self._repository, files, self._index.blobs, pattern)
        if not lines:
            pattern, _ = compile_expression(call.what, ignore_case=True)
            lines, complete = grep(self._repository, files, self._index.blobs, pattern)
            note = "; these differ in upper and lower case" if lines else ""
        note += " (searched literally: it is not a valid expression)" if is_literal else ""
        return self._shown(lines, note, complete=complete)

    def _shown(self, lines: Mapping[int, tuple[int, ...]], note: str, *, complete: bool) -> ToolAnswer:
        """Return the first matching lines, with the definition around each."""
        own = {number: found for number, found in lines.items() if self._place(number)[0] < _LAST}
        # Copies of the project's code and of others' would take the place of its own lines.
        listed = own or lines
        total = sum(map(len, lines.values()))
        foreign = total - sum(map(len, listed.values()))
        each = max(2, min(_PER_FILE, SHOWN // max(1, len(listed)))) if len(listed) > 1 else SHOWN
        chosen = [(number, line) for number, found in listed.items() for line in found[:each]][:SHOWN]
        sources = self._sources(number for number, _ in chosen)
        passages = [passage(sources.get(number), line, line, _LINE) for number, line in chosen]
        at_least = "" if complete else "at least "
        text = f"{at_least}{total} matches in {len(lines)} files{note}" if total else f"0 matches{note}"
        more = f"; {len(chosen)} shown" if len(chosen) < total else ""
        rest = [self._index.paths[number] for number in listed if number not in {n for n, _ in chosen}][:8]
        also = f"; also in {', '.join(rest)}" if rest else ""
        also += f"; {foreign} in {len(lines) - len(listed)} built or vendored files are not shown" if foreign else ""
        return ToolAnswer(f"{text}{more}{also}.", tuple(filter(None, passages)))

    def _read(self, call: ToolCall) -> ToolAnswer:
        number, note = self._file(call.path)
        if number is None:
            return ToolAnswer(note)
        source = self._sources([number]).get(number)
        if source is None or not source.lines:
            return ToolAnswer("The file is empty or no text.")
        total = len(source.lines)
        start = min(max(1, call.start_line), total)
        end = min(max(start, call.end_line or start + LINES - 1), total)
        last = min(end, start + LINES - 1)
        row = self._index.definition_at(number, last)
        ends = int(self._index.def_end[row]) if row is not None else last
        # Few lines more spare a further call.
        last = next((stop for stop in (end, ends) if last < stop <= last + _FINISHED and stop <= end), last)
        found = passage(source, start, last, _WHOLE)
        clamped = f"; lines {start}-{last} are shown" if (start, last) != (call.start_line, call.end_line) else ""
        return ToolAnswer(f"{total} lines{clamped}.", (found,) if found else ())

    def _function(self, call: ToolCall) -> ToolAnswer:
        wanted = name_parts(call.what)
        rows = self._defined(wanted, set(self._files(call.path)) if call.path else None) if wanted else []
        if not rows:
            where = f" in `{call.path[:120]}`" if call.path else ""
            missing = f"Nothing called `{call.what[:80]}` is defined{where}"
            return ToolAnswer(f"{missing}; grep finds other uses of the name.")
        index = self._index
        number, start, end = (int(column[rows[0]]) for column in (index.def_file, index.def_start, index.def_end))
        source = self._sources([number]).get(number)
        last = min(end, start + FUNCTION - 1)
        found = passage(source, start, last, _WHOLE)
        cut = f"; lines {start}-{last} of {start}-{end}" if last < end else ""
        others = [f"{index.paths[int(index.def_file[row])]}:{int(index.def_start[row])}" for row in rows[1:7]]
        also = f"; also defined at {', '.join(others)}" if others else ""
        return ToolAnswer(f"{len(rows)} definitions{cut}{also}.", (found,) if found else ())

    def _defined(self, wanted: Sequence[str], files: Collection[int] | None) -> list[int]:
        """Return the rows of the definitions with that name, the project's own code first."""
        index = self._index
        rows = [row for row in self._called(wanted) if files is None or int(index.def_file[row]) in files]
        # `Query.get` means that method if it exists, not every `get`.
        whole = [row for row in rows if index.name_of(row).split(".")[-len(wanted) :] == list(wanted)]
        order = {row: (*self._place(int(index.def_file[row])), int(index.def_start[row])) for row in rows}
        return sorted(whole or rows, key=lambda row: order[row])

    def _callers(self, call: ToolCall) -> ToolAnswer:
        wanted = name_parts(call.what)
        if not wanted:
            return ToolAnswer(f"`{call.what[:80]}` is not a name.")
        found = self.references(call.what, SHOWN)
        kept = [use for use in found.passages if not call.path or use.path.startswith(call.path.strip("/"))]
        kept.sort(key=lambda use: (*self._place(self._index.number_of[use.path]), use.start_line))
        return ToolAnswer(f"{found.total} uses of `{call.what[:80]}`; {len(kept)} shown.", tuple(kept))

    def _tree(self, call: ToolCall) -> ToolAnswer:
        folder = call.path.strip().strip("/").removeprefix("./")
        folder = "" if set(folder) <= set("./") else folder
        prefix = f"{folder}/" if folder else ""
        counts: dict[str, int] = {}
        for number in self._files(folder):
            name, slash, _ = self._index.paths[number].removeprefix(prefix).partition("/")
            counts[name + slash] = counts.get(name + slash, 0) + 1
        names = [f"{name} ({count})" if name.endswith("/") else name for name, count in sorted(counts.items())]
        if not names or _GLOB.search(folder) or folder in self._index.number_of:
            return self._named(folder)
        return ToolAnswer(f"{len(names)} entries; {min(len(names), _NAMES)} shown.", names=tuple(names[:_NAMES]))

    def _named(self, wanted: str) -> ToolAnswer:
        """Return the paths that match a pattern, or that contain the last part of a path."""
        last = wanted.rpartition("/")[2]
        files = self._files(wanted)
        if not files and last and not _GLOB.search(wanted):
            files = self._files(f"*{last}*", ignore_case=True)
        # Paths near the root come first.
        paths = sorted((self._index.paths[number] for number in files), key=lambda path: path.count("/"))
        if not paths:
            return ToolAnswer(f"No folder or file is called `{wanted[:120]}`.")
        names = tuple(paths[:_NAMES])
        return ToolAnswer(f"No folder, but {len(paths)} paths match; {len(names)} shown.", names=names)

    def _log(self, call: ToolCall) -> ToolAnswer:
        number, note = self._file(call.path) if call.path else (None, "")
        if call.path and number is None:
            return ToolAnswer(note)
        paths = [self._index.paths[number]] if number is not None else []
        if (sha := self._commit_of(call.what.strip())) is not None:
            return self._diff(sha, paths)
        if not (call.what.strip() or paths):
            return ToolAnswer("log needs a path, or a string whose changes are wanted.")
        shas, complete = self._changes(call.what.strip(), paths)
        changes = self._described(shas)
        what = "changed how often it occurs" if call.what.strip() else "changed the file"
        end = "" if complete else f"; older history was not searched (limit {_DEEP:,} commits or {_SECONDS:.0f} s)"
        return ToolAnswer(f"{len(changes)} commits {what}, newest first{end}.", changes=changes)

    def _commit_of(self, name: str) -> str | None:
        """Return the commit of the recent history whose id has this prefix; None unless exactly one has."""
        if not _SHA.fullmatch(name):
            return None
        log = self._history
        found = [sha for sha in log.between(log.horizon(_DEEP), self._commit) if sha.startswith(name.lower())]
        return found[0] if len(found) == 1 and found[0] not in log.shallow else None

    def _diff(self, sha: str, paths: Sequence[str]) -> ToolAnswer:
        """Return what a commit changed in a file, or the files that it changed."""
        form = ("-p", "-U4") if paths else ("--name-only", "-z")
        command = ("diff-tree", "--root", "-r", "--no-commit-id", "--no-renames", "--no-textconv", "--no-ext-diff")
        with self._started(*command, *form, sha, "--", *paths, most=_DIFF) as git:
            text = decode(git.out.read())
        changes = self._described([sha])
        if paths:
            hunks = text[text.find("\n@@") + 1 :] if "\n@@" in text else "(no text changed in this file)"
            return ToolAnswer("1 commit with its change of the file.", changes=changes, diff=hunks)
        here = {self._index.paths[number] for number in range(len(self._index.paths)) if number not in self._ignored}
        names = [path for path in text.split("\0") if path in here]
        note = f"1 commit; {len(names)} files of this version changed. With a path log shows the change of that file."
        return ToolAnswer(note, changes=changes, names=tuple(names[:_NAMES]))

    def _changes(self, text: str, paths: Sequence[str]) -> tuple[list[str], bool]:
        """Return the latest commits that change a file, or that add or remove a string; and whether these are all."""
        since = self._history.horizon(_DEEP)
        pickaxe = (f"-S{text[:200]}",) if text and "\0" not in text else ()
        command = ("log", "--no-merges", "--format=%H", f"--max-count={_CHANGES}", "--no-textconv", "--no-ext-diff")
        span = (self._commit, *((f"^{since}",) if since else ()))
        with self._started(*command, *pickaxe, *span, "--", *paths, most=_CHANGES * 80) as git:
            shas = [line.decode() for line in islice(git.records(b"\n", _CHANGES), _CHANGES) if len(line) >= 40]
            code = git.finish()
            return shas, len(shas) == _CHANGES or (git.cut is None and code == 0 and since is None)

    def _started(self, *command: str, most: int) -> Running:
        limits = replace(self._repository.limits, seconds=_SECONDS)
        return self._repository.start("--literal-pathspecs", *command, limits=limits, most=most)

    def _described(self, shas: Sequence[str]) -> tuple[tuple[str, str, str], ...]:
        """Return commits as ``ToolAnswer`` has them."""
        commits = self._history.details(shas)
        days = (datetime.fromtimestamp(commit.committed, UTC).date() for commit in commits)
        return tuple((commit.sha, day.isoformat(), commit.subject) for commit, day in zip(commits, days, strict=True))

    def _files(self, path: str, *, ignore_case: bool = False) -> list[int]:
        """Return the files of a path, a folder or a pattern such as ``src/*.py``, the project's own code first."""
        index = self._index
        wanted = path.strip().strip("/").removeprefix("./")
        if wanted in ("", "."):
            numbers: Iterator[int] | range = range(len(index.paths))
        elif wanted in index.number_of:
            numbers = iter((index.number_of[wanted],))
        elif _GLOB.search(wanted):
            # Linear too: a reader may write any number of wildcards.
            glob, _ = compile_expression(_of_glob(wanted[:EXPRESSION]), ignore_case=ignore_case, longest=None)
            numbers = (n for n, path in enumerate(index.paths) if glob.search(path.encode("utf-8", "surrogateescape")))
        else:
            numbers = (n for n, path in enumerate(index.paths) if path.startswith(f"{wanted}/"))
        return sorted((number for number in numbers if number not in self._ignored), key=self._place)

    def _file(self, path: str) -> tuple[int | None, str]:
        """Return the file of a path or of the end of one, or None and why there is none."""
        wanted = path.strip().removeprefix("./").strip("/")
        index = self._index
        if wanted in index.number_of and index.number_of[wanted] not in self._ignored:
            return index.number_of[wanted], ""
        named = (n for n, path in enumerate(index.paths) if wanted and path.endswith(f"/{wanted}"))
        ends = [n for n in named if n not in self._ignored]
        if len(ends) == 1:
            return ends[0], ""
        several = ", ".join(index.paths[number] for number in ends[:6])
        return None, f"Several files match: {several}." if several else f"The commit has no file `{path[:120]}`."

    def _place(self, number: int) -> tuple[int, str]:
        """Order the project's own code first, and copies that a build made last."""
        path, role = self._index.paths[number], self._index.roles[number]
        if role == "source" and CODE.search(path) and not (_BUILT.search(path) or _TRANSLATED.search(path)):
            return 0, path
        return _LAST if _BUILT.search(path) else _ORDER.get(role, _LAST), path


def _of_glob(pattern: str) -> str:
    """Return the expression of a pattern with ``*`` and ``{a,b}``, which begins at any folder."""
    marks = {"**/": ".*", "*": ".*"}
    marks |= {"{": "(?:", "}": ")", ",": "|"} if pattern.count("{") == pattern.count("}") else {}
    parts = re.split(r"(\*\*/|[*{},])", pattern)
    return "(?:^|/)" + "".join(marks.get(part) or re.sub(r"([^\w/-])", r"\\\1", part) for part in parts) + "$"
