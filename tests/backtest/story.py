"""A small repository with direct, squashed, merged, reverted and irrelevant fixes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from tests.support.repositories import add_entry, git

FILES = {
    "feed/__init__.py": "",
    "feed/dates.py": "def parse_date(text):\n    return text.split('-')\n",
    "feed/store.py": "def save_article(article, path):\n    path.write_text(article)\n",
    "feed/fetch.py": "def fetch_feed(url):\n    raise TimeoutError('no answer from ' + url)\n",
    "tests/test_dates.py": "def test_parse():\n    pass\n",
    "README.md": "# feed\n",
}
ISSUES = {
    1: ("parse_date drops the zone", "`parse_date('2024-01-01T00:00-07')` ignores the zone after the day."),
    2: ("save_article fails on a missing folder", "`save_article` raises FileNotFoundError if the folder is missing."),
    3: ("fetch_feed gives up at once", "TimeoutError: no answer from http://example.org in `fetch_feed`."),
    4: ("parse_date accepts the month 13", "`parse_date('2024-13-01')` should raise ValueError."),
}


def build(path: Path) -> dict[str, str]:
    """Commit the history; return the SHAs of the relevant commits by name."""
    path.mkdir()
    git(path, "init", "--quiet", "--initial-branch=main")
    files = dict(FILES)
    names = {"start": _commit(path, files, "Begin")}
    files["feed/dates.py"] += "\n\ndef zone_of(text):\n    return text[-3:]\n"
    files["tests/test_dates.py"] += "\n\ndef test_zone():\n    pass\n"
    names["one"] = _commit(path, files, "Read the zone\n\nFixes #1.")
    git(path, "checkout", "--quiet", "-b", "folder")
    files["feed/store.py"] = "def save_article(article, path):\n    path.parent.mkdir()\n    path.write_text(article)\n"
    names["branch"] = _commit(path, files, "Make the folder, closes GH-2")
    git(path, "checkout", "--quiet", "main")
    message = "Merge pull request #12 from rita/folder\n\nMake the folder"
    git(path, "merge", "--quiet", "--no-ff", "folder", "-m", message)
    names["two"] = git(path, "rev-parse", "HEAD").decode().strip()
    files["feed/fetch.py"] = "def fetch_feed(url):\n    return retry(url)\n"
    names["three"] = _commit(path, files, "Try the feed again (#3)")
    files["README.md"] += "\nReads dates.\n"
    _commit(path, files, "Fix #9: say what it does")
    files["feed/dates.py"] = files["feed/dates.py"].replace("split", "rsplit")
    wrong = names["undone"] = _commit(path, files, "Fix #4 in a hurry")
    files["feed/dates.py"] = files["feed/dates.py"].replace("rsplit", "split")
    _commit(path, files, f'Revert "Fix #4 in a hurry"\n\nThis reverts commit {wrong}.')
    return names


def write_issues(path: Path, issues: Mapping[int, tuple[str, str]] = ISSUES, **more: object) -> Path:
    """Write the issue texts as JSON lines."""
    rows = ({"number": n, "title": title, "body": body, **more} for n, (title, body) in issues.items())
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def _commit(path: Path, files: Mapping[str, str], message: str) -> str:
    git(path, "read-tree", "--empty")
    for name, content in files.items():
        add_entry(path, name, content)
    git(path, "commit", "--quiet", "--allow-empty", "--message", message)
    git(path, "reset", "--quiet", "--hard")
    return git(path, "rev-parse", "HEAD").decode().strip()
