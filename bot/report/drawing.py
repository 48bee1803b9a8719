"""Shared parts of our SVG drawings: size, title and a text description for screen readers."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape


def picture(
    size: tuple[int, int], title: str, summary: str, parts: Iterable[str], *, name: str = "", links: bool = False
) -> str:
    """Return a self-contained SVG: no script, no font, no external resource.

    Args:
        size: width and height.
        title: names what the drawing shows.
        summary: describes the drawing in words.
        parts: SVG elements; the caller has escaped all external text.
        name: prefix that keeps its ids unique on a page, and its CSS class.
        links: whether parts are links; a screen reader then reads the parts instead of one picture.
    """
    width, height = size
    own, role = f"{name}-" if name else "", "group" if links else "img"
    shown = f' class="{name}"' if name else ""
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="{role}" '
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


def link(address: str, summary: str, part: str) -> str:
    """Return a part as a link; ``summary`` names it for screen readers and is its tooltip."""
    named = escape(summary)
    return f'<a href="{escape(address)}" aria-label="{named}"><title>{named}</title>{part}</a>'


def interval(x: float, low: float, high: float) -> str:
    """Return a vertical line with ends at the bounds of an interval."""
    return f'<path class="interval" d="M{x - 4:.1f} {low:.1f}h8m-4 0V{high:.1f}m-4 0h8"/>'
