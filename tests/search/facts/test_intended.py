"""Comments that say that a behaviour is intended."""
# ruff: noqa: E501  a table of sources reads better in rows

from __future__ import annotations

from pathlib import Path

import pytest

from nodes.search.facts.around.intended import sentences
from tests.search.facts.finding import facts_of, of_kind

SAYS = "Packed files are deliberately refused,"
SOURCES = {
    "python": ("zones.py", f'def load_zone(path):\n    """Load a zone.\n\n    {SAYS}\n    because they cannot be mapped.\n    """\n    return 1\n', 4),
    "javascript": ("zones.js", f"// {SAYS}\n// because they cannot be mapped.\nfunction load_zone(path) {{\n  return 1\n}}\n", 1),
    "go": ("zones.go", f"package zones\n\n// {SAYS}\n// because they cannot be mapped.\nfunc load_zone(path string) int {{\n\treturn 1\n}}\n", 3),
    "rust": ("src/zones.rs", f"/// {SAYS}\n/// because they cannot be mapped.\npub fn load_zone(path: &str) -> u8 {{\n    1\n}}\n", 1),
    "java": ("Zones.java", f"class Zones {{\n  /**\n   * {SAYS}\n   * because they cannot be mapped.\n   */\n  int load_zone(String path) {{\n    return 1;\n  }}\n}}\n", 3),
    "c": ("zones.c", f"/* {SAYS}\n * because they cannot be mapped. */\nint load_zone(const char *path) {{\n  return 1;\n}}\n", 1),
}  # fmt: skip


@pytest.mark.parametrize("language", SOURCES)
def test_a_comment_that_states_an_intention_is_quoted(tmp_path: Path, language: str):
    path, source, line = SOURCES[language]
    facts = facts_of(tmp_path, {path: source}, "`load_zone` refuses packed zones", "It should read packed files.")
    (found,) = of_kind(facts, "intended")
    assert (found.path, found.line, found.strong) == (path, line, False)
    assert found.says.endswith(f"says: “{SAYS} because they cannot be mapped.”")


@pytest.mark.parametrize(
    "source",
    [
        pytest.param('def load_zone(path):\n    """Load a zone; signs are deliberately ignored."""\n', id="other-words"),
        pytest.param("def load_zone(path):\n    # Packed zones refused: not intended.\n    return 1\n", id="denied"),
        pytest.param("def load_zone(path):\n    # Are packed zones refused on purpose?\n    return 1\n", id="asked"),
        pytest.param("def load_zone(path):\n    return 'packed zones are refused by design'\n", id="no-comment"),
        pytest.param("def load_zone(path):\n    return 1\n\n\n# Packed zones are refused by design.\ndef save():\n    return 2\n", id="of-another"),
    ],
)  # fmt: skip
def test_other_comments_are_not_evidence_of_intention(tmp_path: Path, source: str):
    facts = facts_of(tmp_path, {"zones.py": source}, "`load_zone` refuses packed zones", "It should read packed files.")
    assert of_kind(facts, "intended") == []


def test_long_comments_are_read_within_limits():
    lines = ["# intended " + "by design " * 1_000] * 120
    assert list(sentences("a.py", lines, 1)) == []
