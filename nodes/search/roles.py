"""Determines the role of a file by its path and its first lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from nodes.search.role_names import (
    CODE,
    CONFIG,
    DATA,
    DOCS_FOLDERS,
    DOCS_NAME,
    EXAMPLES,
    GENERATED,
    GENERATED_FOLDERS,
    GENERATED_HEAD,
    JVM,
    LONG_LINE,
    MINIFIED,
    NOTICE,
    ROOMS,
    SPEC_IN,
    STORY,
    TEST_NAME,
    VENDORED,
    VENDORED_AT_TOP,
)
from nodes.search.types import Role

_TEST_FOLDER = re.compile(
    r"tests?|testing|__tests__|e2e|fixtures|mocks?|__(fixtures|mocks|snapshots)__|unittests?|cypress|fuzz_targets|"
    r"step_definitions|test[_-]?(data|cases?|suites?|fixtures|resources)|"
    r"(unit|integration|functional|acceptance|system|smoke|regression|e2e|ui|performance|browser)[_-]?tests?|"
    r".+\.test|.+[._-](unit|integration|functional)?tests"
)
_TEST_PROJECT = re.compile(r"\w+Tests")
"""A folder named as Xcode and .NET name those of tests: AppTests, AppUITests."""
_SOURCE_SET = re.compile(r"it|test|\w+Test|testFixtures")
"""A folder in ``src`` named as Maven and Gradle name those of tests."""


def role_of(path: str, head: bytes = b"") -> Role:
    """Return the role of a file: source, or one of the kinds that are not.

    Args:
        path: the path inside the repository, with forward slashes.
        head: the first two kilobytes, if available.
    """
    role = _by_path(path)
    return mark_of(head) if role == "source" else role


def mark_of(head: bytes) -> Role:
    """Return the role that the first lines indicate for a file whose path says source."""
    head = head[:2_048]
    if len(head) > LONG_LINE * (head.count(b"\n") + 1):
        return "minified"
    first = head[:1_000].lower()
    # most files contain neither, and the search for the exact marker takes longer
    is_marked = b"generated" in first or b"do not" in first
    return "generated" if is_marked and GENERATED_HEAD.search(first) else "source"


def _by_path(path: str) -> Role:
    return next((role for matches, role in _asked(path) if matches), "source")


def _asked(path: str) -> Iterator[tuple[object, Role]]:
    """Yield checks with their roles one by one, so that no check runs after the first match."""
    *written, file = path.split("/")
    folders, name = [folder.lower() for folder in written], file.lower()
    beside = _role_folders(folders)
    # The first match wins: a vendored test is vendored.
    yield _is_vendored(folders), "vendored"
    yield MINIFIED.search(name), "minified"
    yield _is_generated(folders, name), "generated"
    yield _is_test(written[: len(beside)], beside, file if len(beside) == len(folders) else ""), "test"
    yield not EXAMPLES.isdisjoint(beside) or STORY.search(name), "example"
    yield any(folder[:1] == "." for folder in folders) or name[:1] == "." or CONFIG.search(name), "config"
    yield _is_documentation(beside, file), "docs"
    yield DATA.search(name), "data"


def _role_folders(folders: Sequence[str]) -> Sequence[str]:
    """Return the folders that indicate a file's role; below ``src/main/java`` (Maven, Gradle) they are packages."""
    for at in range(len(folders) - 2):
        if folders[at] == "src" and folders[at + 1] == "main" and folders[at + 2] in JVM:
            return folders[:at]
    return folders


def _is_vendored(folders: Sequence[str]) -> bool:
    if not VENDORED.isdisjoint(folders):
        return True
    return not VENDORED_AT_TOP.isdisjoint(folders[:2] if folders[:1] in (["src"], ["lib"]) else folders[:1])


def _is_generated(folders: Sequence[str], name: str) -> bool:
    if not GENERATED_FOLDERS.isdisjoint(folders) or GENERATED.search(name):
        return True
    return "dist" in folders and name.endswith((".js", ".mjs", ".cjs"))


def _is_test(written: Sequence[str], folders: Sequence[str], file: str) -> bool:
    if any(map(_is_for_tests, written, folders)) or TEST_NAME.search(file):
        return True
    if any(one == "src" and _SOURCE_SET.fullmatch(two) for one, two in pairwise(written)):
        return True
    return ("spec" in folders or "specs" in folders) and SPEC_IN.search(file) is not None


@lru_cache(maxsize=4_096)
def _is_for_tests(written: str, folder: str) -> bool:
    return bool(_TEST_FOLDER.fullmatch(folder) or _TEST_PROJECT.fullmatch(written))


def _is_documentation(folders: Sequence[str], file: str) -> bool:
    """Return whether a file is a document or builds documents; a package of code may also be called ``doc``."""
    name = file.lower()
    if DOCS_NAME.search(name) or NOTICE.search(file):
        return True
    if not CODE.search(name):
        return not DOCS_FOLDERS.isdisjoint(folders)
    top = folders[2:3] if folders[:1] and folders[0] in ROOMS else folders[:1]
    return not DOCS_FOLDERS.isdisjoint(top) or folders[1:2] == ["docs"]
