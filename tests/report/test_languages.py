"""The languages of comments: catalogues, sentences in other languages, and the language of an issue."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bot.report.comment.folds import sentence_without_path
from bot.report.comment.markdown import VISIBLE_WORDS
from bot.report.comment.sticky import (
    answer_reply,
    question_reply,
    reminder,
    report_comment,
    waiting_comment,
)
from bot.report.comment.thread import with_time, without_time
from bot.report.languages.catalogue import Translator, known_language
from bot.report.languages.codes import LANGUAGES
from bot.report.languages.detect import language_of
from bot.report.sanitise import prose
from bot.report.words import LEAKED, SECURITY, all_words
from docs.catalogues import catalogue_file, faults, missing, sentences
from nodes.messages import Message, messages_of
from nodes.report import TriageReport
from nodes.search.sentences import Sentence, say
from tests.report.catalogues import EXACT, catalogue, exact
from tests.report.reports import FEATURE, FIRST_PLACE, FOUND, NOTHING
from tests.report.reports import SECURITY as SECURITY_REPORT
from tests.report.test_sticky import ANSWERED, BASE, DUPLICATE, OPEN, STATE, THREAD
from tests.report.visible import FOLDED, QUESTION_WORDS, visible_words

GOLDEN = Path(__file__).parent / "golden" / "languages"
OTHERS = LANGUAGES[1:]
SENTENCES = sentences()
MAX_MISSING = 0.05
"""The largest share of sentences without a translation between two releases; a release lacks none."""
PATH, LINE = "parser/lexer.py", 12
FACTS = (
    replace(
        FOUND.facts[0],
        says=say(
            "{error} passes through `{place}`{end}.",
            error="`ParseError`",
            place="Lexer.scan",
            end=say("; this line is its innermost frame in the project's own code{moved}", moved=""),
        ),
    ),
    replace(FOUND.facts[1], says=say("It runs only under this condition: `{code}`.", code="while self.open:")),
    *FOUND.facts[2:],
)
REPORT = FOUND.model_copy(
    update={
        "facts": FACTS,
        "verdict": FACTS[0].says,
        "how_to_confirm": "Repeat what the report describes with a breakpoint at `parser/lexer.py:12`; "
        "if it is never reached, the cause is elsewhere.",
        "severity_reason": "The report mentions a hang: “It hangs on {0} open quote”.",
        "tried": (
            "Read the issue: 1 stack trace, no error message.",
            "Read the issue: no stack trace, 6 messages or quotations.",
            "Searched the code: 4 places strong enough to consider.",
            "Compared with 12 earlier issues: 1 of them duplicates or similar.",
        ),
        "related": (
            DUPLICATE.model_copy(
                update={"state": "open", "why": say("the same crash, {crash}", crash="ParseError in scan")}
            ),
            DUPLICATE.model_copy(
                update={"reference": "#99", "relation": "related", "title": "{code} is called here, in {place}.",
                        "why": "title and text share words that are rare in issues"}
            ),
        ),
        "notes": ("Earlier issues could not be read: no answer",),
    }
)  # fmt: skip
LONG = replace(
    THREAD,
    run=2,
    questions=(ANSWERED,),
    update_reason="Updated after an answer.",
    limited=("model calls for this repository today",),
)
REPORT = REPORT.model_copy(
    update={"messages": messages_of(*(fact.says for fact in REPORT.facts), *(one.why for one in REPORT.related))}
)


def width(text: str) -> int:
    """Return the number of columns that a text takes in a fixed-width font."""
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def english_lines(markdown: str) -> Iterator[str]:
    """Yield the lines outside code blocks that have words besides code, links, addresses and quotes."""
    plain = re.sub(r"(`{3,})\n.*?\n\1", "", markdown, flags=re.DOTALL)
    for line in plain.split("\n"):
        if re.search(r"[A-Za-z]{3}", re.sub(rf"{EXACT.pattern}|\[[^\]]*\]|</?\w+>|<!--.*?-->|#\w+", "", line)):
            yield line


@pytest.mark.parametrize("language", OTHERS)
def test_a_catalogue_has_nearly_each_sentence_with_the_same_placeholders(language: str) -> None:
    marks = re.compile(r"[*`\[\]<>#@\\|]|https?:|\]\(|\{\w*\}")
    text = catalogue_file(language).read_text("utf-8")
    assert list(faults(language, text)) == []
    assert len(missing(text)) <= MAX_MISSING * len(SENTENCES)
    for english, text in catalogue(language).items():
        assert sorted(marks.findall(text)) == sorted(marks.findall(english)), english
        assert (text == text.strip()) or english != english.strip()


@pytest.mark.parametrize("language", OTHERS)
def test_no_sentence_is_much_longer_than_the_english_one(language: str) -> None:
    shown = {english: (width(text), width(english)) for english, text in catalogue(language).items()}
    assert {key: both for key, both in shown.items() if both[0] > max(1.6 * both[1], both[1] + 14)} == {}
    assert sum(own for own, _ in shown.values()) < 1.25 * sum(english for _, english in shown.values())


@pytest.mark.parametrize("language", OTHERS)
def test_every_sentence_is_written_with_its_values(language: str) -> None:
    for text in SENTENCES:
        names = re.findall(r"{(\w+)}", text)
        english = say(text, **{name: f"“b {{c}} {name}”" for name in names})
        written = Translator(language)(english)
        assert (written != english) is (catalogue(language).get(text, text) != text), text
        assert exact(written) == exact(english), text


@pytest.mark.parametrize("language", OTHERS)
def test_golden_in_each_language_and_the_facts_that_a_reader_gets_back(language: str) -> None:
    told = report_comment(REPORT, replace(LONG, language=language))
    golden = GOLDEN / f"{language}.md"
    if os.environ.get("UPDATE_GOLDEN"):
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(told)
    assert told == golden.read_text()
    assert visible_words(told, replace(THREAD, language=language).words) <= VISIBLE_WORDS
    english = report_comment(REPORT, LONG)
    assert set(english_lines(outside_folds(told))) & set(english_lines(english)) == set()
    assert FOLDED.findall(told) == FOLDED.findall(english)
    if visible_words(english) + 20 < VISIBLE_WORDS:
        assert exact(told) == exact(english)


@pytest.mark.parametrize("language", OTHERS)
def test_every_other_post_is_in_the_language(language: str) -> None:
    thread = replace(THREAD, language=language, questions=(OPEN,))
    url = f"{BASE}/issues/12#issuecomment-5"
    verdict = say("The search ranks `{path}` first; no checked fact supports this.", path="parser/lexer.py")
    first = FIRST_PLACE.model_copy(update={"verdict": verdict})
    posted = {
        "question": question_reply(thread, OPEN.question_id, url),
        "waiting": waiting_comment(STATE, thread),
        "reminder": reminder(thread, OPEN, url),
        "reply": answer_reply(None, REPORT, thread, OPEN.question_id, url),
        "no place": answer_reply(REPORT, NOTHING, thread, OPEN.question_id, url),
        "security": report_comment(SECURITY_REPORT, thread),
        "feature": report_comment(FEATURE, thread),
        "no finding": report_comment(NOTHING, replace(thread, questions=())),
        "first place": report_comment(first, replace(thread, questions=(), follows=True)),
        "leaked": Translator(language)(LEAKED),
    }
    visible = {name: outside_folds(text) for name, text in posted.items()}
    english = english_words(language)
    assert [(name, words) for name, text in visible.items() for words in english if words in text] == []
    for name in ("question", "waiting", "reminder"):
        assert visible_words(posted[name], thread.words) <= QUESTION_WORDS


def outside_folds(comment: str) -> str:
    """Return a comment without its folded sections, which are in English."""
    return FOLDED.sub("", comment)


def english_words(language: str) -> list[str]:
    """Return the parts of the translated sentences between their placeholders that are several words."""
    parts = (part.strip(" ,;:.*") for text in catalogue(language) for part in re.split(r"{\w+}|`[^`]*`|\n", text))
    return [part for part in parts if part.count(" ") >= 2]


def test_the_reporters_part_is_in_another_language_than_the_maintainers() -> None:
    first = report_comment(FIRST_PLACE, replace(THREAD, reporter_language="es"))
    assert "**The search ranks `parser/lexer.py` first;" in first
    assert "Para quien informó: añada la versión con la que ocurre." in first
    assert "<summary>For maintainers: evidence" in first
    assert "decide un mantenedor" in first
    asked = waiting_comment(STATE, replace(THREAD, questions=(OPEN,), language="de", reporter_language="en"))
    assert "One question before a place can be named." in asked
    assert report_comment(SECURITY_REPORT, replace(THREAD, reporter_language="ja")).count(SECURITY) == 0


def test_a_sentence_stays_whole_in_english_if_a_part_of_it_has_no_translation() -> None:
    known = say("The report names this line{of}{moved}.", of=say(" of `{place}`", place="f"), moved="")
    unknown = say("The report names this line{of}{moved}.", of=say(" near `{place}`", place="f"), moved="")
    assert Translator("de")(known) == "Die Meldung nennt diese Zeile von `f`."
    assert Translator("de")(unknown) == unknown
    assert Translator("de")("A model wrote this.") == "A model wrote this."


def test_a_comment_has_a_sentence_without_a_translation_in_english_as_a_whole() -> None:
    new = say("No catalogue has this sentence of `{path}`.", path=FOUND.facts[0].path or "")
    thread = replace(THREAD, language="de")
    fact = replace(FOUND.facts[0], says=new)
    assert sentence_without_path(fact, Translator("de")) == "No catalogue has this sentence of this file."
    asked = FOUND.model_copy(update={"missing": ("No catalogue has this need",), "kind": "bug"})
    assert "For the reporter: please add no catalogue has this need." in report_comment(asked, thread)
    by_model = asked.model_copy(update={"written_by": "gpt-4o", "missing": ("Die Konfiguration",)})
    assert "Bitte ergänzen: die Konfiguration" in report_comment(by_model, thread)
    same = FOUND.model_copy(update={"related": (DUPLICATE.model_copy(update={"state": "open", "why": str(new)}),)})
    told = report_comment(same, thread)
    assert "(open)**: No catalogue has this sentence of `" in told
    assert "a maintainer decides" in told


def test_a_stored_report_is_written_in_a_language_and_one_without_messages_in_english() -> None:
    stored = TriageReport.model_validate_json(REPORT.model_dump_json())
    assert stored.messages == REPORT.messages
    assert not isinstance(stored.facts[0].says, Sentence)
    thread = replace(THREAD, language="de")
    assert report_comment(stored, thread) == report_comment(REPORT, thread)
    older = stored.model_copy(update={"messages": {}})
    assert "passes through" in report_comment(older, thread)
    assert "messages" not in older.model_dump()


def test_a_value_is_translated_only_if_it_is_a_sentence() -> None:
    text, foreign = "Not confirmed: {verdict}", "this file"
    assert Translator("de")(say(text, verdict=foreign)) == "Nicht bestätigt: this file"
    assert Translator("de")(say(text, verdict=say("this file"))) == "Nicht bestätigt: diese Datei"
    message = Message(text=text, values={"verdict": "{verdict} {0.__class__}"})
    stored = {"Not confirmed: {verdict} {0.__class__}": message}
    assert Translator("de", stored)(next(iter(stored))) == "Nicht bestätigt: {verdict} {0.__class__}"
    assert Translator("de")("Not confirmed: {verdict}") == "Not confirmed: {verdict}"


@pytest.mark.parametrize("language", ["en", "pt-BR", "zh-TW", "xx"])
def test_a_language_without_a_catalogue_changes_nothing(language: str) -> None:
    thread = replace(LONG, language=language)
    assert report_comment(REPORT, thread) == report_comment(REPORT, LONG)
    assert known_language(language) == "en"
    assert known_language("zh-CN") == "zh"


@pytest.mark.parametrize("language", OTHERS)
@pytest.mark.tried("placeholders and catalogue sentences in foreign text")
def test_foreign_text_is_repeated_and_never_formatted(language: str) -> None:
    foreign = "{code} {0.__class__} {part} %s is called here, in this file; it was closed. {place}"
    sentence = "The report links to this line."
    question = replace(ANSWERED, text=f"Is it {foreign}?", answer=sentence)
    told = report_comment(
        NOTHING.model_copy(
            update={"suspect_changes": (REPORT.suspect_changes[0].model_copy(update={"title": foreign}),)}
        ),
        replace(THREAD, language=language, questions=(question,)),
    )
    assert f"“{prose(foreign)}”" in told
    assert prose(f"Is it {foreign}?") in told
    assert f": {sentence}" in told


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_time_in_the_last_line_is_found_in_each_language(language: str) -> None:
    body = report_comment(REPORT, replace(THREAD, language=language))
    sent = with_time(body, "2026-01-01 10:02")
    assert "2026-01-01 10:02 UTC</sub>" in sent
    assert without_time(sent) == body


def test_three_characters_of_an_unspaced_script_count_as_one_word() -> None:
    assert all_words("修复在 `a.py` 中。") == 3
    assert all_words("one two") == 2


@pytest.mark.parametrize(
    ("title", "body", "language"),
    [
        ("Absturz beim Öffnen", "Wenn ich die Datei öffne, stürzt das Programm ab und es ist nicht zu retten.", "de"),
        (
            "更新后无法使用",
            "升级到最新版本之后，程序启动时会报错，请帮忙看一下。\n```\nError: it is not there\n```",
            "zh",
        ),
        ("No me funciona", "Hola, lo instalé ayer y no me funciona. Se cierra al abrir el archivo.", "es"),
        ("起動しません", "最新版に更新したら、ファイルを開くときにエラーになります。", "ja"),
        ("It does not start", "After the update it does not start when I open the file.", "en"),
        ("Não funciona", "Depois da atualização o programa não abre mais os arquivos, e não há erro em um log.", None),
        ("Ne marche pas", "Le programme ne marche pas avec les fichiers que je lui donne dans une boucle.", None),
        ("更新後無法使用", "升級到最新版本之後，程式啟動時會報錯，請幫忙看一下這個問題。", None),
        ("Crash", "```\nder die das und ist nicht ich ein eine mit\n```\n> der die das und ist nicht ich\n", None),
        ("Fehler", "kaputt", None),
        ("Error with the 文件 dialog", "When I open it, the dialog shows 文件不存在 and is not usable for me.", "en"),
        ("", "", None),
    ],
    ids=["de", "zh", "es", "ja", "en", "pt", "fr", "traditional", "code-and-quotes", "short", "mixed", "empty"],
)
def test_the_language_of_an_issue(title: str, body: str, language: str | None) -> None:
    assert language_of(title, body) == language
