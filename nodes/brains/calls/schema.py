"""Convert pydantic models to schemas that strict servers accept, and fit answers to the models' bounds."""

import functools
import json
import re
from typing import Any, TypeVar

from pydantic import BaseModel

from nodes.trust.secrets import mask

T = TypeVar("T", bound=BaseModel)
Schema = dict[str, Any]

_BOUNDS = frozenset({"maxItems", "additionalProperties"})
_PERCENT = re.compile(r"(\d{1,3}(?:\.\d{1,3})?)\s?%")
_SCALE, _WHOLE = 10, 100
"""Numbers above the first are percentages where a share is expected; the second is all."""
_SUPPORTED = ("type", "description", "enum", "const", "items", "maxItems", "properties", "anyOf")


def strict_schema(model: type[BaseModel]) -> Schema:
    """Return the model's JSON schema without references and defaults, with every field required.

    Strict mode rejects references and defaults. Only the bounds of lists are included, because a small model may write
    an endless list; `fit` enforces all bounds.
    """
    return {"title": model.__name__, "description": model.__doc__ or "", **_strict(_resolved(model))}


def without_bounds(schema: Any) -> Any:
    """Return a schema whose lists and objects are open, for servers that refuse bounds; the descriptions name them."""
    if isinstance(schema, list):
        return [without_bounds(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {key: without_bounds(value) for key, value in schema.items() if key not in _BOUNDS}


def fit(model: type[T], answer: object, *, clamp: bool = False) -> T:
    """Validate decoded JSON after cutting long values and, with ``clamp``, numbers; or raise ``ValidationError``."""
    return model.model_validate(_fitted(_resolved(model), answer, clamp=clamp))


# Each request needs it several times. The bound drops the models that were made for one request.
@functools.lru_cache(maxsize=64)
def _resolved(model: type[BaseModel]) -> Schema:
    schema = model.model_json_schema()
    resolved: Schema = _inline(schema, schema.pop("$defs", {}))
    return resolved


def _inline(node: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(node, list):
        return [_inline(item, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    # Keys next to a reference, such as a description, override those of the definition.
    if "$ref" in node:
        name = node["$ref"].rpartition("/")[2]
        node = {**definitions[name], **{key: value for key, value in node.items() if key != "$ref"}}
    return {key: _inline(value, definitions) for key, value in node.items()}


def _strict(node: Schema) -> Schema:
    strict: Schema = {key: node[key] for key in _SUPPORTED if key in node}
    if bound := _describe_bound(node):
        strict["description"] = f"{strict.get('description', '')} {bound}".strip()
    if "items" in strict:
        strict["items"] = _strict(strict["items"])
    if "anyOf" in strict:
        strict["anyOf"] = [_strict(choice) for choice in strict["anyOf"]]
    if "properties" in strict:
        strict["properties"] = {name: _strict(field) for name, field in strict["properties"].items()}
        strict |= {"required": list(strict["properties"]), "additionalProperties": False}
    return strict


def _describe_bound(node: Schema) -> str:
    if "maxLength" in node:
        return f"At most {node['maxLength']} characters."
    if "maxItems" in node:
        return f"At most {node['maxItems']}."
    if "pattern" in node:
        return "An evidence id such as E3."
    return "From 0.0 to 1.0." if "maximum" in node else ""


def _fitted(schema: Schema, value: Any, *, clamp: bool) -> Any:
    if "anyOf" in schema:
        # The only unions in these models are optional values, whose first choice is the type.
        return value if value is None else _fitted(schema["anyOf"][0], value, clamp=clamp)
    if schema.get("type") == "array" and isinstance(value, str | dict):
        value = _listed(value)
    if schema.get("maximum") == 1:
        value = _share(value)
    if isinstance(value, str):
        return _text(schema, value)
    if isinstance(value, list):
        items = schema.get("items", {})
        fitted = [_fitted(items, part, clamp=clamp) for part in value]
        return [part for part in fitted if _follows_patterns(items, part)][: schema.get("maxItems")]
    if isinstance(value, dict):
        fields = schema.get("properties", {})
        # Some servers send null for fields with a default.
        optional = {name for name, field in fields.items() if "default" in field and "anyOf" not in field}
        known = {name: part for name, part in value.items() if name in fields}
        given = {name: part for name, part in known.items() if part is not None or name not in optional}
        return {name: _fitted(fields[name], part, clamp=clamp) for name, part in given.items()}
    # In Python a bool is an int.
    if clamp and isinstance(value, int | float) and not isinstance(value, bool):
        return max(schema.get("minimum", value), min(schema.get("maximum", value), value))
    return value


def _listed(value: str | dict[str, Any]) -> Any:
    """Return the list that a model wrote as a string, or that it meant by its only entry."""
    if isinstance(value, str) and value.lstrip().startswith("["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return [value] if value else []


def _share(value: Any) -> Any:
    """Return a percentage as a share."""
    found = _PERCENT.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is not None:
        return float(found[1]) / _WHOLE
    percent = isinstance(value, int | float) and _SCALE < value <= _WHOLE
    return value / _WHOLE if percent else value


def _follows_patterns(schema: Schema, value: Any) -> bool:
    """Check the patterns of an item, so that a malformed evidence id costs that item and not the whole answer."""
    if isinstance(value, dict):
        return all(_follows_patterns(field, value.get(name)) for name, field in schema.get("properties", {}).items())
    return "pattern" not in schema or (isinstance(value, str) and re.search(schema["pattern"], value) is not None)


def _text(schema: Schema, value: str) -> str:
    if "pattern" in schema:
        return value.strip(" []()").upper()
    if "enum" in schema or "const" in schema:
        choices = schema.get("enum") or [schema["const"]]
        known = {_plain(choice): choice for choice in choices if isinstance(choice, str)}
        return known.get(_plain(value), value.strip())
    return shorten(mask(value.replace("\x00", "")), schema.get("maxLength"))


def _plain(value: str) -> str:
    """Return the value of an enumeration without the differences in which small models write it."""
    return value.strip().casefold().replace(" ", "_").replace("-", "_")


def shorten(text: str, limit: int | None) -> str:
    """Cut to this many characters, ellipsis included, without leaving half a citation such as ``[E1``."""
    text = text.strip()
    if limit is None or len(text) <= limit:
        return text
    return re.sub(r"\s*\[[^\]]{0,20}$", "", text[: limit - 1]).rstrip() + "…"
