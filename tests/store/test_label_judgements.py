"""What labels say about reports: half a judgement, only where no person and no fix said more, on both databases."""

from __future__ import annotations

import pytest

from bot.ports import Judgement
from bot.report.record import ENOUGH, read_record
from bot.store.runs.feedback import MAX_LABELS, Feedback, LabelJudgement, note_feedback
from bot.store.runs.outcomes import Reported, Verdict
from bot.store.tables import IssueStore, Store
from bot.worker.runs.conclude import ending_of
from tests.store.test_outcomes import OTHER, PARSER, ref, report
from tests.web.stored import Ran, ran

AREA = "area: parser"


@pytest.fixture
async def store(store: Store) -> Store:
    await store.installations.add([PARSER, OTHER])
    return store


async def claimed(store: Store, number: int = 0) -> IssueStore:
    """Store a run whose report claims parser/lexer.py."""
    return store.for_issue(await ran(store, Ran(number=number)))


def says(*, right: bool, label: str = AREA, at: float = 5e9) -> LabelJudgement:
    return LabelJudgement(label, "mia", right, "" if right else "`src/other`", at)


async def test_labels_count_where_no_person_and_no_fix_decided(store: Store) -> None:
    agreed, differed, both, told, fixed = [await claimed(store) for _ in range(5)]
    await agreed.label_judgements.keep(1, [says(right=True)])
    await differed.label_judgements.keep(1, [says(right=False)])
    await both.label_judgements.keep(1, [says(right=False), says(right=True, label="area: lexer")])
    for issue in (told, fixed):
        await issue.label_judgements.keep(1, [says(right=False)])
    feedback = Feedback("command", "mia", Judgement(right=True), 1.0)
    await store._database.do(lambda db: note_feedback(db, told._key, feedback))
    await fixed.outcome.keep(Verdict("scored", 1, "f" * 40))
    record = store.of_repository(PARSER.key).outcomes
    assert sorted(right for _, right in (await record.standing()).labelled) == [False, True, True]
    assert (await record.standing()).judged == [(0.78, True)]
    assert {one.issue for one in await record.corrections()} == {
        int(issue._key.rpartition("#")[2]) for issue in (differed, fixed)
    }
    counts = await record.feedback_counts()
    assert (counts.labels_right, counts.labels_wrong) == (2, 4)
    assert (await store.of_repository(OTHER.key).outcomes.standing()).labelled == []


async def test_the_judgements_of_labels_are_replaced_as_a_whole(store: Store) -> None:
    issue = await claimed(store)
    for _ in range(2):  # as a repeated job does
        await issue.label_judgements.keep(1, [says(right=True)])
    assert len((await store.of_repository(PARSER.key).outcomes.standing()).labelled) == 1
    await issue.label_judgements.keep(1, [])
    assert (await store.of_repository(PARSER.key).outcomes.standing()).labelled == []


async def test_only_later_changes_by_people_are_read_and_a_repeated_one_keeps_its_time(store: Store) -> None:
    issue = store.for_issue(ref(1))
    now = [1_000.0]
    store._database.clock = issue._database.clock = lambda: now[0]  # type: ignore[method-assign]
    await issue.people.labelled("before", "mia", added=True)
    now[0] = 2_000.0
    await report(store, ref(1), Reported(claimed=True, confidence=0.8, named=("src/parser/a.py",)))
    now[0] = 3_000.0
    await issue.people.labelled("before", "mia", added=True)
    await issue.people.labelled("after", "mia", added=True)
    await issue.people.labelled("by nobody", "", added=True)
    assert [one.label for one in (await issue.label_judgements.changes_after(1)).changes] == ["after"]
    now[0] = 4_000.0
    await issue.people.labelled("before", "mia", added=False)
    changes = (await issue.label_judgements.changes_after(1)).changes
    assert [(one.label, one.added, one.at) for one in changes] == [("before", False, 4_000.0), ("after", True, 3_000.0)]


async def test_only_the_latest_labels_are_read(store: Store) -> None:
    issue = store.for_issue(ref(1))
    await report(store, ref(1))
    for number in range(MAX_LABELS + 10):
        await issue.people.labelled(f"area: {number}", "mia", added=True)
    assert len((await issue.label_judgements.changes_after(1)).changes) == MAX_LABELS


def test_a_label_counts_half_and_all_of_them_half_as_much_as_the_fixes() -> None:
    fixes, wrong = [(0.8, True)] * ENOUGH, [(0.8, False)]
    assert read_record(fixes[1:], (), wrong * 500) is None
    none, labels, words = read_record(fixes), read_record(fixes, (), wrong * 20), read_record(fixes, wrong * 20)
    assert none is not None
    assert labels is not None
    assert words is not None
    assert words.confidence(0.8) < labels.confidence(0.8) < none.confidence(0.8)
    assert labels.shift == read_record(fixes, wrong * 10).shift
    flood = read_record(fixes, (), wrong * 100_000)
    assert flood is not None
    assert flood.shift == pytest.approx(read_record(fixes, wrong * (ENOUGH // 2)).shift, abs=1e-5)
    assert flood.judged == 100_000


def test_ending_of_is_what_the_calibration_reads() -> None:
    """The rows above are written as the worker writes them."""
    assert ending_of(Ran().report).claimed
