"""Earlier issues from a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bot.errors import UserError
from bot.runs.past import read_listed


def written(tmp_path: Path, *lines: str) -> str:
    file = tmp_path / "issues.jsonl"
    file.write_text("\n".join(lines))
    return str(file)


async def test_issues_are_read_as_githubs_api_and_its_command_line_write_them(tmp_path: Path) -> None:
    api = {"number": 3, "title": "A", "body": None, "state": "open", "html_url": "https://x/issues/3", "user": {}}
    command = {"number": 4, "title": "B", "body": "b", "state": "CLOSED", "url": "https://x/issues/4"} | {
        "stateReason": "NOT_PLANNED"
    }
    past = read_listed(written(tmp_path, json.dumps(api), "", json.dumps(command)))
    found = [await past.read(number) for number in (3, 4)]
    assert [(one.title, one.body, one.state, one.url) for one in found if one] == [
        ("A", "", "open", "https://x/issues/3"),
        ("B", "b", "closed", "https://x/issues/4"),
    ]
    assert [one.not_planned for one in found if one] == [False, True]
    assert await past.read(5) is None
    assert len((await past.similar("A", "", 5)).past) == 2


@pytest.mark.parametrize(
    ("line", "message"),
    [
        pytest.param("{", "line 2: Invalid JSON", id="no-json"),
        pytest.param("[]", "line 2", id="no-object"),
        pytest.param('{"title": "x"}', "line 2: number", id="no-number"),
        pytest.param('{"number": 0}', "line 2: number", id="no-such-number"),
        pytest.param('{"number": 1, "state": "gone"}', "line 2: state", id="no-such-state"),
        pytest.param('{"number": 1, "title": ["x"]}', "line 2: title", id="no-text"),
        pytest.param("\x00", "line 2", id="binary"),
    ],
)
def test_a_line_without_an_issue_is_named(tmp_path: Path, line: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        read_listed(written(tmp_path, '{"number": 9}', line))


def test_a_missing_file_of_issues_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"cannot read the issues from .*nowhere"):
        read_listed(str(tmp_path / "nowhere"))


async def test_an_invalid_address_is_left_out(tmp_path: Path) -> None:
    past = read_listed(written(tmp_path, '{"number": 1, "url": "javascript:alert(1)"}'))
    issue = await past.read(1)
    assert issue is not None
    assert issue.url == ""
