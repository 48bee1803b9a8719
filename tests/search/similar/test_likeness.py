"""Two issues: the same failure, a related one, or neither."""

from __future__ import annotations

import pytest

from nodes.search.issue.fingerprint import fingerprints
from nodes.search.issue.similar import PastIndex, Report, compare, words_of
from nodes.search.issue.stacktraces.families import find_traces
from nodes.search.paths.project import PathIndex
from tests.support.growth import assert_linear

NAMES = PathIndex(("feedbox/dates.py", "feedbox/parser.py", "feedbox/cli.py", "feedbox/db.py"))
OTHERS = (
    ("Dark mode for the web view", "It would be kind to the eyes to have dark colours at night."),
    ("Articles cannot be starred", "The star button does nothing when I click it in the list of articles."),
    ("OPML import loses folders", "Importing subscriptions from another reader puts every feed into one folder."),
    ("Proxy settings are ignored", "Behind our company's proxy no feed is fetched; HTTPS_PROXY is set."),
    ("High memory use with many feeds", "With four thousand feeds the process takes two gigabytes of memory."),
    ("Sorting by date is reversed", "The newest article comes last although I chose newest first."),
    ("Add a Docker image", "An official image would make updates easier for people with a NAS."),
    ("Images are not shown", "Pictures in articles are blank since they moved to another host."),
)


def crash(
    line: int = 10, root: str = "/usr/lib/python3", message: str = "no zone in 'Mon'", last: str = "dates"
) -> str:
    return (
        "Traceback (most recent call last):\n"
        f'  File "{root}/site-packages/feedbox/cli.py", line {line + 4}, in main\n    run()\n'
        f'  File "{root}/site-packages/feedbox/parser.py", line {line + 2}, in parse\n    parse_date(text)\n'
        f'  File "{root}/site-packages/feedbox/{last}.py", line {line}, in parse_date\n    raise ValueError\n'
        f"ValueError: {message}\n"
    )


DATES = ("parse_date fails without a zone", f"Since the update:\n\n```\n{crash()}```\n\nfeedbox 1.2 on Debian.")
STAR = OTHERS[1]


def report(title: str, body: str) -> Report:
    return Report.of(title, body, fingerprints(find_traces(body), NAMES))


def judged(one: tuple[str, str], other: tuple[str, str]) -> str | None:
    past = PastIndex(list(enumerate(words_of(*issue) for issue in (*OTHERS, other))))
    return compare(report(*one), report(*other), past).relation


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        pytest.param(
            ("Sometimes it closes", "1. Go back\n\norg.feedbox.StateError: feed list:7 was opened 3 times at once"),
            ("After a rotation", "It stops.\n```\nStateError: feed list:12 was opened 2 times at once\n```"),
            "related",
            id="the-same-message-without-frames",
        ),
        pytest.param(
            ("Sometimes it closes", "org.feedbox.StateError: feed list:7 was opened 3 times at once"),
            ("After a rotation", "OtherError: feed list:12 was opened 2 times at once"),
            None,
            id="the-same-message-of-another-error",
        ),
        pytest.param(
            ("Sometimes it closes", "ValueError: no zone in 'Mon'"),
            ("After a rotation", "ValueError: no zone in 'Tue'"),
            None,
            id="a-message-of-few-words",
        ),
        pytest.param(
            ("It crashes", f"Hi! My log:\n```\n{crash(88, 'C:/Python312/Lib')}```"),
            DATES,
            "duplicate",
            id="crash-moved",
        ),
        pytest.param(
            ("It crashes", crash(message="no zone in 'Tue, 3 Jun'")), DATES, "duplicate", id="crash-with-other-values"
        ),
        pytest.param(
            ("Import ends", crash(message="text is empty")), DATES, "related", id="same-way-but-another-message"
        ),
        pytest.param(("Import ends", crash(last="db")), DATES, None, id="another-crash"),
        pytest.param(STAR, STAR, "duplicate", id="posted-twice"),
        pytest.param(
            ("[Bug] Articles cannot be starred", f"{STAR[1]}\n\nI use Firefox."), STAR, "duplicate", id="posted-again"
        ),
        pytest.param(
            ("Support for Python 3.13", "Please test with it and say in the metadata that it works there too."),
            ("Support for Python 3.12", "Please test with it and say in the metadata that it works there too."),
            "related",
            id="told-apart-by-a-number",
        ),
        pytest.param(
            ('Element "20" not found', "Opening the panel of components throws while the tree is being built anew."),
            ('Element "51" not found', "Opening the panel of components throws while the tree is being built anew."),
            "duplicate",
            id="a-quoted-number-is-a-value",
        ),
        pytest.param(("It fails", "It fails."), ("It fails", "It fails."), "related", id="too-few-words"),
        pytest.param(("Starred articles are lost", "After a restart."), STAR, None, id="a-shared-word"),
        pytest.param(OTHERS[0], STAR, None, id="nothing-in-common"),
        pytest.param(("", ""), STAR, None, id="empty"),
    ],
)
def test_two_issues(one: tuple[str, str], other: tuple[str, str], expected: str | None) -> None:
    assert judged(one, other) == expected


def test_two_common_final_frames_do_not_identify_a_crash() -> None:
    def query(message: str) -> str:
        lines = "".join(f'  File "/lib/feedbox/{name}.py", line 4, in run\n    x()\n' for name in ("db", "parser"))
        return f"Traceback (most recent call last):\n{lines}DatabaseError: {message}\n"

    locked, syntax = ("Sync fails", query("database is locked")), ("Bad search", query("near: syntax error"))
    assert judged(syntax, locked) is None
    assert judged(("Sync again", query("database is locked")), locked) == "duplicate"


def test_text_of_a_template_does_not_make_issues_similar() -> None:
    form = (
        "### Checklist\n- [x] I searched for duplicates of this issue\n- [x] I use the newest release of the reader\n"
        "<!-- Please describe what happens in as much detail as you can -->\n### What happens\n{}\n"
        "### Logs\n_No response_\n"
    )
    one = ("Scrolling jumps", form.format("The list jumps to its top."))
    other = ("Wrong favicon", form.format("Sites get each other's icon."))
    assert judged(one, other) is None


def test_nearest_names_the_oldest_first_of_the_equally_near() -> None:
    words = words_of(*STAR)
    past = PastIndex([(7, words), (3, words), *((20 + n, words_of(*issue)) for n, issue in enumerate(OTHERS[2:]))])
    assert past.nearest(words, 2) == [3, 7]
    assert PastIndex([]).nearest(words, 5) == []


HOSTILE = {
    "one-long-line": "a",
    "no-words": "\x00\ufffd\u202e",
    "open-comment": "<!--",
    "frames-without-end": '  File "x.py", line 1, in f\n',
    "halves-of-characters": "\ud800 crash \udfff",
    "numbers": "1.2.3.",
    "quotes": "'\"`",
}


@pytest.mark.tried("texts made to be slow to read")
@pytest.mark.parametrize("piece", HOSTILE.values(), ids=HOSTILE)
def test_hostile_text_is_read_in_linear_time(piece: str) -> None:
    def read(body: str) -> None:
        assert judged((body[:1_000], body), DATES) is None
        assert judged((body[:1_000], body), (body[:1_000], body)) in ("duplicate", "related", None)

    assert_linear(read, lambda size: piece * (size // len(piece)), 120_000)
