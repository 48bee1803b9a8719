"""What a comment says of a release that the report names, of intention, and of pull requests."""

from __future__ import annotations

from dataclasses import replace

from bot.report.comment.folds import intent_of
from bot.report.comment.markdown import VISIBLE_WORDS, MarkdownRenderer
from bot.report.comment.sticky import visible_words
from nodes.report import RelatedChange
from nodes.search.facts import Fact
from tests.report.reports import FOUND, RAISED, SHA

OLD, CHANGE = "b" * 40, "c0ffee12" * 5
SINCE = Fact(
    "changed_since",
    f"The report's trace passes through this line of 1.2.0; `{CHANGE[:10]}` “Close strings” changed it, and 1.3.0 "
    "contains that change.",
    words="lexer.py, line 9",
    path="parser/strings.py",
    line=9,
    text="    while open_quote:",
    sha=OLD,
    change=CHANGE,
    strong=True,
    unclaimed=True,
)


def test_a_changed_line_of_the_named_release_is_visible_with_its_commit_whatever_is_claimed() -> None:
    renderer = MarkdownRenderer(repository="octo/parser")
    leads = {"headline": len(FOUND.facts), "verdict": SINCE.says, "statement": "facts", "root_cause": None}
    for update in ({}, leads):
        text = renderer.comment(FOUND.model_copy(update={"facts": (*FOUND.facts, SINCE), **update}))
        visible = text.partition("<details>")[0]
        assert (
            f"[`{CHANGE[:10]}`](https://github.com/octo/parser/commit/{CHANGE}) “Close strings” changed it" in visible
        )
        assert f"/blob/{OLD}/parser/strings.py#L9-L9" in visible
        assert visible_words(text) <= VISIBLE_WORDS
    assert "No line of the code" not in visible


def test_the_verdict_on_intention_rests_on_a_fact() -> None:
    def verdict(lead: Fact, kind: str = "bug") -> str:
        return intent_of(FOUND.model_copy(update={"facts": (lead,), "kind": kind}))

    assert verdict(RAISED).startswith("probably a bug")
    assert verdict(replace(RAISED, refuses=True)).startswith("unclear")
    assert verdict(RAISED, "question") == ""


def test_pull_requests_notify_nobody_and_commits_are_linked() -> None:
    changes = (
        RelatedChange(reference="#45", state="open", title="Close strings (#45)", why="changes `lexer.py`"),
        RelatedChange(reference=CHANGE, state="merged", title="Close strings", why="its message names this issue"),
    )
    text = MarkdownRenderer(repository="octo/parser").comment(FOUND.model_copy(update={"changes": changes}))
    assert "- `#45` (open) “Close strings" in text
    assert f"[`{CHANGE[:7]}`](https://github.com/octo/parser/commit/{CHANGE}) (merged)" in text
    assert "(#45)" not in text
    assert SHA in text
