"""All variants of the comment, with golden files; UPDATE_GOLDEN=1 rewrites them."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.report.comment.folds import WORDS, sentence_without_path
from bot.report.comment.markdown import MAX_COMMENT, VISIBLE_WORDS, MarkdownRenderer
from bot.settings.repository import RepositoryConfig
from bot.worker.publish.wanted import is_worth_a_comment
from nodes.agents.writing.acceptance import READ_THE_LIST
from nodes.report import CitationAudit, Suspect, SuspectChange, TriageReport
from nodes.search.facts import Fact
from nodes.state import BugTriageState, Finished

GOLDEN = Path(__file__).parent / "golden"
SHA = "0123456789abcdef0123456789abcdef01234567"
SUSPECT = Suspect(
    path="src/order parser.py",
    start_line=5,
    end_line=9,
    symbol="Parser.parse",
    score=1.0,
    why="on the reporter's stack trace at line 7",
    evidence="E2",
    quote="def parse(text):\n    raise ParseError('no lines | none')",
    quote_start=5,
    quote_end=6,
    checked=True,
)
CHANGE = SuspectChange(
    sha="a1b2c3d4" * 5,
    title="Speed up *orders* for @octocat (#12)",
    why="touches L6 of `Parser.parse`; its message shares “order”",
    within="in the range given, 2.3.2 → 2.4.1",
    basis="versions",
    author="Bob",
    day="2024-02-01",
    touches_place=True,
    evidence="E5",
    checked=True,
)
RECENT = CHANGE.model_copy(update={"basis": "recent", "within": "", "why": "made 3 weeks before the commit read"})
BUILT = Fact(
    "built_here",
    "The message “no lines | none” is raised in one place.",
    words="no lines | none",
    path="src/order parser.py",
    line=6,
    text="    raise ParseError('no lines | none')",
    symbol="Parser.parse",
    count=1,
    strong=True,
)
AT = ("src/order parser.py", 6)
CALLED = Fact("called_from", "`main` calls it.", path="src/main.py", line=3, text="parse()", follows=AT)
DOCUMENTED = Fact(
    "documented_here",
    "`parse` is documented in `docs/orders.md`, under “Reading orders”.",
    words="parse",
    path="docs/orders.md",
    line=12,
    text="## Reading orders",
    count=1,
)
FOUND: dict[str, Any] = {
    "verdict": BUILT.says,
    "statement": "claim",
    "facts": (BUILT, CALLED),
    "headline": 0,
    "root_cause": "`ParseError` is probably raised in `Parser.parse` [E1, E2].",
    "suspects": (SUSPECT, SUSPECT.model_copy(update={"path": "src/main.py", "evidence": "E3", "checked": False})),
    "severity": "medium",
    "severity_reason": "The operation ends with `ParseError`.",
    "ruled_out": ("`test_parse`: a test, example or document, not code at fault [E4]",),
    "how_to_confirm": "Repeat what the report describes with a breakpoint at `src/order parser.py:6`.",
    "suspect_changes": (CHANGE,),
    "owner": "@acme/orders",
    "owner_reason": "CODEOWNERS assigns `/src/`; wrote 3 of the 5 lines of `Parser.parse`",
    "fingerprints": ("0123456789abcdef",),
    "labels": ("bug", "area: orders"),
    "tried": ("Read the issue: 1 stack traces, 1 errors.",),
    "confidence": 0.9,
    "commit": SHA,
    "citation_audit": CitationAudit(citations=3),
}
NOT_FOUND: dict[str, Any] = {
    "verdict": "No checked fact ties this report to a line of the code.",
    "not_found": "no_candidates",
    "tried": ("Searched the code: nothing strong enough to consider.",),
    "missing": ("The whole error message or stack trace",),
    "commit": SHA,
}
ZONES = Suspect(
    path="lib/zones.py",
    start_line=12,
    end_line=30,
    symbol="load_zone",
    score=1.0,
    quote="def load_zone(path):\n    table = open_table(path)\n    return table.strict_zone",
    quote_start=12,
    quote_end=14,
    checked=True,
    facts=(0,),
)
NAMED = Fact(
    "defined_once",
    "The only definition of `load_zone` is in `lib/zones.py`.",
    words="load_zone",
    path="lib/zones.py",
    line=12,
    text="def load_zone(path):",
    symbol="load_zone",
    count=1,
    users=2,
    strong=True,
    in_title=True,
)
USED = Fact(
    "used_here",
    "`load_zone` uses `strict_zone` on this line.",
    words="strict_zone",
    path="lib/zones.py",
    line=14,
    text="    return table.strict_zone",
    symbol="load_zone",
    follows=("lib/zones.py", 12),
)
CLASS = replace(
    NAMED,
    says="The only definition of `ZoneMap` at the top level is in `lib/zones.py`.",
    words="ZoneMap",
    text="class ZoneMap:",
    symbol="ZoneMap",
    count=2,
)
MEMBER = replace(USED, says="`read_all` is a member of `ZoneMap`; it is defined on this line.", words="read_all")
MODULE_LEVEL = Fact(
    "built_here",
    "The message “the zone table was not built yet” is built in `lib/zones.py`, and nowhere else in the project's own "
    "code.",
    words="the zone table was not built yet",
    path="lib/zones.py",
    line=13,
    text="    raise SystemExit('the zone table was not built yet')",
    count=1,
    strong=True,
)
CUT = Fact(
    "built_here",
    "`load_zone` builds the message that begins with “the option 'x' is not a known”, the only place that does.",
    words="the option 'x' is not a known",
    path="lib/zones.py",
    line=13,
    text="        raise ValueError('the option %s is not a known section' % name)",
    symbol="load_zone",
    count=1,
    strong=True,
)
GUARD = Fact(
    "guarded_by",
    "It runs only under this condition: `if not name`.",
    path="lib/zones.py",
    line=12,
    text="    if not name:",
    symbol="load_zone",
    follows=("lib/zones.py", 13),
)
OPTION = Fact(
    "default_here",
    "`--strict-zones` is declared on this line in `build_parser`; no other file of the project's code declares it.",
    words="--strict-zones",
    path="lib/zones.py",
    line=13,
    text="    parser.add_argument('--strict-zones')",
    symbol="build_parser",
    count=1,
    strong=True,
)
TITLED = Fact(
    "named_here",
    "The title may mean `src/plugin/customZones/index.js`, the source file named `customZones`.",
    words="customZones",
    path="src/plugin/customZones/index.js",
    count=1,
    strong=True,
    in_title=True,
)


def claimed(*facts: Fact, confidence: float = 0.88) -> dict[str, Any]:
    """Return a report that claims the file of the first fact."""
    path = facts[0].path or ""
    return {
        "verdict": facts[0].says,
        "statement": "claim",
        "facts": facts,
        "headline": 0,
        "root_cause": f"{facts[0].says} The fix is probably in `{path}`.",
        "suspects": (ZONES.model_copy(update={"path": path, "symbol": facts[0].symbol}),),
        "confidence": confidence,
        "commit": SHA,
    }


VARIANTS: dict[str, dict[str, Any]] = {
    "use_of_another_name": claimed(NAMED, USED),
    "member_of_a_class": claimed(CLASS, MEMBER, confidence=0.71),
    "message_outside_functions": claimed(MODULE_LEVEL),
    "truncated_message": claimed(CUT, GUARD),
    "declared_option": claimed(OPTION),
    "file_named_in_the_title": claimed(TITLED, confidence=0.67),
    "cause": FOUND,
    "not_found": NOT_FOUND,
    "recent_changes": {
        **FOUND,
        "suspect_changes": (),
        "recent_changes": (RECENT,),
        "no_suspect_change": "no sentence was found that says in which version or since when it broke",
    },
    "security": {**FOUND, "kind": "security"},
    "one_fact": {**FOUND, "statement": "facts", "root_cause": None, "verdict": BUILT.says, "facts": (BUILT,)},
    "nothing_to_say": {**NOT_FOUND, "missing": ()},
    "question_with_a_page": {
        "verdict": DOCUMENTED.says,
        "kind": "question",
        "statement": "facts",
        "facts": (DOCUMENTED,),
        "headline": 0,
        "suspects": (SUSPECT.model_copy(update={"evidence": "", "why": "", "facts": ()}),),
        "confidence": 0.5,
        "commit": SHA,
        "not_found": "not_a_bug_report",
    },
    "place_of_a_request": {
        **claimed(CLASS, MEMBER, confidence=0.82),
        "kind": "feature",
        "root_cause": f"{CLASS.says} The change probably belongs in `{CLASS.path}`.",
    },
    "feature": {"verdict": "This reads like a feature request.", "kind": "feature", "not_found": "not_a_bug_report"},
}


def comment(repository: str | None = None, **report: Any) -> str:
    return MarkdownRenderer(repository=repository).comment(TriageReport(**report))


def unfolded(markdown: str) -> str:
    return re.sub(r"<details>.*?</details>", "", markdown, flags=re.DOTALL)


@pytest.mark.parametrize("name", VARIANTS)
def test_golden(name: str) -> None:
    text = comment("acme/orders", **VARIANTS[name])
    golden = GOLDEN / f"{name}.md"
    if os.environ.get("UPDATE_GOLDEN"):
        golden.write_text(text)
    assert text == golden.read_text()


@pytest.mark.parametrize("name", VARIANTS)
def test_little_is_read_without_unfolding(name: str) -> None:
    assert len(unfolded(comment(**VARIANTS[name])).split()) <= VISIBLE_WORDS == 90


@pytest.mark.parametrize("name", VARIANTS)
def test_little_is_read_in_all(name: str) -> None:
    assert len(comment(**VARIANTS[name]).split()) <= WORDS == 170


def test_the_longest_report_stays_short_and_within_the_limit() -> None:
    long = "word " * 59
    suspects = tuple(SUSPECT.model_copy(update={"why": long, "quote": "`" * 999, "path": "p/" * 400}) for _ in range(5))
    report = {
        **FOUND,
        "suspects": suspects,
        "root_cause": "A word is said [E1]. " * 57,
        "severity_reason": long,
        "missing": (long,) * 4,
        "ruled_out": (long,) * 300,
    }
    text = comment(**report)
    assert len(text) <= MAX_COMMENT
    assert len(unfolded(text).split()) <= VISIBLE_WORDS
    assert text.count("<details>") == text.count("</details>")


def test_a_security_report_omits_the_analysis() -> None:
    text = comment("acme/orders", **VARIANTS["security"])
    assert not re.search(r"parse|order|E\d|0123", text, re.IGNORECASE)
    ticket = MarkdownRenderer().ticket(TriageReport(**VARIANTS["security"]))
    assert ticket.body == ""
    assert "parse" not in ticket.model_dump_json().lower()


def test_without_a_fact_only_the_request_is_shown() -> None:
    text = comment(**NOT_FOUND)
    assert unfolded(text).startswith("For the reporter: please add the whole error message or stack trace.")
    assert "No checked fact" not in text
    assert "No checked fact" in unfolded(comment(**{**NOT_FOUND, "missing": ()}))


def test_without_a_place_a_later_release_is_shown_and_is_worth_a_comment() -> None:
    says = "The report names 1.2.0; a later release exists, up to 1.3.0."
    later = Fact("older_release", says, words="1.2.0", sha=SHA)
    report = {**NOT_FOUND, "missing": (), "related": (), "suspect_changes": ()}
    runs = [Finished(BugTriageState(report=TriageReport(**report, facts=facts))) for facts in ((later,), ())]
    assert unfolded(comment(**report, facts=(later,))).startswith("- The report names 1.2.0; a later release exists")
    assert [is_worth_a_comment(run, RepositoryConfig(), asked=False) for run in runs] == [True, False]


def test_a_later_release_is_shown_below_a_line_that_may_have_moved() -> None:
    later = Fact(
        "older_release", "The report names 1.2.0; a later release exists, up to 1.3.0.", words="1.2.0", sha=SHA
    )
    frame = "`ValueError` passes through `parse`, its innermost frame in the project's own code"
    for end, is_shown in (("; the line may have moved.", True), ("; this line fails.", False)):
        lead = replace(BUILT, kind="raised_here", says=f"{frame}{end}")
        report = {**FOUND, "statement": "facts", "root_cause": None, "verdict": lead.says, "facts": (lead, later)}
        assert ("- The report names 1.2.0;" in unfolded(comment(**report))) is is_shown


def test_the_change_of_a_line_follows_what_the_report_names_and_replaces_that_of_its_file() -> None:
    at = (BUILT.path or "", BUILT.line or 0)
    lead = replace(BUILT, kind="raised_here", says="`parse` reads `a[b]`.")
    came = replace(BUILT, kind="introduced_in", says="This line came in with `a`.", words=None, change=SHA, follows=at)
    other = replace(lead, line=2, says="The report names this line of `parse`.", kind="named_here")
    of_file = Fact(
        "changed_in", "`b` changed `src/orders.py` within 1 → 2.", "1", BUILT.path, change=SHA[::-1], count=1
    )
    report = {
        **FOUND,
        "statement": "claim",
        "root_cause": None,
        "verdict": lead.says,
        "facts": (lead, came, other, of_file),
    }
    shown = unfolded(comment(**report))
    assert 0 < shown.index("names this line of") < shown.index("came in with")
    assert "within 1" not in shown


def test_of_two_places_with_one_message_both_are_shown() -> None:
    one = replace(BUILT, says="`parse` builds the message “no lines | none”, one of 2 places that do.", count=2)
    other = replace(one, says=one.says.replace("parse", "read"), path="src/other.py", symbol="read", strong=False)
    report = {**FOUND, "statement": "facts", "root_cause": None, "verdict": one.says, "facts": (one, other)}
    assert "\n- `read` builds the message" in unfolded(comment(**report))


@pytest.mark.parametrize(
    ("repository", "linked"),
    [("acme/orders", True), (None, False), ("a/b/c", False), ("a b/c", False)],
)
def test_a_permalink_needs_a_repository(repository: str | None, linked: bool) -> None:
    text = comment(repository, **FOUND)
    address = f"https://github.com/{repository}/blob/{SHA}/src/order%20parser.py#L5-L6"
    assert (address in text) is linked
    assert linked or "https://" not in text


def test_foreign_text_is_sanitised() -> None:
    hostile = "@octocat ![x](https://evil.example) <script> #12 | a"
    suspect = SUSPECT.model_copy(update={"why": hostile, "symbol": "a`|b", "quote": "```\n@octocat\n/close"})
    texts = dict.fromkeys(("verdict", "root_cause", "severity_reason", "how_to_confirm", "review_message"), hostile)
    lists = dict.fromkeys(("missing", "ruled_out", "tried", "notes"), (hostile,))
    text = comment(**{**FOUND, **texts, **lists, "suspects": (suspect,)})
    outside = re.sub(r"^(`{3,})\n.*?^\1$", "", text, flags=re.DOTALL | re.MULTILINE).replace("`@acme/orders`", "")
    assert not re.search(r"@\w|(?<!\\)!\[|(?<!\\)<script|#12|https://|^/", outside, re.MULTILINE)


def test_the_leading_line_is_a_bare_link_on_a_line_of_its_own() -> None:
    text = unfolded(comment("acme/orders", **FOUND)).split("\n")
    assert f"https://github.com/acme/orders/blob/{SHA}/src/order%20parser.py#L5-L6" in text


@pytest.mark.parametrize(("path", "words"), [("src/main.py", "`src/main.py`"), (BUILT.path, "this file")])
def test_a_fact_about_a_change_gives_the_name_of_its_own_file(path: str, words: str) -> None:
    says = f"The report names this change: `{SHA[:10]}` “Read rows”; it changed `{path}`."
    change = Fact("named_change", says, SHA[:10], path, 3, "parse()", "main", change=SHA, count=1, strong=True)
    assert f"it changed {words}." in unfolded(comment(**claimed(BUILT, change)))


def test_a_claim_names_the_function_only_where_a_strong_fact_is_on_it() -> None:
    weak = {**FOUND, "facts": (replace(BUILT, symbol=None), CALLED)}
    assert "in `Parser.parse`" in unfolded(comment(**FOUND))
    assert "Parser.parse" not in unfolded(comment(**weak))


def test_without_a_claim_there_is_no_function_no_number_and_no_link() -> None:
    text = unfolded(comment("acme/orders", **{**FOUND, "statement": "ranked", "headline": None, "facts": ()}))
    assert not re.search(r"blob/|%|Probable", text)


def test_changes_and_owners_notify_no_user() -> None:
    text = re.sub(r"`[^`\n]*`", "", comment("acme/orders", **FOUND))
    assert not re.search(r"@\w", text)


def test_a_ticket_has_fields_and_whole_parts() -> None:
    ticket = MarkdownRenderer().ticket(TriageReport(**FOUND))
    assert ticket.fields == {
        "type": "bug",
        "severity": "medium",
        "component": "src/order parser.py",
        "labels": "bug, area: orders",
    }
    assert BUILT.says.partition("“")[0] in ticket.body


def test_a_ticket_says_its_verdict_once_and_cites_nothing_that_a_tracker_does_not_show() -> None:
    says = "The only definition of `parse` is in `src/parser.py`."
    report = TriageReport(
        verdict=says, root_cause=f"{says} The fix is probably there [E1].", how_to_confirm="Run it [E2]."
    )
    body = MarkdownRenderer().ticket(report).body
    assert body == f"{says} The fix is probably there.\n\n**To confirm:** Run it."


def test_a_test_file_next_to_its_link_is_not_called_a_file_twice() -> None:
    says = "The test file `tests/test_dates.py` uses `parse_date`."
    fact = Fact("tested_here", says, words="parse_date", path="tests/test_dates.py", line=3, text="import parse_date")
    assert sentence_without_path(fact) == "The test file uses `parse_date`."


def test_a_condition_of_another_line_is_not_shown_below_the_leading_fact() -> None:
    guard = replace(
        CALLED, kind="guarded_by", says="It runs only under this condition: `if x`.", path=BUILT.path, line=6
    )
    own, other = (replace(guard, follows=(AT[0], line)) for line in (AT[1], 99))
    assert guard.says in unfolded(comment(**{**FOUND, "facts": (BUILT, own)}))
    text = comment(**{**FOUND, "facts": (BUILT, other)})
    assert guard.says not in unfolded(text)
    assert guard.says not in text


def test_a_condition_is_shown_above_the_facts_about_other_lines() -> None:
    guard = replace(CALLED, kind="guarded_by", says="It runs only if `x`.", path=BUILT.path, line=5, follows=AT)
    other = replace(BUILT, says="The message is also raised here.", path="src/main.py", line=9)
    text = unfolded(comment(**{**VARIANTS["one_fact"], "facts": (BUILT, other, guard)}))
    assert BUILT.says in text
    assert text.index(guard.says) < text.index(other.says)


def test_what_a_program_printed_precedes_what_explains_a_message() -> None:
    guard = replace(CALLED, kind="guarded_by", says="It runs only if `x`.", path=BUILT.path, line=6, follows=AT)
    call = replace(CALLED, path=BUILT.path, follows=AT)
    frame = replace(BUILT, kind="raised_here", says="The error passes through here.", line=90, unclaimed=True)
    text = unfolded(comment(**{**FOUND, "facts": (BUILT, guard, call, frame)}))
    assert frame.says in text
    assert text.index(frame.says) < text.index(guard.says)


def test_a_sentence_about_two_lines_is_shown_once() -> None:
    facts = (BUILT, replace(BUILT, line=5), CALLED)
    assert comment(**{**FOUND, "facts": facts}).count(BUILT.says) == 1
    others = (BUILT, *(replace(BUILT, path="src/list.py", line=line, says="It is here too.") for line in (1, 2)))
    assert comment(**{**FOUND, "facts": others}).count("It is here too.") == 1
    files = (BUILT, *(replace(BUILT, path=path, says="It is here too.") for path in ("src/list.py", "src/tree.py")))
    assert comment(**{**FOUND, "facts": files}).count("It is here too.") == 2


def test_a_comment_does_not_send_a_maintainer_to_a_list() -> None:
    message = f"After 2 wider searches, confidence in the first place is 47%: {READ_THE_LIST}"
    assert READ_THE_LIST not in comment(**{**NOT_FOUND, "suspects": (SUSPECT,)}, review_message=message)
    assert "Compare them." in comment(**{**NOT_FOUND, "suspects": (SUSPECT,)}, review_message="Compare them.")


def test_what_the_code_says_precedes_further_lines_that_the_report_only_names() -> None:
    lead = replace(BUILT, kind="named_here", says="The report names this line of `parse`.")
    again = [replace(lead, path=f"src/{n}.py", line=n, symbol="load") for n in (3, 4)]
    read = replace(lead, kind="read_here", says="`mode` is read on this line.", path="src/mode.py", words="mode")
    report = {**FOUND, "statement": "facts", "root_cause": None, "verdict": lead.says, "facts": (lead, *again, read)}
    shown = unfolded(comment(**report))
    assert 0 < shown.index("`mode` is read") < shown.index("3.py")
