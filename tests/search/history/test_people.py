"""No email address of a person is shown, and bots are not people."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nodes.search.history.log import UNKNOWN, is_bot, shown


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
