"""The simulated GitHub rejects calls that GitHub's API does not have."""

from __future__ import annotations

import pytest

from tests.servers.openapi import DESCRIPTION, MISSING, violation

pytestmark = pytest.mark.skipif(not DESCRIPTION.exists(), reason=MISSING)


@pytest.mark.parametrize(
    ("method", "path", "query", "body", "says"),
    [
        ("POST", "/repos/o/r/issues/1/comments", {}, {"body": "x"}, None),
        ("POST", "/repos/o/r/issues/1/comments", {}, {"body": 1}, "not of type"),
        ("POST", "/repos/o/r/issues/1/comments", {}, {"body": "x", "title": "y"}, "unknown fields"),
        ("POST", "/repos/o/r/issues/1/comments", {}, None, "lacks its body"),
        ("POST", "/repos/o/r/issues/1/reactions", {}, {"content": "nose"}, "not one of"),
        ("PATCH", "/repos/o/r/issues/1", {}, {"type": "Bug"}, None),
        ("PATCH", "/repos/o/r/issues/1", {}, {"type": {"value": "Bug", "suggest": True, "confidence": "high"}}, None),
        ("PATCH", "/repos/o/r/issues/1", {}, {"type": {"value": "Bug", "confidence": "sure"}}, "not valid"),
        ("GET", "/repos/o/r/issues/1/comments", {"per_page": ["100"], "page": ["1"]}, None, None),
        ("GET", "/repos/o/r/issues/1/comments", {"pages": ["1"]}, None, "unknown parameters"),
        ("GET", "/repos/o/r/contents/.github/triage.yml", {}, None, None),
        ("GET", "/repos/o/r/nonsense", {}, None, "no such call"),
        ("PUT", "/repos/o/r/issues/1/comments", {}, {"body": "x"}, "no such call"),
    ],
)
def test_requests_match_githubs_openapi_description(method, path, query, body, says) -> None:
    fault = violation(method, path, query, body)
    assert fault is None if says is None else says in str(fault)
