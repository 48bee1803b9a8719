"""Every imported package is a declared dependency."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

ROOT = Path(__file__).parents[1]
OURS = ("bot", "nodes", "prompts")


def imported(package: str) -> Iterator[str]:
    """Yield the top-level names of the modules that a package imports, lazily or not."""
    for file in (ROOT / package).rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_bytes())):
            if isinstance(node, ast.Import):
                yield from (name.name.partition(".")[0] for name in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                yield node.module.partition(".")[0]


def declared() -> set[str]:
    """Return the names of the distributions in pyproject.toml."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    groups = [project["dependencies"], *project.get("optional-dependencies", {}).values()]
    return {normal(re.split(r"[\[<>=~! ;]", line)[0]) for group in groups for line in group}


def normal(name: str) -> str:
    """Return a distribution's name normalised as in PEP 503."""
    return re.sub(r"[-_.]+", "-", name).lower()


def test_every_import_is_declared() -> None:
    brings, requested = packages_distributions(), declared()
    foreign = {name for package in OURS for name in imported(package)} - {*OURS, *sys.stdlib_module_names}
    assert {name for name in foreign if not requested & set(map(normal, brings.get(name, ())))} == set()


def test_a_wheel_holds_the_program_alone() -> None:
    """A package named ``tests`` in a user's environment would hide, or be hidden by, another project's."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert tuple(project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]) == OURS
