"""What every drawing of ours has: a size, a title, and words for whoever cannot see it."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape


def picture(size: tuple[int, int], title: str, said: str, parts: Iterable[str], *, name: str = "") -> str:
    """An SVG of its own: no script, no font, nothing fetched.

    Args:
        size: width and height.
        title: what it shows.
        said: what is to be seen in it, in words.
        parts: SVG, with whatever came from outside escaped.
        name: sets its ids apart from those of other drawings on the page, and is its class.
    """
    width, height = size
    own = f"{name}-" if name else ""
    shown = f' class="{name}"' if name else ""
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
            f'aria-labelledby="{own}t {own}d" width="{width}" height="{height}"{shown}>',
            f'<title id="{own}t">{escape(title)}</title><desc id="{own}d">{escape(said)}</desc>',
            *parts,
            "</svg>\n",
        )
    )


def text(x: float, y: float, said: str, style: str = "small", anchor: str = "") -> str:
    """A line of text, escaped; ``anchor`` is ``middle`` or ``end`` where it does not begin there."""
    where = f' text-anchor="{anchor}"' if anchor else ""
    return f'<text class="{style}" x="{x:.1f}" y="{y:.1f}"{where}>{escape(said)}</text>'
