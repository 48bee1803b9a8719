from __future__ import annotations

import pytest

from nodes.brains.rules.investigate import investigate
from tests.support.cases import case

TRACE = """Traceback (most recent call last):
  File "/home/me/app/io.py", line 3, in load
    decode(text)
  File "/usr/lib/python3.11/site-packages/yaml/scan.py", line 90, in decode
    raise KeyError(text)
KeyError: 'a'
"""


def test_a_trace_leads_to_the_projects_own_frame():
    reading = investigate(case("Loading", f"It fails.\n```\n{TRACE}```\n"))
    assert reading.problem == "KeyError ends the operation; it passes through `/home/me/app/io.py` line 3 (`load`)."
    assert "calls the library" in reading.hypothesis
    assert reading.confidence == 0.6


@pytest.mark.parametrize(
    ("title", "body", "problem"),
    [
        pytest.param(
            "Bad", "It says\n\nValueError: no such zone at all\n", "message “no such zone at all", id="message"
        ),
        pytest.param(
            "Odd", "Traceback (most recent call last):\nStopIteration", "ends with StopIteration", id="no-frame"
        ),
        pytest.param("Odd", "`parse_date` gives the wrong day.", "`parse_date` does not do", id="symbol"),
        pytest.param("It is slow today", "Very.", "in prose only", id="prose"),
        pytest.param("Add support for YAML", "It would be nice to have.", "no fault is described", id="feature"),
    ],
)
def test_the_problem_is_paraphrased(title, body, problem):
    reading = investigate(case(title, body))
    assert problem in reading.problem
    assert reading.problem != title


@pytest.mark.parametrize(
    ("body", "missing"),
    [
        pytest.param("It crashes.", ["error message", "steps", "expected"], id="nothing-given"),
        pytest.param("It crashes.\n\n1. open\n2. close\n\nI expected none.", ["error message"], id="steps"),
        pytest.param(
            "With 1.2.3, 1. load() Traceback (most recent call last):\nKeyError: 'a'\n- load()",
            [],
            id="an-error-without-frames",
        ),
        pytest.param(f"With 1.2.3:\n```\nload()\n```\n{TRACE}", [], id="all-given"),
    ],
)
def test_only_absent_information_is_missing(body, missing):
    found = investigate(case("Crash", body)).missing
    assert len(found) == len(missing)
    assert all(word in line for word, line in zip(missing, found, strict=True))


def test_a_feature_request_lacks_no_information():
    assert investigate(case("[Feature request] dark mode", "Please.")).missing == ()
