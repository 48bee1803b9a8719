"""The files in which the texts of a user interface are searched for."""

import re
from collections.abc import Iterable

from nodes.search.facts.code import Code
from nodes.search.tokens import WORD, hashes_of

MAX_PATHS = 100_000
"""Characters of the paths that one search names."""
_UNSEARCHED = re.compile(r"\.(?:md|rst|txt|pot?|svg|map|mo)$|\.min\.")
"""Files that ``NOT_SEARCHED`` excludes, so that they need not be named."""


def files_for(code: Code, texts: Iterable[str]) -> list[str]:
    """Return pathspecs of the files that may place one of the texts, in any case.

    A search of a whole commit takes a fifth of a second, and most reports have no text of it.
    """
    # A word in capitals and the same in lower case are split into different terms; both include the whole word.
    terms = {
        text: {
            value for word in WORD.findall(text) for value in {*hashes_of(word)}.intersection(hashes_of(word.lower()))
        }
        for text in texts
    }
    index = code.index
    chunks = [chunk for found in code.chunks_with(terms, own=False).values() for chunk in found]
    files = set(index.chunk_file[chunks].tolist())
    files.update(number for number, role in enumerate(index.roles) if role == "data")  # the index lacks their words
    names = (index.paths[number] for number in sorted(files))
    paths = [f":(literal){path}" for path in names if not _UNSEARCHED.search(path)]
    # Without a path every file is searched.
    named = paths if all(terms.values()) and 0 < sum(map(len, paths)) <= MAX_PATHS else []
    return [*named, *_folders_aside(code)]


def _folders_aside(code: Code) -> list[str]:
    """Return pathspecs against the top folders of tests and documents, in which no file can place a label."""
    aside = ("test", "docs")
    files = [
        (path.partition("/")[0], path, role) for path, role in zip(code.index.paths, code.index.roles, strict=True)
    ]
    rest = {top for top, path, role in files if role not in aside or top == path}
    return [f":(exclude,literal){top}" for top in sorted({top for top, _, _ in files} - rest)]
