"""Shared parts of our SVG drawings: size, title and a text description for screen readers."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape


def picture(size: tuple[int, int], title: str, summary: str, parts: Iterable[str], *, name: str = "") -> str:
    """Return a self-contained SVG: no script, no font, no external resource.

    Args:
        size: width and height.
        title: names what the drawing shows.
        summary: describes the drawing in words.
        parts: SVG elements; the caller has escaped all external text.
        name: prefix that keeps its ids unique on a page, and its CSS class.
    """
    width, height = size
    own = f"{name}-" if name else ""
    shown = f' class="{name}"' if name else ""
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
            f'aria-labelledby="{own}t {own}d" width="{width}" height="{height}"{shown}>',
            f'<title id="{own}t">{escape(title)}</title><desc id="{own}d">{escape(summary)}</desc>',
            *parts,
            "</svg>\n",
        )
    )


def text(x: float, y: float, summary: str, style: str = "small", anchor: str = "") -> str:
    """Return an escaped line of text; ``anchor`` is ``middle`` or ``end``, or empty if the text starts at ``x``."""
    where = f' text-anchor="{anchor}"' if anchor else ""
    return f'<text class="{style}" x="{x:.1f}" y="{y:.1f}"{where}>{escape(summary)}</text>'
