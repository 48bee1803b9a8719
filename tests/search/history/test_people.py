"""People have the names of the mailmap, and never email addresses."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.search.history.printed import UNKNOWN, is_bot, parse_mailmap, shown

MAILMAP = """
# forms of git-shortlog(1)
Proper Name <commit@one.org>
<proper@two.org> <commit@two.org>
Third Name <proper@three.org> <commit@three.org>
Fourth Name <proper@four.org> Commit Name <shared@four.org>
"""


@pytest.mark.parametrize(
    ("name", "address", "expected"),
    [
        ("x", "commit@one.org", ("Proper Name", "commit@one.org")),
        ("x", "COMMIT@ONE.ORG", ("Proper Name", "COMMIT@ONE.ORG")),
        ("x", "commit@two.org", ("x", "proper@two.org")),
        ("x", "commit@three.org", ("Third Name", "proper@three.org")),
        ("Commit Name", "shared@four.org", ("Fourth Name", "proper@four.org")),
        ("Other Name", "shared@four.org", ("Other Name", "shared@four.org")),
        ("x", "nobody@nowhere.org", ("x", "nobody@nowhere.org")),
    ],
)
def test_a_mailmap_renames_as_git_does(name, address, expected):
    assert parse_mailmap(MAILMAP).proper(name, address) == expected


@pytest.mark.parametrize(
    ("name", "address", "expected"),
    [
        ("Ann", "ann@example.org", "Ann"),
        ("Ann", "ann-l@users.noreply.github.com", "ann-l"),
        ("Ann", "1234+ann-l@users.noreply.github.com", "ann-l"),
        ("Ann", "ann-l@users.noreply.git.example.org", "ann-l"),
        ("ann@example.org", "ann@example.org", UNKNOWN),
        ("Ann (ann@example.org)", "ann@example.org", "Ann"),
        ("", "ann@example.org", UNKNOWN),
    ],
)
def test_what_a_person_is_called_in_public(name, address, expected):
    assert shown(name, address) == expected


@given(st.text(max_size=60), st.emails())
def test_no_address_is_shown(name, address):
    assert address not in shown(f"{name} {address}", address)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        *(
            (name, True)
            for name in ("dependabot[bot]", "renovate", "pre-commit-ci", "some-bot", "GitHub Actions", "x bot")
        ),
        *((name, False) for name in ("Abbot", "Botond", "Robota", "Ann")),
    ],
)
def test_bots_are_distinguished_from_people(name, expected):
    assert is_bot(name, "x@example.org") is expected
