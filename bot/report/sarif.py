"""A report as SARIF 2.1.0, for editors, code scanning and other programs that show results at lines of code."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, urlsplit

from bot.release import PROJECT, released
from nodes.report import Suspect, TriageReport
from nodes.search.facts import Fact
from nodes.trust.secrets import mask

_RULES: Mapping[str, tuple[str, str]] = {
    "claimed-place": ("warning", "The place where the fix probably belongs, by checked facts."),
    "named-place": ("note", "A place that a checked fact of the issue names; no cause is claimed."),
    "ranked-place": ("note", "A place that the search ranks for the issue; no fact names it."),
}
"""The level of results and the description of each rule, by its id."""
_SOURCE = "SRCROOT"
_PRIVATE = "The issue may describe a security problem, so no place is named. Follow the repository's security policy."


def as_sarif(report: TriageReport, title: str) -> str:
    """Return the places of a report as a SARIF log; one on a security problem has a notification instead."""
    title = mask(title)
    is_private = report.kind == "security"
    places = () if is_private else report.suspects
    notes = [_PRIVATE] if is_private else [report.verdict] if report.verdict and not places else []
    invocation: dict[str, Any] = {"executionSuccessful": True}
    if notes:
        invocation["toolExecutionNotifications"] = [{"level": "note", "message": {"text": note}} for note in notes]
    rules = [
        {"id": name, "shortDescription": {"text": says}, "defaultConfiguration": {"level": level}}
        for name, (level, says) in _RULES.items()
    ]
    driver = {"name": "Tracehound", "version": released(), "informationUri": PROJECT, "rules": rules}
    run: dict[str, Any] = {
        "tool": {"driver": driver},
        "columnKind": "utf16CodeUnits",
        "originalUriBaseIds": {_SOURCE: {"description": {"text": "The root of the repository."}}},
        "invocations": [invocation],
        "results": [_result(report, at, title) for at in range(len(places))],
        "properties": {"kind": report.kind, "severity": report.severity, "commit": report.commit},
    }
    if urlsplit(report.repository).scheme in ("http", "https"):
        run["versionControlProvenance"] = [{"repositoryUri": report.repository, "revisionId": report.commit}]
    log = {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=2, ensure_ascii=False)


def _result(report: TriageReport, at: int, title: str) -> dict[str, Any]:
    place = report.suspects[at]
    facts = [report.facts[number] for number in place.facts if number < len(report.facts)]
    rule = "ranked-place"
    if at == 0 and report.statement == "claim":
        rule = "claimed-place"
    elif facts or place.pointed:
        rule = "named-place"
    says = "; ".join(fact.says.rstrip(".") for fact in facts) or place.why or _RULES[rule][1].rstrip(".")
    identity = "\0".join((title, place.path, place.symbol or "")).encode("utf-8", "surrogatepass")
    found: dict[str, Any] = {
        "ruleId": rule,
        "ruleIndex": list(_RULES).index(rule),
        "level": _RULES[rule][0],
        "message": {"text": f"{title}: {says}."},
        "locations": [_place(place)],
        # The result of another run on the same issue and place is the same alert.
        "partialFingerprints": {"issueAndPlace/v1": hashlib.sha256(identity).hexdigest()[:32]},
        "properties": {"score": place.score, "checked": place.checked},
    }
    related = [_line(fact) for fact in facts if fact.path and fact.line and fact.sha is None]
    if related:
        found["relatedLocations"] = related
    if rule == "claimed-place":
        found["rank"] = round(100 * report.confidence, 1)
    return found


def _place(place: Suspect) -> dict[str, Any]:
    region: dict[str, Any] = {"startLine": place.start_line, "endLine": place.end_line}
    if place.quote and place.quote_start == place.start_line and place.quote_end == place.end_line:
        region["snippet"] = {"text": place.quote}
    location: dict[str, Any] = {"physicalLocation": {"artifactLocation": _artifact(place.path), "region": region}}
    if place.symbol:
        location["logicalLocations"] = [{"fullyQualifiedName": place.symbol}]
    return location


def _line(fact: Fact) -> dict[str, Any]:
    region = {"startLine": fact.line}
    return {
        "physicalLocation": {"artifactLocation": _artifact(fact.path or ""), "region": region},
        "message": {"text": fact.says},
    }


def _artifact(path: str) -> dict[str, str]:
    # Names that git stores in another encoding have lone surrogates.
    return {"uri": quote(path.encode("utf-8", "surrogateescape")), "uriBaseId": _SOURCE}
