"""What a comment says about intended behaviour and pull requests."""

from __future__ import annotations

from dataclasses import replace

from bot.report.comment.folds import intent_of
from bot.report.comment.markdown import MarkdownRenderer
from nodes.report import RelatedChange
from nodes.search.facts import Fact
from tests.report.reports import FOUND, RAISED, SHA

CHANGE = "c0ffee12" * 5


def test_the_verdict_on_intention_rests_on_a_fact() -> None:
    def verdict(lead: Fact, kind: str = "bug", statement: str = "facts") -> str:
        return intent_of(FOUND.model_copy(update={"facts": (lead,), "kind": kind, "statement": statement}))

    assert verdict(RAISED).startswith("probably a bug")
    assert verdict(replace(RAISED, by_library=True)) == ""
    assert verdict(replace(RAISED, says="`f` calls `g` on this line; `E` comes from inside that call.")) == ""
    assert verdict(replace(RAISED, says="`E` passes through `f`, which is named in words as well.")) == ""
    assert verdict(replace(RAISED, refuses=True)).startswith("unclear")
    assert verdict(replace(RAISED, refuses=True), statement="claim") == ""
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
