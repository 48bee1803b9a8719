"""Texts that would act through a comment of ours, and values filled with them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any, get_origin

from hypothesis import strategies as st
from pydantic import BaseModel

FRAGMENTS = (
    *("https://evil.example", "_https://evil.example", "1https://evil.example", "éhttps://evil.example"),
    *(
        "x_www.evil.example",
        "www.evil.example",
        "WWW.evil.example",
        "HTTPS://evil.example/a_(b)",
        "http:",
        "//evil.example",
    ),
    *("ftp://evil.example", "0ftp://evil.example", "xmpp:a@evil.example/x", "mailto:a@evil.example", "a@evil.example"),
    *(
        "a@-evil.example",
        "a.b+c@_x.example",
        "ssh://evil.example",
        "https\u200b://evil.example",
        "hxxps://evil.example",
    ),
    *("&#104;ttps://evil.example", "https&colon;//evil.example", "https\\://evil.example", "<https://evil.example>"),
    *(
        "[a](https://evil.example)",
        "[a][b]",
        "[b]: https://evil.example",
        "![a](https://evil.example/p.png)",
        "![a][b]",
    ),
    *("[a](javascript:alert(1))", "[^1]", "[^1]: note", "[x]", "- [ ] ", "[!WARNING]", "](https://evil.example)"),
    *("@octocat", "(@octocat", "_@octocat", "@acme/core", "&commat;octocat", "@\u2060octocat", "\uff20octocat", "@"),
    *("#12", "GH-12", "gh-7", "acme/app#12", "acme#12", "&#35;12", "#", "GH-", "12", "fixes #3"),
    *("a1b2c3d4" * 5, "a1b2c3d", "acme/app@" + "a1b2c3d4" * 5, "https://github.com/acme/app/issues/1"),
    *("$", "$$", "$x^2$", "$$x$$", "$`x`$", "\\$x$", "${HOME}", "a$b$c", "```math", "\\(x\\)", "\\[x\\]", "$\u2060x$"),
    *(
        "<img src=x>",
        "<!--",
        "-->",
        "</details>",
        "<details>",
        "<script>",
        "<?php",
        "<![CDATA[",
        "<!x>",
        "</td>",
        "<b>",
    ),
    *("`", "``", "```", "~~~", "\\", "\\`", "|", "\\|", "`a|b`", "|---|", "---", "===", "~~x~~", "**", "__", "_", "*"),
    *(":smile:", ":octocat:", ":+1:", "::", ":100:", "a.py:12:5:", ":", "std::vector::iterator"),
    *(
        "\n",
        "\n\n",
        "\r\n",
        "    ",
        "\t",
        "> ",
        "# ",
        "1. ",
        "1) ",
        "+ ",
        "- ",
        "/close",
        "/triage stop",
        "\u2028",
        "\x0b",
    ),
    *(
        " ",
        "a",
        "é",
        "ſ",
        "\u212a",
        "1",
        "\u200b",
        "\u202e",
        "\u2060",
        "\ufeff",
        "\u00ad",
        "\u00a0",
        "\u3164",
        "\ud800",
        "\x00",
    ),
)
SIGNS = "@#`<>[]()!|\\*_~&;:/-$+=.^{}'\" \n\r\t\u200b\u202e\u2060"
HOSTILE = st.one_of(
    st.lists(st.sampled_from(FRAGMENTS), max_size=8).map("".join),
    st.lists(st.sampled_from(FRAGMENTS), max_size=8).map(" ".join),
    st.text(st.characters() | st.sampled_from(SIGNS), max_size=80),
)
_LONGEST = 300


def filled(value: Any, texts: Iterator[str], *, keep: frozenset[str] = frozenset()) -> Any:
    """Return a copy of a value in which each free text is replaced by the next hostile one.

    Args:
        value: a pydantic model or a dataclass.
        texts: an endless supply.
        keep: names of fields without untrusted text.
    """
    if isinstance(value, str):
        return next(texts)[:_LONGEST]
    if isinstance(value, tuple):
        return tuple(filled(item, texts, keep=keep) for item in value)
    if isinstance(value, dict):
        return {name: filled(item, texts, keep=keep) for name, item in value.items()}
    if isinstance(value, BaseModel):
        free = {
            name: getattr(value, name) for name, info in type(value).model_fields.items() if _is_free(info.annotation)
        }
        return value.model_copy(update={n: filled(v, texts, keep=keep) for n, v in free.items() if n not in keep})
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        free = {f.name: getattr(value, f.name) for f in dataclasses.fields(value) if "State" not in str(f.type)}
        return dataclasses.replace(value, **{n: filled(v, texts, keep=keep) for n, v in free.items() if n not in keep})
    return value


def _is_free(annotation: Any) -> bool:
    """Return whether a field is free text and not one of a fixed set of words."""
    return "Literal" not in str(annotation) and get_origin(annotation) is not type
