"""Security reports are recognised in any words, at the cost of a few ordinary issues withheld."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from nodes.brains.rules.investigate import acting_kind
from nodes.issue.facts import read_facts
from nodes.issue.kinds.classify import classify
from tests.kinds.disclosures import DISCLOSURES, ORDINARY_NEAR
from tests.kinds.pairs import paraphrases
from tests.kinds.weaknesses import ORDINARY, SECURITY

MAX_WITHHELD = 2
"""Maximum number of ordinary issues in the list that may be classified as security reports."""


@pytest.mark.tried("security reports in plain words, which get no public pointer")
@pytest.mark.parametrize(("title", "body"), SECURITY, ids=[title for title, _ in SECURITY])
def test_a_security_report_is_recognised(title: str, body: str) -> None:
    assert acting_kind(title, body, read_facts(title, body)).kind == "security"


@pytest.mark.tried("security reports in plain words, which get no public pointer")
@pytest.mark.parametrize("body", ["", "Please fix.", "Version 2.1", "See the title."])
def test_a_thin_security_report_is_recognised_by_its_title(body: str) -> None:
    for title, _ in SECURITY[:20]:
        if title != "search endpoint breaks with a quote" and not title.startswith("Archive extraction"):
            assert acting_kind(title, body, read_facts(title, body)).kind == "security", title


def test_few_ordinary_issues_are_withheld() -> None:
    withheld = [
        title for title, body in ORDINARY if acting_kind(title, body, read_facts(title, body)).kind == "security"
    ]
    assert len(withheld) <= MAX_WITHHELD, withheld


def test_settings_that_are_not_displayed_are_an_ordinary_bug() -> None:
    title = "[BUG] on macOS 26 no settings displayed and no persistent configuration"
    body = "Not on macOS 15 tested on another machine. Also, the settings window is displayed behind others."
    assert acting_kind(title, body, read_facts(title, body)).kind == "bug"


def test_a_secret_that_is_missing_in_the_log_is_an_ordinary_bug() -> None:
    title, body = "Session id is missing in the log", "The field is empty since 2.4."
    assert acting_kind(title, body, read_facts(title, body)).kind == "bug"


def test_a_race_of_two_refreshes_is_an_ordinary_bug() -> None:
    title = "bug(auth): refresh() has no single-flight guard — concurrent refreshes race the refresh token"
    body = "It performs the exchange with no promise dedupe, so parallel calls use the same token and the losers fail."
    assert acting_kind(title, body, read_facts(title, body)).kind == "bug"


@pytest.mark.parametrize("wide", [20, 40])
def test_distant_words_of_a_pasted_list_describe_no_attack(wide: int) -> None:
    packages = [f"package{number}==1.{number}" for number in range(wide * 4)]
    for at, name in enumerate(("proxy-tools==0.1", "requests==2.24", "importlib-metadata==1.6", "import-deps==0.1")):
        packages[at * wide] = name
    body = "The arrow keys do not work. My packages:\n\n" + "\n".join(packages)
    assert acting_kind("Arrow keys do not work", body, read_facts("Arrow keys do not work", body)).kind == "bug"


def test_the_lists_are_long_enough() -> None:
    assert len(SECURITY) >= 60
    assert len(ORDINARY) >= 35


def test_what_a_program_prints_about_itself_is_no_disclosure() -> None:
    title = 'PHP Warning: Undefined array key "editButtons"'
    body = "error_log: PHP Warning: Undefined array key in plugins/viewer/web/viewer.php on line 186\n\n1. Install it."
    assert acting_kind(title, body, read_facts(title, body)).kind == "bug"


_FRAMES = {
    "a sanitizer": "ERROR: AddressSanitizer: heap-use-after-free on 0x602000\n    #0 0x55d1c2 in fold /a/fold.c:12:3",
    "its summary": "    #0 0x55d1c2 in fold /a/fold.c:12:3\nSUMMARY: AddressSanitizer: heap-buffer-overflow fold.c:12",
    "threads": "WARNING: ThreadSanitizer: heap-use-after-free (pid=7)\n    #0 fold fold.c:12 (app+0xc46fc)",
    "Valgrind": "==204== Invalid read of size 8\n==204==    at 0x4E87903: fold (fold.c:12)",
    "undefined behaviour": "fold.c:12:3: runtime error: index -1 out of bounds for type 'int [6]'",
}


@pytest.mark.parametrize("frames", _FRAMES.values(), ids=_FRAMES)
def test_a_crash_whose_frames_are_printed_is_an_ordinary_bug(frames: str) -> None:
    title, body = (
        "Heap buffer overflow in fold()",
        f"Found by fuzzing with AFL++, the PoC is attached.\n\n```\n{frames}\n```",
    )
    assert acting_kind(title, body, read_facts(title, body)).kind == "bug"
    for harm in ("It is exploitable over the network.", "An attacker sends such a file.", "This is CVE-2025-1234."):
        assert acting_kind(title, f"{harm}\n{body}", read_facts(title, f"{harm}\n{body}")).kind == "security"


_TRACES = {
    "python": 'Traceback (most recent call last):\n  File "/srv/club/mail.py", line 8, in send\nKeyError: "note"',
    "lua": "lua: entry.lua:8: attempt to index a nil value\nstack traceback:\n\tentry.lua:8: in function 'title'",
    "rust": "thread 'main' panicked at src/smtp.rs:118:31:\naddress has a domain",
    "java": "java.lang.NullPointerException\n\tat org.acme.Mail.send(Mail.java:8)",
    "node": "TypeError: note is undefined\n    at send (/srv/club/mail.js:8:3)",
}


@pytest.mark.parametrize("trace", _TRACES.values(), ids=_TRACES)
def test_a_crash_with_its_trace_is_an_ordinary_bug(trace: str) -> None:
    for title in ("server dies when somebody logs in", "No digest since an anonymous post came in", "The server stops"):
        body = f"Invite a member without a note:\n\n```\n{trace}\n```"
        assert acting_kind(title, body, read_facts(title, body)).kind == "bug"
    title, told = "Guests can read the private notes of other members", f"Without any login.\n\n```\n{trace}\n```"
    assert acting_kind(title, told, read_facts(title, told)).kind == "security"


def test_a_crash_without_frames_is_withheld() -> None:
    title, body = "heap-use-after-free in fold", "AddressSanitizer: heap-use-after-free. The PoC is attached."
    assert acting_kind(title, body, read_facts(title, body)).kind == "security"


def test_an_exception_without_a_right_is_an_ordinary_bug() -> None:
    body = "TimeoutError: no answer from http://example.org in `fetch_feed`."
    assert classify("fetch_feed gives up at once", body).kind == "bug"


def test_a_letter_that_is_a_word_discloses_nothing() -> None:
    body = "Не знаю, почему, но настройка «При закрытии сворачивать в трей» не сохраняется в новой версии."
    assert classify("Настройка не сохраняется", body).kind != "security"


def test_a_request_to_allow_more_is_no_disclosure() -> None:
    body = "Currently `if let` is not allowed in `join!`. It can be handy to match the internal values of a future."
    assert (
        acting_kind("Allow `if let` in join! macro", body, read_facts("Allow `if let` in join! macro", body)).kind
        != "security"
    )


CLEARED = [
    pytest.param("This is not a security issue, only a wrong number.", id="english"),
    pytest.param("This isn't a security problem. The number is wrong.", id="english-short"),
    pytest.param("Das ist kein Sicherheitsproblem, nur die Zahl ist falsch.", id="german"),
    pytest.param("No es un problema de seguridad, solo el número es incorrecto.", id="spanish"),
    pytest.param("这不是安全问题，只是数字错误。", id="chinese"),
    pytest.param("これはセキュリティ上の問題ではありません。数値が違うだけです。", id="japanese"),
]


@pytest.mark.parametrize("body", CLEARED)
def test_a_sentence_that_denies_a_weakness_does_not_name_one(body: str) -> None:
    assert (
        acting_kind("Wrong total on the invoice page", body, read_facts("Wrong total on the invoice page", body)).kind
        != "security"
    )


@pytest.mark.parametrize("body", CLEARED)
def test_a_denial_does_not_clear_another_weakness(body: str) -> None:
    whole = f"{body} An attacker can use the SQL injection in the search endpoint."
    assert acting_kind("Wrong total", whole, read_facts("Wrong total", whole)).kind == "security"


@pytest.mark.tried("security reports in plain words, which get no public pointer")
@pytest.mark.parametrize(
    ("issues", "least"),
    [
        pytest.param(DISCLOSURES[::2], 40, id="seen"),
        pytest.param(DISCLOSURES[1::2], 34, id="measured"),
        pytest.param(paraphrases("disclosures")[::2], 70, id="paraphrases-seen"),
        pytest.param(paraphrases("disclosures")[1::2], 61, id="paraphrases-measured"),
        pytest.param(paraphrases("apart"), 20, id="written-afterwards"),
    ],
)
def test_plain_words_of_a_disclosure_withhold_the_place(issues: Sequence[tuple[str, str]], least: int) -> None:
    """The even disclosures train the model; the odd ones measure, and their bound is what was measured."""
    assert sum(classify(*issue).kind == "security" for issue in issues) >= least


def test_ordinary_reports_about_rights_keep_their_place() -> None:
    assert [issue[0] for issue in ORDINARY_NEAR if classify(*issue).kind == "security"] == []
    near = [*ORDINARY_NEAR, *paraphrases("ordinary")]
    assert sum(classify(*issue).kind == "security" for issue in near) <= 0.05 * len(near)


SETTING = (
    "I am running version 2.3.1 of the container image on Ubuntu 24.04 with Postgres 16 behind an nginx proxy, "
    "installed exactly as the guide describes, with the default configuration and nothing else changed. "
)


@pytest.mark.tried("security reports in plain words, which get no public pointer")
def test_a_disclosure_below_a_long_description_of_the_setting_is_recognised() -> None:
    issues = (*DISCLOSURES[1::2], *paraphrases("disclosures")[1::2], *paraphrases("apart"))
    assert sum(classify(title, SETTING + body).kind == "security" for title, body in issues) >= 75


DENSE = [
    pytest.param(
        "Sidebar: active entry and panel dividers are hard to see in the dark theme",
        "The detail view, the editor and the split pane share a pattern that draws the active row with the colour of "
        "the hover state, and the dividers with an alpha of 0.05. The admin list inherits it. Replace both with "
        "tokens of the theme, and let the account menu use the same ones.",
        id="colours",
    ),
    pytest.param(
        "Dispatcher has no TOCTOU guard when a worker dies between check and action",
        "The sweep reads the state of the session, then asks whether the agent is alive, then acts on the first "
        "answer. In the window a restarted agent is counted as dead and its task is handed out again.",
        id="race",
    ),
    pytest.param(
        "Unable to see other users when sharing an album",
        "Since the update the dialog stays empty, so nothing can be shared. Two accounts exist.",
        id="lacks-access",
    ),
    pytest.param(
        "Making an external library visible to other users: is it not working?",
        "My wife's account does not list the folder although it is shared.",
        id="wants-others-to-see",
    ),
]


@pytest.mark.parametrize(("title", "body"), DENSE)
def test_a_dense_report_of_an_ordinary_defect_keeps_its_place(title: str, body: str) -> None:
    assert classify(title, body).kind != "security"


@pytest.mark.parametrize(
    "title",
    [
        "Users who cannot log in can see other users' files",
        "Guests should not be able to see other users",
        "TOCTOU lets a local user replace the file before it is opened",
        "Every upload is visible to other users",
    ],
)
def test_access_that_somebody_has_and_should_not_is_no_lack_of_access(title: str) -> None:
    assert classify(title, "").kind == "security"


@pytest.mark.parametrize("title", ["panic: reached unreachable code", "Segfault: reached another page", "Crash report"])
def test_a_crash_that_says_little_is_an_ordinary_bug(title: str) -> None:
    assert acting_kind(title, "", read_facts(title, "")).kind != "security"
