"""The sentences of a cause in a comment, each with the links of its evidence."""

from __future__ import annotations

import pytest

from bot.report.comment.explained import cause
from bot.report.comment.markdown import MarkdownRenderer
from bot.report.links import Links
from bot.report.record import Record
from nodes.agents.writing.compose import _end_of
from nodes.report import DISAGREE, Citation, CitationAudit, Evaluation, Suspect, TriageReport

LINKS = Links("", "o/r", "a" * 40)
REPORT = TriageReport(
    verdict="It is missing.",
    kind="bug",
    root_cause="The folder is missing [E1, E2].",
    citations=(
        Citation(evidence="E1", path="", start_line=0, end_line=0),
        Citation(evidence="E2", path="a.py", start_line=3, end_line=3),
    ),
    repository="o/r",
    commit="a" * 40,
    citation_audit=CitationAudit(),
    evaluation=Evaluation(),
)


def test_evidence_without_an_address_leaves_no_gap() -> None:
    """An answer without matches is evidence and has no lines to link."""
    (sentence,) = cause(REPORT, LINKS)
    assert sentence.startswith("- The folder is missing [`a.py:3`](")


def test_no_number_of_the_search_stands_beside_the_claim_of_a_model() -> None:
    place = Suspect(path="a.py", start_line=3, end_line=3, checked=True)
    update = {"suspects": (place,), "statement": "claim", "confidence": 0.88, "support": 0.9, "written_by": "gpt"}
    by_model, record = REPORT.model_copy(update=update), Record(30, 20, 0.1)
    by_rules = by_model.model_copy(update={"citations": (), "support": None})
    for renders in (
        MarkdownRenderer(record=record).comment,
        MarkdownRenderer().comment,
    ):
        assert "%" in renders(by_rules)
        assert "%" not in renders(by_model)


@pytest.mark.parametrize("folders", [1, 12, 40])
def test_a_doubt_with_two_long_paths_keeps_its_marks(folders: int):
    paths = [f"{'a long folder/' * folders}{name}/index.js" for name in ("one", "two")]
    ends = [_end_of(path) for path in paths]
    assert all(path.endswith(end.removeprefix("…/")) for path, end in zip(paths, ends, strict=True))
    assert len(f"{DISAGREE}: the search ranks `{ends[0]}` first, the model `{ends[1]}`.") <= 300
    assert ends[0] != ends[1]


def test_one_long_name_is_cut_at_its_beginning():
    assert _end_of("x" * 400 + ".py") == "…" + "x" * 107 + ".py"
