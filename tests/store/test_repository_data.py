"""Export and deletion of all data of one repository, and of no other."""

from __future__ import annotations

import json
import re

import pytest

from bot.jobs import Triage
from bot.limits.ceilings import Amount, Scope
from bot.ports import IssueRef
from bot.store.databases.database import STEPS
from bot.store.jobs.deliveries import Arrival
from bot.store.repository_data import REPOSITORY_ROWS
from bot.store.tables import Store
from nodes.evidence import Evidence

NOT_OF_A_REPOSITORY = frozenset(
    {"installations", "writes", "quiet", "paces", "leases", "turns", "metric_samples", "ended_sessions"}
)
"""Tables without anything that people wrote in a repository."""

REF = IssueRef("github.com", 7, 9, "octo", "parser", 5)
DAY = "2026-01-31"
OTHERS = (IssueRef("github.com", 7, 90, "octo", "lexer", 5), IssueRef("github.com", 7, 8, "octo", "printer", 5))


def tables() -> set[str]:
    """Return the tables that all steps of the schema leave."""
    names: set[str] = set()
    for verb, name in re.findall(r"^(CREATE|DROP) TABLE (?:IF NOT EXISTS )?(\w+)", "\n".join(STEPS), re.MULTILINE):
        (names.add if verb == "CREATE" else names.discard)(name)
    return names


def test_every_table_belongs_to_a_repository_or_is_listed() -> None:
    assert tables() == set(REPOSITORY_ROWS) | NOT_OF_A_REPOSITORY


async def fill(store: Store, ref: IssueRef) -> None:
    """Store a row in many tables, including those in which repositories are hardest to separate."""
    body = json.dumps({"issue": ref.number}).encode()
    await store.installations.add([ref.repository])
    await store.inbox.accept(Arrival(f"guid-{ref.key}", "issues", body, (Triage(ref=ref, why="opened"),)))
    issue = store.for_issue(ref)
    await issue.runs.begin(())
    await issue.evidence(1).put([Evidence(kind="code", quote="x = 1")])
    await issue.row.end("closed")
    await issue.repository.limited.note("repository.tokens")
    key = ref.repository.key
    scopes = [Scope("run", f"{ref.key}:1", "run"), Scope("repository", key, DAY), Scope("author", f"{key}@3", DAY)]
    await store.usage.reserve(scopes, Amount(calls=1))


async def count(store: Store, ref: IssueRef) -> dict[str, int]:
    whole = store.repository_data(ref.repository.key)
    return {table: len(await whole.rows(table)) for table in REPOSITORY_ROWS}


async def test_all_data_of_exactly_one_repository_is_deleted(store: Store) -> None:
    for ref in (REF, *OTHERS):
        await fill(store, ref)
    before = [await count(store, ref) for ref in OTHERS]
    kept = {table: rows for table, rows in (await count(store, REF)).items() if rows}
    assert kept["usage"] == 3
    assert {"deliveries", "jobs", "runs", "evidence", "issues", "limited", "repositories"} <= set(kept)
    (delivery,) = await store.repository_data(REF.repository.key).rows("deliveries")
    assert delivery["body"] == {"issue": 5}
    gone = await store.repository_data(REF.repository.key).forget()
    assert {table: rows for table, rows in gone.items() if rows} == kept
    assert not any((await count(store, REF)).values())
    assert [await count(store, ref) for ref in OTHERS] == before


@pytest.mark.parametrize(
    ("older_than", "left"), [pytest.param(-1.0, 0, id="old-enough"), pytest.param(60.0, 1, id="closed-just-now")]
)
async def test_evidence_is_deleted_long_after_its_issue_was_closed(store: Store, older_than: float, left: int) -> None:
    await fill(store, REF)
    dropped = await store.pruning.closed_issues(older_than)
    rows = await count(store, REF)
    assert (dropped.issues, rows["evidence"], rows["runs"]) == (1 - left, left, 1)
    assert (await store.pruning.closed_issues(older_than)).issues == 0
    await store.for_issue(REF).row.end(None)
    assert (await store.pruning.closed_issues(-1.0)).issues == 0


async def test_a_removed_repository_is_deleted_after_a_while(store: Store) -> None:
    await fill(store, REF)
    await fill(store, OTHERS[0])
    await store.installations.remove([REF.repository.key])
    assert await store.pruning.gone_repositories(60.0) == []
    assert await store.pruning.gone_repositories(-1.0) == [REF.repository.key]
    assert await store.pruning.known_repositories() == {OTHERS[0].repository.key}
    assert not any((await count(store, REF)).values())


async def test_expired_counts_are_dropped(store: Store) -> None:
    await fill(store, REF)
    await store.writes.take("github.com/installation:7")
    await store.pruning.counters(-86_400.0 * 2)
    assert [row["scope"] for row in await store.repository_data(REF.repository.key).rows("usage")] == [f"{REF.key}:1"]
