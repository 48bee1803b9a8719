"""The product that a version belongs to, where a repository tags several."""

from __future__ import annotations

import pytest

from nodes.search.git import Repository
from nodes.search.history.versions import product_of, read_releases
from tests.search.history.story import Story, seconds

CRATES = ("zone-1.8.1", "zone-1.9.0", "zone-macros-1.8.1", "zone-macros-1.8.2", "zone-util-0.7.4", "@geo/core@2.0.1")
MODULES = ("v1.2.0", "api/v1.2.0", "v1.3.0", "api/v1.4.0")
OWN = frozenset({"zone", "zonemacros", "zoneutil", "zoneweb", "core"})


@pytest.mark.parametrize(
    ("tags", "name", "version", "expected"),
    [
        pytest.param(CRATES, "zone", "1.8.1", "zone", id="the-first-product"),
        pytest.param(CRATES, "zone-macros", "1.8.1", "zone-macros", id="another-product"),
        pytest.param(CRATES, "zone_macros", "1.8.1", "zone-macros", id="another-spelling"),
        pytest.param(CRATES, "geo/core", "2.0.1", "geo/core", id="with-its-scope"),
        pytest.param(CRATES, "core", "2.0.1", "geo/core", id="without-its-scope"),
        pytest.param(CRATES, "other/core", "2.0.1", None, id="of-another-scope"),
        pytest.param(CRATES, "", "1.8.1", None, id="two-have-it"),
        pytest.param(CRATES, "", "0.7.4", "zone-util", id="one-has-it"),
        pytest.param(CRATES, "zone-util", "1.9.0", None, id="only-another-product-has-it"),
        pytest.param(CRATES, "zone-web", "1.9.0", None, id="a-package-without-tags"),
        pytest.param(CRATES, "Python", "1.9.0", None, id="other-software"),
        pytest.param(MODULES, "", "1.3.0", "", id="the-tag-without-a-name"),
        pytest.param(MODULES, "zone", "1.3.0", "", id="the-tag-without-a-name-by-the-project's-name"),
        pytest.param(MODULES, "example.com/zone/api", "1.4.0", "api", id="a-module"),
        pytest.param(("v1.2.0",), "zone", "1.2.0", "", id="one-product"),
        pytest.param(("zone-kit-1.2.0",), "zone", "1.2.0", "zone-kit", id="one-product-whose-tags-have-a-name"),
    ],
)
def test_the_product_of_a_version(tmp_path, tags, name, version, expected):
    assert _product(tmp_path, tags, name, version) == expected


def test_modules_that_are_tagged_together_are_one_release(tmp_path):
    assert _product(tmp_path / "together", ("v1.2.0", "api/v1.2.0"), "", "1.2.0", commits=1) == ""
    assert _product(tmp_path / "apart", ("v1.2.0", "api/v1.2.0"), "", "1.2.0") is None
    assert _product(tmp_path / "no-project", ("web/v1.2.0", "api/v1.2.0"), "", "1.2.0", commits=1) is None


def _product(path, tags, name, version, commits=None):
    """Return the series of the product's tags, each tag at a commit of its own or all at the same."""
    story = Story()
    marks = [story.commit(f"2024-01-{day:02}", {"x": str(day)}) for day in range(1, (commits or len(tags)) + 1)]
    for number, tag in enumerate(tags):
        story.tag(tag, marks[min(number, len(marks) - 1)])
    series = read_releases(Repository.open(story.build(path)), seconds("2025-01-01"))
    found = product_of(name, version, series, OWN)
    return found and found.all[0].series
