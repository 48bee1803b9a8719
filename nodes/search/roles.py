"""What part a file plays, by its path and its first lines."""

from __future__ import annotations

import re

from nodes.search.types import Role

_VENDORED = re.compile(
    r"(^|/)(vendor|vendored|_vendor|third_?party|node_modules|bower_components|extern|extlib|"
    r"site-packages|\.yarn)/|^(src/|lib/)?(external|deps)/"  # deeper down, a package of one's own may be called so
)
_MINIFIED = re.compile(r"[.\-]min\.(js|css|mjs)$|\.bundle\.js$")
_GENERATED_NAME = re.compile(
    r"(_pb2(_grpc)?\.pyi?|\.pb\.(go|cc|h)|\.pb\.gw\.go|_generated\.\w+|\.g\.(dart|cs)|\.designer\.cs|zz_generated\.\w+\.go|"
    r"(^|/)(package-lock\.json|yarn\.lock|pnpm-lock\.yaml|poetry\.lock|uv\.lock|Cargo\.lock|go\.sum|Gemfile\.lock|"
    r"composer\.lock|Pipfile\.lock))$",
    re.IGNORECASE,
)
_GENERATED_HEAD = re.compile(
    rb"@generated|Code generated .{0,80}DO NOT EDIT|(automatically|auto-?) ?generated (by|from|file)|"
    rb"This file (is|was) (auto-?generated|automatically generated)|DO NOT (EDIT|MODIFY)",
    re.IGNORECASE,
)
_TEST = re.compile(
    r"(^|/)(tests?|testing|__tests__|specs?|e2e|testdata|test_data|testcases|fixtures|mocks?|__mocks__|unittests?)/|"
    r"(^|/)(test_[^/]*|conftest)\.py$|_tests?\.(py|go|rb|cc|cpp|c|exs?|dart|php)$|[._-](test|spec)\.[cm]?[jt]sx?$|"
    r"(Tests?|Spec|IT|TestCase)\.(java|kt|scala|cs|swift|php|groovy)$|_spec\.rb$|(^|/)src/(test|it|androidTest)/"
)
_DOCS = re.compile(
    r"(^|/)(docs?|documentation|website|man)/|\.(md|rst|adoc|txt|markdown|tex)$|"
    # CHANGES, CHANGES-2.0, LICENSE.BSD-3, but not changes.py
    r"(^|/)(readme|changes|changelog|history|news|authors|contributing|license)([^/.]|\.(?![^\W\d]\w{0,4}$))*$",
    re.IGNORECASE,
)
_EXAMPLE = re.compile(
    r"(^|/)(examples?|samples?|demos?|gallery|galleries|tutorials?|benchmarks?|bench|asv_bench|playground|sandbox)/"
)
_CONFIG = re.compile(
    r"(^|/)\.[^/]+(/|$)|\.(toml|ini|cfg|conf|ya?ml|properties|gradle|cmake|mk|lock|editorconfig)$|"
    r"(^|/)(Makefile|CMakeLists\.txt|Dockerfile[^/]*|setup\.py|tox\.ini|Rakefile|Gemfile|Jenkinsfile|[^/]*\.config\.[cm]?[jt]s)$"
)
_DATA = re.compile(
    r"\.(json|csv|tsv|xml|svg|po|pot|mo|png|jpe?g|gif|ico|pdf|ipynb|html?|css|scss|less|dat|fits|npy|npz|woff2?|ttf|eot|"
    r"sql|geojson|kml|snap|map|parquet|db|sqlite3?|gz|zip|tar|bin|wasm)$",
    re.IGNORECASE,
)
_LONG_LINE = 500
"""Mean bytes a line of a file's head above which it was minified."""
_MAIN = re.compile(r"(^|/)src/main/(java|kotlin|scala|groovy)/")
_SHIPPED = re.compile(r"/(testing|mocks?|fixtures|specs?|examples?|samples?|demos?|docs?|benchmarks?|sandbox)/")
"""What may be a package of what is shipped: Mockito's own ``org/mockito/mock``, anyone's ``org/example``."""


def role_of(path: str, head: bytes = b"") -> Role:
    """Tell source from everything that only stands beside it.

    Args:
        path: inside the repository, with forward slashes.
        head: the first two kilobytes, where they are at hand.
    """
    head = head[:2_048]
    by_path: tuple[tuple[bool, Role], ...] = (
        (bool(_VENDORED.search(path)), "vendored"),
        (bool(_MINIFIED.search(path)), "minified"),
        (bool(_GENERATED_NAME.search(path)), "generated"),
        (bool(_TEST.search(path)) and not _is_shipped(path), "test"),
        (bool(_EXAMPLE.search(path)) and not _is_shipped(path), "example"),
        (bool(_CONFIG.search(path)), "config"),
        (bool(_DOCS.search(path)) and not _is_shipped(path), "docs"),
        (bool(_DATA.search(path)), "data"),
    )
    role: Role = next((role for matches, role in by_path if matches), "source")
    if role == "source" and len(head) > _LONG_LINE * (head.count(b"\n") + 1):
        return "minified"
    if role == "source" and _GENERATED_HEAD.search(head[:1_000]):
        return "generated"
    return role


def _is_shipped(path: str) -> bool:
    """Whether it stands where Maven and Gradle keep what is no test, whatever its package is called."""
    main = _MAIN.search(path)
    return main is not None and _SHIPPED.search(path, main.end() - 1) is not None
