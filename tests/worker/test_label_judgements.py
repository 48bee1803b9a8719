"""Labels that people change after a report judge it by place: who counts, which labels, and how it is taken back."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bot.jobs import Labelled, Typed
from bot.settings.repository import ConfigError, Labels, path_inside, read_config
from bot.store.jobs.deliveries import Arrival
from bot.store.runs.feedback import LabelChange, read_feedback
from bot.worker.outcomes import existing_paths, folders_of, judgement_of
from tests.limits.test_admission import Stage, staged
from tests.servers.github_server import serve_github
from tests.support.repositories import make_repository

CONFIG = (
    'labels:\n  paths:\n    "area: dates": feedbox/dates.py\n    storage: ./feedbox/store.py\n    ghost: src/none\n'
)


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    with serve_github() as github:
        async with staged(github, tmp_path) as stage:
            stage.repo.permissions |= {"mia": "push", "tim": "triage"}
            stage.repo.files[".github/triage.yml"] = CONFIG
            yield stage


class OnIssue:
    """The labels of one issue with a report."""

    def __init__(self, stage: Stage, number: int) -> None:
        self.stage, self.number, self.sent = stage, number, 0

    async def change(self, label: str, actor: str = "mia", *, added: bool = True) -> None:
        """Change a label on GitHub, deliver the event twice and process all jobs."""
        issue, store = self.stage.repo.issues[self.number], self.stage.worker.store
        issue["labels"] = [one for one in issue["labels"] if one["name"] != label] + [{"name": label}] * added
        work = Labelled(ref=self.stage.ref(self.number), label=label, added=added, actor=actor)
        for _ in range(2):
            self.sent += 1
            await store.inbox.accept(Arrival(f"label-{self.number}-{self.sent}", "issues", b"{}", (work,)))
        for lane in ("control", "run"):
            while (job := await self.stage.worker.store.jobs.claim(lane, "us", early=120.0)) is not None:
                await self.stage.worker.work(job)

    async def judged(self) -> list[tuple[str, str, bool]]:
        """Return what is stored: who, which label, right or wrong."""
        key = self.stage.ref(self.number).key
        found = await self.stage.worker.store._database.read(lambda db: read_feedback(db, key, 1))
        return [(one.actor, one.judgement.why, one.judgement.right) for one in found if one.source == "label"]


async def test_a_label_judges_and_its_removal_withdraws_the_judgement(stage: Stage) -> None:
    labels = OnIssue(stage, await stage.opened())
    await labels.change("area: dates")
    assert await labels.judged() == [("mia", "area: dates", True)]
    await labels.change("storage")
    assert await labels.judged() == [("mia", "area: dates", True), ("mia", "storage", False)]
    await labels.change("area: dates", added=False)
    assert await labels.judged() == [("mia", "storage", False)]
    record = stage.worker.store.of_repository(stage.ref(labels.number).repository.key).outcomes
    assert [one.why for one in await record.corrections()] == ["`feedbox/store.py`"]
    await labels.change("storage", added=False)
    assert await labels.judged() == []


async def test_a_type_that_a_person_changed_is_stored(stage: Stage) -> None:
    number = await stage.opened()
    store = stage.worker.store
    work = Typed(ref=stage.ref(number))
    assert not (await store.for_issue(work.ref).report_inputs()).typed
    await store.inbox.accept(Arrival("typed-1", "issues", b"{}", (work,)))
    while (job := await stage.worker.store.jobs.claim("control", "us", early=120.0)) is not None:
        await stage.worker.work(job)
    assert (await store.for_issue(work.ref).report_inputs()).typed


async def test_only_people_with_write_access_and_labels_of_existing_places_count(stage: Stage) -> None:
    labels = OnIssue(stage, await stage.opened())
    for actor in ("tim", "rita", ""):
        await labels.change("area: dates", actor)
        await labels.change("area: dates", actor, added=False)
    for label in ("ghost", "bug", "area: ../feedbox", "area: src", "area: /etc", "area: :(glob)*"):
        await labels.change(label)
    assert await labels.judged() == []
    await labels.change("area: feedbox")
    assert await labels.judged() == [("mia", "area: feedbox", True)]


async def test_removing_a_label_of_the_app_judges_the_report_wrong(stage: Stage) -> None:
    labels = OnIssue(stage, await stage.opened())
    effects = stage.worker.store.for_repository(stage.ref(1).repository).effects
    await effects.set_wanted(stage.ref(labels.number).key, "labels", "", "h", json.dumps(["area: dates", "storage"]))
    await labels.change("area: dates", added=False)
    await labels.change("storage", added=False)
    assert await labels.judged() == [("mia", "area: dates", False)]
    record = stage.worker.store.of_repository(stage.ref(labels.number).repository.key).outcomes
    assert await record.corrections() == []  # it names no other place


async def test_without_a_report_a_label_is_only_stored(stage: Stage) -> None:
    number = stage.github.world.open_issue(stage.repo, "It breaks", "")["number"]
    labels = OnIssue(stage, number)
    before = len(stage.github.calls)
    await labels.change("area: dates")
    assert len(stage.github.calls) == before


def test_labels_stand_for_folders_by_the_file_or_by_their_form() -> None:
    known = read_config(CONFIG).labels
    found = folders_of(["Area: Dates", "STORAGE", "area:cli", "area: a/b/", "areas: x", "bug", "area: ../x"], known)
    assert found == {
        "Area: Dates": "feedbox/dates.py",
        "STORAGE": "feedbox/store.py",
        "area:cli": "cli",
        "area: a/b/": "a/b",
    }
    many = [f"area: {number}" for number in range(100_000)]
    assert len(folders_of(many, Labels())) == len(many)


@pytest.mark.parametrize(
    ("change", "folder", "right"),
    [
        pytest.param(LabelChange("A", added=True, actor="m", at=1), "src", True, id="inside"),
        pytest.param(LabelChange("A", added=True, actor="m", at=1), "src/b", False, id="elsewhere"),
        pytest.param(LabelChange("A", added=True, actor="m", at=1), "sr", False, id="no-prefix-of-a-name"),
        pytest.param(LabelChange("B", added=True, actor="m", at=1), "src", None, id="gone-meanwhile"),
        pytest.param(LabelChange("A", added=False, actor="m", at=1), "src", None, id="back-meanwhile"),
        pytest.param(LabelChange("C", added=False, actor="m", at=1), "src", False, id="the-apps-removed"),
        pytest.param(LabelChange("C", added=False, actor="m", at=1), "lib", None, id="the-apps-for-another-place"),
        pytest.param(LabelChange("D", added=False, actor="m", at=1), "src", None, id="a-persons-removed"),
    ],
)
def test_one_label(change: LabelChange, folder: str, right: bool | None) -> None:
    found = judgement_of(change, folder, "src/a.py", present=frozenset("a"), ours=frozenset("c"))
    assert (found.right if found else None) is right


def test_existing_paths_are_literal(tmp_path: Path) -> None:
    sha = make_repository(tmp_path / "r", {"src/a.py": "x = 1\n", "[s]rc*/b.py": "x = 2\n"})
    asked = ["src", "src/a.py", "s*", "[s]rc*", ":(top)src", "lib", "--help"]
    assert existing_paths(tmp_path / "r", sha, asked) == {"src", "src/a.py", "[s]rc*"}


@pytest.mark.parametrize("path", ["", "/", "../x", "a/../b", "/etc", "a//b", "a\\b", "a\nb", "a\0", ".", "x" * 301])
def test_paths_outside_the_repository_are_not_folders(path: str) -> None:
    assert path_inside(path) is None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param("../x", "line 3: `labels.paths.a` must be the path of a folder or file", id="outside"),
        pytest.param("[a, b]", "line 3: `labels.paths.a` must be text", id="a-list"),
        pytest.param("''", "line 3: `labels.paths.a` must not be empty", id="empty"),
    ],
)
def test_a_wrong_path_in_the_file_is_a_fault_with_its_line(text: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        read_config(f"labels:\n  paths:\n    a: {text}\n")


def test_the_number_of_paths_is_limited() -> None:
    lines = "".join(f"    l{number}: src\n" for number in range(201))
    with pytest.raises(ConfigError, match="must have at most 200 entries"):
        read_config(f"labels:\n  paths:\n{lines}")
