from __future__ import annotations

import json

import jsonschema
import pytest

from bot.report.document import build_result, result_schema
from nodes.state import BugTriageState, HumanExchange, Metrics, TraceEntry
from tests.report.reports import REPORTS


@pytest.mark.parametrize("name", REPORTS)
def test_a_result_matches_its_schema(name):
    state = BugTriageState(
        report=REPORTS[name],
        human_exchanges=(HumanExchange(question="Which?", withdrawn=True),),
        trace=(TraceEntry(node="writer", decision="accept", confidence=0.5, counts={"citations": 1}),),
        metrics=Metrics(confidence_history=(0.5,)),
    )
    document = json.loads(build_result(state).model_dump_json())
    assert list(jsonschema.Draft202012Validator(result_schema()).iter_errors(document)) == []


def test_the_schema_is_valid():
    jsonschema.Draft202012Validator.check_schema(result_schema())


def test_a_document_without_a_report_is_refused():
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(result_schema()).validate({"trace": []})
    with pytest.raises(ValueError, match="no report"):
        build_result(BugTriageState())
