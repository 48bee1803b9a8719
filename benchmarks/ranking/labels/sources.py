"""The sources of reports, by name, with the repositories that each is read from."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

from benchmarks.ranking.labels.bugzilla import blizzard, ye
from benchmarks.ranking.labels.git import Git
from benchmarks.ranking.labels.instances import gitbug_java, kotlin_swe_bench, rust_swe_bench, swe_benchify
from benchmarks.ranking.labels.reports import Report, defects4j, denchmark


def sources(clones: Path, repository: Callable[[str], Git | None]) -> Mapping[str, Callable[[], Iterator[Report]]]:
    """Return the readers of the sources whose repositories are among the clones, by source.

    Args:
        clones: the folder of clones.
        repository: returns the clone of a repository, or None.
    """
    readers: dict[str, tuple[Callable[..., Iterator[Report]], tuple[str, ...]]] = {
        "denchmark": (denchmark, ("RosePasta+Denchmark_BRs",)),
        "rust": (rust_swe_bench, ("GhabiX+Rust-SWE-Bench",)),
        "kotlin": (kotlin_swe_bench, ("ifabrish+kotlin-swe-bench",)),
        "gitbug": (gitbug_java, ("gitbugactions+gitbug-java",)),
        "benchify": (swe_benchify, ("Red-Hat-AI-Innovation-Team+SWE-benchify",)),
        "ye": (ye, ("eashaan-rao+bug-localization-1",)),
        "blizzard": (
            partial(blizzard, repository=repository),
            ("masud-technope+BLIZZARD-Replication-Package-ESEC-FSE2018",),
        ),
        "defects4j": (defects4j, ("coinse+libro", "rjust+defects4j")),
    }
    return {
        name: partial(read, *(Git.at(clones / one) for one in stores))
        for name, (read, stores) in readers.items()
        if all((clones / one).is_dir() for one in stores)
    }
