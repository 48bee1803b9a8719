"""A model's free prose names nothing that the commit does not contain."""

from __future__ import annotations

import pytest

from nodes.judgements import Draft
from nodes.trust.prose import ProseCheck, split
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
        "Look at src/lexer.py, line 9999.",
        "Look at lines 9999-10000 of src/lexer.py.",
        "Break at /src/lexer.py:9999.",
        "Read [nope.py](https://docs.example/a).",
        "Read https://github.com/o/r/blob/main/src/nope.py#L9999.",
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
        "See src/lexer.py, line 2, and line 3 of src/lexer.py.",
        "The reporter's /etc/vendor/lib.conf is not in the repository.",
    ],
)
async def test_names_that_exist_or_that_the_reporter_wrote_stay(sentence: str) -> None:
    check = ProseCheck(FakeCode(), (ISSUE,))
    assert await check.text(sentence) == sentence
    assert not check.dropped


@pytest.mark.parametrize(
    ("question", "posted"),
    [
        pytest.param("Is [the lexer](src/nope.py#L9) used? Which version?", "Which version?", id="target"),
        pytest.param("Do you see what https://docs.example/a describes?", "", id="address-that-nobody-gave"),
        pytest.param("Is http://localhost:80/x the one?", "Is http://localhost:80/x the one?", id="address-given"),
        pytest.param("http://localhost:80/x", "", id="nothing-but-an-address"),
        pytest.param("[http://localhost:80/x](http://localhost:80/x)?", "", id="nothing-but-a-link"),
    ],
)
async def test_a_question_gives_no_address_of_its_own_and_is_no_bare_link(question: str, posted: str) -> None:
    assert await ProseCheck(FakeCode(), (ISSUE, "http://localhost:80/x")).text(question, is_posted=True) == posted


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
        pytest.param("It calls it [E3]. scan loops.", ["It calls it [E3].", "scan loops."], id="begins-with-a-name"),
        pytest.param("", [], id="nothing"),
    ],
)
def test_sentences_end_outside_code_and_before_no_citation(text: str, sentences: list[str]) -> None:
    assert split(text) == sentences
