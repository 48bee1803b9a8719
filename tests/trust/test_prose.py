"""A model's free prose names nothing that the commit does not contain."""

from __future__ import annotations

import pytest

from nodes.judgements import Draft
from nodes.trust.prose import ProseCheck
from nodes.trust.sentences import split
from tests.support.fakes import FakeCode

ISSUE = "scan hangs in `vendor_lib.load` at lib/other.c:12"


@pytest.mark.parametrize(
    "sentence",
    [
        "Break at `src/nope.py:9999`.",
        "Look at src/nope.py first.",
        "Break at src/lexer.py:9999.",
        "Break at `src/lexer.py:2-400`.",
        "Open nope.py:3.",
        "Call `Lexer.frobnicate()`.",
        "Set `MAX_NOPE` to 3.",
    ],
)
async def test_a_sentence_that_names_what_does_not_exist_is_dropped(sentence: str) -> None:
    check = ProseCheck(FakeCode(), (ISSUE,))
    draft = Draft(
        verdict="", root_cause="", how_to_confirm=f"Run it. {sentence}", severity_reason=sentence, missing=(sentence,)
    )
    clean = await check.draft(draft)
    assert (clean.how_to_confirm, clean.severity_reason, clean.missing) == ("Run it.", "", ())
    assert len(check.dropped) == 3


@pytest.mark.parametrize(
    "sentence",
    [
        "Break at `src/lexer.py:2`.",
        "Break at src/lexer.py:1-4.",
        "Run `pytest -k scan` on version 3.11 e.g. with Python 3.12.",
        "It is `scan` in `src/lexer.py`.",
        "See https://docs.example/a/b.html and and/or the reply.",
        "`vendor_lib.load` at lib/other.c:12 is the reporter's.",
        "Use `--no-cache`, 10:30 or a 1:2 ratio.",
    ],
)
async def test_names_that_exist_or_that_the_reporter_wrote_stay(sentence: str) -> None:
    check = ProseCheck(FakeCode(), (ISSUE,))
    assert await check.text(sentence) == sentence
    assert not check.dropped


async def test_many_names_cause_a_bounded_number_of_lookups() -> None:
    check = ProseCheck(FakeCode(), (ISSUE,))
    assert await check.text(" ".join(f"See `src/a{n}.py`." for n in range(500))) == ""


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        pytest.param("It reads rows[-1] [E3]. Then it ends.", ["It reads rows[-1] [E3].", "Then it ends."], id="index"),
        pytest.param("It loops. [E3] It ends [E4].", ["It loops. [E3]", "It ends [E4]."], id="cited-after-the-stop"),
        pytest.param("The guard [E3] `scan` skips is off.", ["The guard [E3] `scan` skips is off."], id="cited-within"),
        pytest.param("It calls `a. B(c)` there.", ["It calls `a. B(c)` there."], id="a-stop-in-code"),
        pytest.param("Values, e.g. None, stay. It ends!", ["Values, e.g. None, stay.", "It ends!"], id="abbreviation"),
        pytest.param("", [], id="nothing"),
    ],
)
def test_sentences_end_outside_code_and_before_no_citation(text: str, sentences: list[str]) -> None:
    assert split(text) == sentences
