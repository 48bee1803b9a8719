"""Of several places with the same words, the one that the report names otherwise is chosen and stated."""

from __future__ import annotations

from pathlib import Path

import pytest

from nodes.search.facts.levels import statement
from tests.search.facts.finding import facts_of

MESSAGE = 'def {0}(z):\n    raise ValueError("the zone cannot be read twice")\n'
TWO = {"zones/load.py": MESSAGE.format("load_zone"), "zones/store.py": MESSAGE.format("store_zone")}
BODY = "It fails with:\n\n```\nthe zone cannot be read twice\n```\n\n"
COMPARED = "def {0}(z):\n    return z.rank == 3\n"
RANKS = {"zones/load.py": COMPARED.format("load_zone"), "zones/store.py": COMPARED.format("store_zone")}


@pytest.mark.parametrize(
    ("files", "title", "body", "path"),
    [
        pytest.param(TWO, "A zone is lost", f"{BODY}`store_zone` does that.", "zones/store.py", id="function"),
        pytest.param(TWO, "A zone is lost", f"{BODY}See zones/store.py.", "zones/store.py", id="path"),
        pytest.param(RANKS, "A zone is lost", "`z.rank == 3` in zones/store.py", "zones/store.py", id="expression"),
        pytest.param(TWO, "A zone is lost", BODY, "zones/load.py", id="first-file"),
    ],
)  # fmt: skip
def test_the_place_that_the_report_names_is_chosen(
    tmp_path: Path, files: dict[str, str], title: str, body: str, path: str
):
    first = ["zones/load.py", "zones/store.py"]
    facts = facts_of(tmp_path, files, title, body, first=first)
    assert [(fact.path, fact.line) for fact in facts if fact.chosen] == [(path, 2)]
    assert any(fact.chosen for fact in statement(facts, first, 0.1).stated)


def test_the_file_that_the_title_names_is_chosen(tmp_path: Path):
    files = dict.fromkeys(("zprofile", "zshrc"), 'eval "$(/opt/zones/bin/zone shellenv)"\n')
    body = 'There is `eval "$(/opt/zones/bin/zone shellenv)"` now.'
    facts = facts_of(tmp_path, files, "zshrc: the folder is wrong", body, first=["zprofile", "zshrc"])
    assert [fact.path for fact in facts if fact.chosen] == ["zshrc"]


@pytest.mark.parametrize(
    ("first", "chosen"),
    [
        pytest.param(("zones/load.py", "zones/store.py"), ["zones/load.py", "zones/store.py"], id="all"),
        pytest.param(("zones/send.py", "zones/store.py"), [], id="one-of-two"),
    ],
)
def test_code_that_only_the_first_files_have_is_stated_side_by_side(
    tmp_path: Path, first: tuple[str, ...], chosen: list[str]
):
    files = {**RANKS, "zones/send.py": "X = 1\n"}
    facts = facts_of(tmp_path, files, "A zone is lost", "`z.rank == 3` is wrong.", first=first)
    assert [fact.path for fact in facts if fact.chosen] == chosen


@pytest.mark.parametrize(
    ("files", "body"),
    [
        pytest.param(TWO, f"{BODY}Both `store_zone` and `load_zone` do that.", id="both-are-named"),
        pytest.param(
            {**TWO, "zones/more.py": MESSAGE.format("a_zone"), "zones/most.py": MESSAGE.format("b_zone")},
            f"{BODY}`store_zone` does that.",
            id="four-places",
        ),
        pytest.param({"zones/load.py": TWO["zones/load.py"]}, BODY, id="only-one-place"),
    ],
)
def test_without_a_choice_none_is_chosen(tmp_path: Path, files: dict[str, str], body: str):
    assert not [fact for fact in facts_of(tmp_path, files, "A zone is lost", body) if fact.chosen]


def test_a_chosen_place_supports_no_claim(tmp_path: Path):
    first = ["zones/store.py", "zones/load.py"]
    facts = facts_of(tmp_path, TWO, "A zone is lost", BODY, first=first)
    assert statement([fact for fact in facts if fact.chosen], first, 0.1).level == "stated"


def test_few_places_that_are_all_in_the_first_file_are_chosen(tmp_path: Path):
    rule = "def {0}(rule):\n    if rule.zoneColour:\n        pass\n"
    files = {"zones/load.py": rule.format("load") + rule.format("store"), "zones/send.py": COMPARED.format("send")}
    files["zones/send.py"] += "def more(z):\n    return z.zoneColour\n"
    facts = facts_of(tmp_path, files, "Zones are grey", "I set `zoneColour`.", first=["zones/load.py"])
    assert [(fact.kind, fact.line, fact.chosen, fact.strong) for fact in facts] == [
        ("read_here", 2, True, False),
        ("read_here", 5, True, False),
    ]


@pytest.mark.parametrize(("first", "level"), [("zones/load.py", "stated"), ("zones/store.py", "none")])
def test_few_places_of_a_message_that_are_all_in_the_first_file_are_stated(tmp_path: Path, first: str, level: str):
    files = {"zones/load.py": TWO["zones/load.py"] + MESSAGE.format("reload_zone"), "zones/store.py": "X = 1\n"}
    facts = facts_of(tmp_path, files, "A zone is lost", BODY, first=[first])
    assert [fact.chosen for fact in facts if fact.kind == "built_here"] == [level == "stated"] * 2
    facts = facts_of(tmp_path / "named", files, "A zone is lost by load.py", BODY, first=[first])
    assert [fact.chosen for fact in facts if fact.kind == "built_here"] == [level == "stated"] * 2
    assert statement(facts, [first], 0.7).level == level
