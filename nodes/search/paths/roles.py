"""Determine the role of a file by its path and its first lines."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

from nodes.search.tokens import load_sections, load_words
from nodes.search.types import Role

_TABLE = Path(__file__).with_name("roles.txt")
_ROWS = load_sections(_TABLE)
_WORDS = load_words(_TABLE)
_FORMS = {name: re.compile("|".join(rows)) for name, rows in _ROWS.items()}
_GENERATED_HEAD = re.compile("|".join(_ROWS["generated head"]).encode(), re.IGNORECASE)
CODE = _FORMS["code"]
LONG_LINE = 500
"""Mean bytes per line of a file's head; a file with more is minified."""
JVM = frozenset({"java", "kotlin", "scala", "groovy"})
_TEST_PROJECT = re.compile(r"\w+Tests")
"""A folder named as Xcode and .NET name those of tests: AppTests, AppUITests."""
_SOURCE_SET = re.compile(r"it|test|\w+Test|testFixtures")
"""A folder in ``src`` named as Maven and Gradle name those of tests."""
_VERSIONED = re.compile(r"[a-z][\w.]{0,60}-v?\d{1,4}(?:\.\d{1,6}){1,3}")
"""A folder with the name and the version of a library that is copied into the project's folder of libraries."""
COPIED = re.compile(
    r"(?:^|/)(?:single_?include|singleheader|single_header|amalgamat\w*|extras)/|_amalgamated\.|\.(?:pyi|d\.[cm]?ts)$"
)
"""Files that bundle copies of the sources, which some projects ship, and declarations without code."""


def role_of(path: str) -> Role:
    """Return the role of a file by its path inside the repository: source, or one of the kinds that are not."""
    return next((role for matches, role in _checks(path) if matches), "source")


def mark_of(head: bytes) -> Role:
    """Return the role that the first lines indicate for a file whose path says source."""
    head = head[:2_048]
    # By content too, because many minified files have ordinary names.
    if len(head) > LONG_LINE * (head.count(b"\n") + 1):
        return "minified"
    first = head[:1_000].lower()
    # most files contain neither, and the search for the exact marker takes longer
    is_marked = b"generated" in first or b"do not" in first
    return "generated" if is_marked and _GENERATED_HEAD.search(first) else "source"


def _checks(path: str) -> Iterator[tuple[object, Role]]:
    """Yield checks with their roles one by one, so that no check runs after the first match."""
    *original, file = path.split("/")
    folders, name = [folder.lower() for folder in original], file.lower()
    role_folders = _role_folders(folders)
    # The first match wins: a vendored test is vendored.
    yield _is_vendored(folders), "vendored"
    yield _FORMS["minified"].search(name), "minified"
    yield _is_generated(folders, name), "generated"
    # The name of a file below ``src/main/java`` does not count either: TestController.java may be part of the
    # product.
    own_file = file if len(role_folders) == len(folders) else ""
    yield _is_test(original[: len(role_folders)], role_folders, own_file), "test"
    # Cargo compiles what is below ``src`` into the crate, and examples are next to it.
    crate = folders.index("src") if name.endswith(".rs") and "src" in folders else len(folders)
    yield not _WORDS["examples"].isdisjoint(role_folders[:crate]) or _FORMS["story"].search(name), "example"
    yield any(folder[:1] == "." for folder in folders) or name[:1] == "." or _FORMS["config"].search(name), "config"
    yield _is_documentation(role_folders, file), "docs"
    yield _FORMS["data"].search(name) or (name.endswith(".ts") and _FORMS["translated"].search(path.lower())), "data"


def _role_folders(folders: Sequence[str]) -> Sequence[str]:
    """Return the folders that indicate a file's role; below ``src/main/java`` (Maven, Gradle) they are packages."""
    for at in range(len(folders) - 2):
        if folders[at] == "src" and folders[at + 1] == "main" and folders[at + 2] in JVM:
            return folders[:at]
    return folders


def _is_vendored(folders: Sequence[str]) -> bool:
    copied = (one in ("lib", "libs") and _VERSIONED.fullmatch(two) for one, two in pairwise(folders))
    if not _WORDS["vendored"].isdisjoint(folders) or any(copied):
        return True
    return not _WORDS["vendored at top"].isdisjoint(folders[:2] if folders[:1] in (["src"], ["lib"]) else folders[:1])


def _is_generated(folders: Sequence[str], name: str) -> bool:
    if not _WORDS["generated folders"].isdisjoint(folders) or _FORMS["generated"].search(name):
        return True
    # A folder ``dist`` has bundles in JavaScript projects, but may be a package of source (distributions) in others.
    return "dist" in folders and name.endswith((".js", ".mjs", ".cjs"))


def _is_test(original: Sequence[str], folders: Sequence[str], file: str) -> bool:
    if any(map(_is_for_tests, original, folders)) or _FORMS["test"].search(file):
        return True
    if any(one == "src" and _SOURCE_SET.fullmatch(two) for one, two in pairwise(original)):
        return True
    return ("spec" in folders or "specs" in folders) and _FORMS["spec"].search(file) is not None


# A tree has far fewer distinct folders than files, and this check runs for each folder of each file.
@lru_cache(maxsize=4_096)
def _is_for_tests(original: str, folder: str) -> bool:
    return bool(_FORMS["test folder"].fullmatch(folder) or _TEST_PROJECT.fullmatch(original))


def _is_documentation(folders: Sequence[str], file: str) -> bool:
    """Return whether a file is a document or builds documents; a package of code may also be called ``doc``."""
    name = file.lower()
    if _FORMS["docs"].search(name) or _FORMS["notice"].search(file):
        return True
    if not CODE.search(name):
        return not _WORDS["docs folders"].isdisjoint(folders)
    # Code in a deeper ``doc`` folder is usually a package about documents, such as a parser's.
    top = folders[2:3] if folders[:1] and folders[0] in _WORDS["projects"] else folders[:1]
    return not _WORDS["docs folders"].isdisjoint(top) or folders[1:2] == ["docs"]
