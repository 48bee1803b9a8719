"""Writes the frames that a log has as objects of JSON, or as elements of XML, as lines of a trace."""

import re
from collections.abc import Iterator, Sequence

from nodes.search.issue.normal.mapped import Edit
from nodes.search.lazy import lazy

_OBJECT = lazy(r"\{[^{}]{20,900}\}|<\w{1,40} [^<>]{20,600}>")
_FIELD = lazy(r"(?<=[\"\s])([A-Za-z_]{2,20})\"?\s{0,3}[:=]\s{0,3}(?:\"([^\"\n]{1,300})\"|(\d{1,7})\b)")
_KEYS = {
    key: kind
    for kind, keys in (
        ("file", "file filename fileName source sourceFile path"),
        ("line", "line lineNumber lineno sourceLine"),
        ("name", "func function method methodName symbol name label"),
        ("class", "class declaringClass"),
    )
    for key in keys.split()
}
_FILE = lazy(r"\S{1,300}\.[A-Za-z]\w{0,7}$")
_BETWEEN = lazy(r"[\s,]{0,80}")
_ERROR = lazy(
    r"\b(?:name|(?:exc_)?type|errorType|Exception)\"?\s?[:=]\s?\"([\w.$\\]{2,200}(?:Error|Exception|Failure))\""
)
_MESSAGE = lazy(r"\b(?:[mM]essage|value|exc_value|errorMessage)\"\s?:\s?\"([^\"\n]{1,400})\"")
_STACK = lazy(r"(?:stack|trace|frames)\w{0,10}\"?\s?[:>]\s{0,20}\[?\s{0,20}$", re.IGNORECASE)
_REACH = 1_500
"""Characters before a stack in which its error is."""
_FINDING = lazy(
    r"\"uri\"\s?:\s?\"([^\"\n]{1,300})\"[^{}]{0,200}\},\s{0,80}\"region\"\s?:\s?\{\s{0,80}\"startLine\"\s?:\s?(\d{1,7})\b"
)
"""A place of SARIF."""


def objects(text: str) -> list[Edit]:
    """Replace each object that has a file, a line and a function, and the places of SARIF."""
    # What AWS Lambda prints is read by ``stacks``.
    if '"errorType"' in text or not any(word in text for word in ("tack", "race", "rames", "startLine")):
        return []
    edits = [Edit(*found.span(), f"{found[1]}:{found[2]}") for found in _FINDING.finditer(text)]
    group: list[re.Match[str]] = []
    for found in filter(_fields, _OBJECT.finditer(text)):
        if group and not _BETWEEN.fullmatch(text, group[-1].end(), found.start()):
            edits += _written(text, group)
            group = []
        group.append(found)
    return sorted((*edits, *_written(text, group)))


def _fields(found: re.Match[str]) -> dict[str, str]:
    """Return the parts of a frame, if an object has all of them."""
    fields = {_KEYS[key]: value or number for key, value, number in _FIELD.findall(found[0]) if key in _KEYS}
    is_frame = fields.get("line", "").isdigit() and "name" in fields and _FILE.match(fields.get("file", ""))
    return fields if is_frame else {}


def _written(text: str, group: Sequence[re.Match[str]]) -> Iterator[Edit]:
    """Yield the edits that make consecutive objects the lines of a trace."""
    before = text[max(0, group[0].start() - _REACH) : group[0].start()].replace("\\\\", "\\") if group else ""
    if not _STACK.search(before[-60:]):
        return
    errors, messages = _ERROR.findall(before), _MESSAGE.findall(before)
    error = f"{errors[-1]}: {messages[-1] if messages else ''}".rstrip(": ") if errors else ""
    # Sentry and the loggers of Python begin with the outermost frame.
    is_recent_last = '"frames"' in before[-60:] and '"imageOffset"' not in group[0][0]
    start = group[0].start()
    for at, found in enumerate(group):
        fields = _fields(found)
        name = ".".join(part.partition("(")[0] for part in (fields.get("class", ""), fields["name"]) if part)
        file = fields["file"].replace("\\/", "/")
        line = f"    at {name} ({file}:{fields['line']})\n"
        if is_recent_last:
            line = f'  File "{file}", line {fields["line"]}, in {name}\n'
        elif file.endswith(".php"):
            # PHP names the function that is called there.
            line = f"#{at} {file}({fields['line']}): {name}()\n"
        head = "" if at else "\nTraceback (most recent call last):\n" if is_recent_last else f"\n{error}\n"
        foot = f"{error}\n" if is_recent_last and found is group[-1] else ""
        yield Edit(start, found.end(), f"{head}{line}{foot}")
        start = found.end()
