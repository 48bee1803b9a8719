"""The own file that a path with a line number in a report means."""

import re
from collections.abc import Sequence

from nodes.search.facts.code import Code
from nodes.search.facts.places.moved import line_now
from nodes.search.facts.places.reported import holding
from nodes.search.history.versions import Release
from nodes.search.issue.located import Located
from nodes.search.paths.project import common_tail
from nodes.search.tokens import LISTS, STOPWORDS, normalise_space

MODULE_AND_FILE, MIN_CODE, MAX_REPORT = 2, 12, 100_000
"""Number of parts of a file with its module, of characters that tell code from a message, and that are searched."""
_FOREIGN = frozenset({"vendored", "minified", "generated"})
_WORD = re.compile(r"[^\W\d]\w{2,60}")
_COMMON = LISTS["of errors"]
"""Words that many lines of code and most reports of errors have."""
_GENERAL = LISTS["of files"]
"""Names of files that most projects have, so that a file of the reporter's own program may be meant."""
_PROGRAM = re.compile(r".+/main\.(?:rs|go|zig|c|cc|cpp)")
"""The file of a program in a folder; a reporter who names its whole path means the project's: a library has none."""


def file_of(
    code: Code, place: Located, context: str, release: Release | None = None, *, printed: str = "", report: str = ""
) -> int | None:
    """Return the only own file that a path can mean, if it has the line.

    If the path is ambiguous, a word of ``context``, the text around it, has to be in the code. The number of the line
    may belong to a ``release``. A file has the line if it has ``printed``, its code as a tool prints it. ``report``,
    the whole text, may name the file's folder or paste the line elsewhere.
    """
    if code.index.project.is_foreign(place.path):
        return None
    # A program shortens a long path at its beginning.
    parts = [part for part in place.path.split("/") if part not in ("", ".", "~") and not part.startswith("...")]
    last = parts[-1] if parts else ""
    stem = last.rpartition(".")[0].lower()
    if len(parts) == 1 and re.search(rf"(?m)^[#*`_ ]{{0,5}}{re.escape(last)}[*`_: ]{{0,4}}$", report):
        return None  # the name over a file of the reporter's own program
    tails = {
        number: common_tail([*parts[:-1], code.path(number).rpartition("/")[2]], code.path(number).split("/"))
        # People write the name of a file with other capitals.
        for number in code.index.names.by_name.get(last) or code.index.names.by_stem.get(stem, [])
        if code.path(number).rpartition("/")[2].lower() == last.lower()
        and code.index.roles[number] not in _FOREIGN
        and not code.is_ignored(number)
    }
    longest = max(tails.values(), default=0)
    most = [number for number, length in tails.items() if length == longest]
    best = [number for number in most if printed and holding(code.lines(number), printed, place.line)]
    best = best or [number for number in most if line_now(code, release, number, place.line).line]
    best = best or [number for number in most if release and code.path(number) == place.path]  # it lost the line
    if len(best) == 1 and not _is_ambiguous(code, parts, code.path(best[0]), longest) and place.line > 1:
        return best[0]
    if len(best) == 1 and _has_neighbour(code, parts, longest, report):
        return best[0]
    best = [number for number in best if _is_described(code, number, place.line, report)] or [
        n for n in best if _shares_word(code, n, place, line_now(code, release, n, place.line).line or 0, context)
    ]
    # Tools print paths from the root of the project.
    best = [number for number in best if code.path(number) == place.path] if len(best) > 1 else best
    # Of several files with the end of the path, one has it as its whole path.
    if len(most) > 1 and not best:
        best = [number for number in most if 1 < tails[number] == code.path(number).count("/") + 1]
    return best[0] if len(best) == 1 else None


def _is_ambiguous(code: Code, parts: Sequence[str], path: str, shared: int) -> bool:
    """Return whether a file of another project may be meant: the folders differ, or many projects have such a file."""
    # Also with one more folder, unless one of the paths is the end of the other.
    if _PROGRAM.fullmatch(path) and "/".join(parts) == path:
        return False
    # Swift prints the module, in whose folder the file is somewhere.
    if path.endswith(".swift") and len(parts) == MODULE_AND_FILE and parts[0] in path.split("/"):
        return False
    # Below a folder with the project's name, the whole path is given.
    if shared == 1 + path.count("/") < len(parts) and code.index.project.is_named(parts[-shared - 1]):
        return False
    differs = shared < min(len(parts), 1 + path.count("/"), 3) or (shared == 1 and len(parts) > 1)
    return differs or (shared <= 2 and parts[-1].partition(".")[0].casefold() in _GENERAL)


def _has_neighbour(code: Code, parts: Sequence[str], shared: int, report: str) -> bool:
    """Return whether the report names another own file by its whole path below the same folder, a clone's."""
    root, path = "/".join(parts[:-shared]), "/".join(parts[-shared:])
    others = re.findall(rf"{re.escape(root)}/([\w./-]{{3,200}}\w)", report[:MAX_REPORT]) if root else []
    return any(code.number(other) is not None for other in others if other != path and "/" in other)


def _is_described(code: Code, number: int, line: int, report: str) -> bool:
    """Return whether a report names the folders of a file, or pastes the code around the line."""
    folder = code.path(number).rpartition("/")[0]
    if "/" in folder and re.search(rf"(?<![\w/-]){re.escape(folder)}(?![\w-])(?!/\w+\.)", report):
        return True
    pasted = {normalise_space(written) for written in report.split("\n")}
    near = (normalise_space(text) for text in code.lines(number)[max(0, line - 2) : line + 2])
    return any(len(text) >= MIN_CODE and text in pasted for text in near)


def _shares_word(code: Code, number: int, place: Located, line: int, context: str) -> bool:
    """Return whether the text around a path has a word of the line, or the name of its definition."""
    here = f"{code.text(number, line) or ''} {(code.symbol(number, line) or '').replace('.', ' ')}"
    around = context.replace(place.path.rpartition("/")[2], " ")
    return not _words(around).isdisjoint(_words(here))


def _words(text: str) -> set[str]:
    return {word for word in _WORD.findall(text[:4_000]) if word.casefold() not in STOPWORDS | _COMMON}
