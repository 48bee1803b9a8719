"""Parse YAML text into a validated model, or report every fault with its line; used for all user-written files."""

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar, get_args, get_origin

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from bot.errors import BotError
from bot.release import schema_address
from bot.settings.plain import explain, nearest_choice
from bot.settings.retired import instead_of, remove_retired, retired_keys
from nodes.described import describe_fields

M = TypeVar("M", bound=BaseModel)
MAX_TEXT = 65_536
_MAX_DEPTH = 8
SECTION = ConfigDict(extra="forbid", frozen=True, json_schema_extra=describe_fields, strict=True, defer_build=True)
"""What applies to each section of a file."""


@dataclass(frozen=True, slots=True)
class ConfigFault:
    """A fault and its line."""

    line: int
    """1-based."""
    message: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.message}"


class ConfigError(BotError):
    """The text is not a valid configuration; the error lists all faults."""

    def __init__(self, faults: tuple[ConfigFault, ...]) -> None:
        super().__init__("; ".join(map(str, faults)))
        self.faults = faults


def read_yaml(text: str, model: type[M], retired: Mapping[str, str]) -> M:
    """Parse a file's text, empty for the defaults, without ``retired`` keys; ConfigError names each fault's line."""
    root = compose(text)
    if root is None or root.tag == "tag:yaml.org,2002:null":
        return model()
    faults: list[ConfigFault] = []
    values = values_of(root, faults)
    if not faults and not isinstance(values, dict):
        faults.append(ConfigFault(1, "a mapping of keys to values is needed"))
    if faults:
        raise ConfigError(tuple(faults))
    remove_retired(values, retired)
    try:
        # Floats arrive as text (see `_scalar`), which the strict models would refuse.
        return model.model_validate(values, strict=False)
    except ValidationError as error:
        found = [_fault(root, fault, model) for fault in error.errors()]
        raise ConfigError(tuple(sorted(found, key=lambda fault: fault.line))) from error


def file_schema(model: type[BaseModel], name: str, title: str) -> dict[str, Any]:
    """Return a file's JSON Schema."""
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": schema_address(name)}
    return {**head, **model.model_json_schema(), "title": f"Tracehound: {title}"}


def notes_on(text: str, retired: Mapping[str, str]) -> tuple[ConfigFault, ...]:
    """Return a note with its line about each retired key of a valid file."""
    root = compose(text)
    found = retired_keys(values_of(root, []), retired) if root is not None else ()
    return tuple(
        ConfigFault(_line(root, list(path)), f"`{'.'.join(path)}` has no effect any more: {instead_of(path, retired)}")
        for path in found
    )


def compose(text: str) -> yaml.Node | None:
    """Parse a text into YAML nodes of bounded size and depth, without aliases; ConfigError for any other."""
    if len(text) > MAX_TEXT:
        raise ConfigError((ConfigFault(1, f"longer than {MAX_TEXT} characters"),))
    try:
        _refuse_aliases(text)
        return yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ConfigError((ConfigFault(line, f"not YAML: {error.problem or error.context}"),)) from error
    except yaml.YAMLError as error:
        raise ConfigError((ConfigFault(1, "not YAML: a character that it does not allow"),)) from error


def _refuse_aliases(text: str) -> None:
    """Refuse aliases, since nested aliases can expand to any size, and bound the depth for the same reason."""
    depth = 0
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        line = event.start_mark.line + 1 if event.start_mark else 1
        if isinstance(event, yaml.AliasEvent):
            raise ConfigError((ConfigFault(line, "aliases are not allowed"),))
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _MAX_DEPTH:
            raise ConfigError((ConfigFault(line, "nested too deeply"),))


def values_of(node: yaml.Node, faults: list[ConfigFault]) -> Any:
    """Return the plain values of a node; a repeated key is a fault, since one value would silently win."""
    if isinstance(node, yaml.SequenceNode):
        return tuple(values_of(item, faults) for item in node.value)
    if not isinstance(node, yaml.MappingNode):
        return _scalar(node)
    values: dict[str, Any] = {}
    for key, value in node.value:
        name = str(key.value)
        if name in values:
            faults.append(ConfigFault(key.start_mark.line + 1, f"`{_short(name)}` appears twice"))
        values[name] = values_of(value, faults)
    return values


def _scalar(node: yaml.Node) -> Any:
    """Return text, an integer, a boolean or None; any other value, such as a date, stays text."""
    if node.tag in ("tag:yaml.org,2002:bool", "tag:yaml.org,2002:null") or (
        node.tag == "tag:yaml.org,2002:int" and str(node.value).lstrip("+-").isdecimal() and len(node.value) < 20
    ):
        return yaml.SafeLoader("").construct_object(node)
    return str(node.value)


def _fault(root: yaml.Node, fault: Any, model: type[BaseModel]) -> ConfigFault:
    where = [part for part in fault["loc"] if part != "[key]"]
    line = _line(root, where)
    name = _short(str(where[-1])) if where else ""
    if fault["type"] in ("extra_forbidden", "literal_error") and ("[key]" in fault["loc"] or "extra" in fault["type"]):
        close = difflib.get_close_matches(name, _keys(model, [str(part) for part in where[:-1]]), 1)
        return ConfigFault(line, f"unknown key `{name}`" + (f"; did you mean `{close[0]}`?" if close else ""))
    close_choice = nearest_choice(fault)
    meant = f"; did you mean `{close_choice}`?" if close_choice else ""
    return ConfigFault(line, f"{_named(where)} {explain(fault)}{meant}")


def _keys(kind: Any, path: Sequence[str]) -> tuple[str, ...]:
    """Return the keys that a model, or a mapping with fixed keys, allows below a path."""
    origin, inner = get_origin(kind), get_args(kind)
    if origin is dict:
        return _keys(inner[1], path[1:]) if path else _words(inner[0])
    if origin is not None:  # annotated, or a union
        return next(filter(None, (_keys(option, path) for option in inner)), ())
    if not (isinstance(kind, type) and issubclass(kind, BaseModel)):
        return ()
    fields = kind.model_fields
    if path:
        return _keys(fields[path[0]].annotation, path[1:]) if path[0] in fields else ()
    return tuple(fields)


def _words(kind: Any) -> tuple[str, ...]:
    """Return the values of a literal, or of several."""
    if get_origin(kind) is Literal:
        return get_args(kind)
    return tuple(word for option in get_args(kind) for word in _words(option))


def _named(where: Sequence[Any]) -> str:
    """Name a value by its keys; an entry of a list by its position, from 1."""
    keys = [_short(str(part)) for part in where if not isinstance(part, int)]
    position = next((f", entry {part + 1}," for part in where if isinstance(part, int)), "")
    return f"`{'.'.join(keys)}`{position}" if keys else "the file"


def _line(root: yaml.Node | None, where: list[Any]) -> int:
    """Return the 1-based line of the key or item at a path, or of the nearest enclosing node."""
    node, line = root, root.start_mark.line if root is not None else 0
    for part in where:
        if isinstance(node, yaml.MappingNode):
            found = next((pair for pair in node.value if str(pair[0].value) == str(part)), None)
            if found is None:
                break
            line, node = found[0].start_mark.line, found[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            node = node.value[part]
            line = node.start_mark.line
    return line + 1


def _short(name: str) -> str:
    """Return a name from the file for a code span: printable, without backticks, at most 40 characters."""
    return "".join(c for c in name if c.isprintable() and c != "`")[:40]
