"""Lay out a comment on a terminal."""

import io
import os
import re
import shutil

from rich.console import Console
from rich.markdown import Markdown

from bot.report.sanitise import visible

_WIDTH = 110
_FOLD = re.compile(r"<details><summary>([^<]{1,200})</summary>")


def render_terminal(comment: str, *, width: int | None = None, colour: bool | None = None) -> str:
    """Lay out the Markdown of a comment, its folds open; in colours unless ``NO_COLOR`` is set."""
    colour = not os.environ.get("NO_COLOR") if colour is None else colour
    out = io.StringIO()
    # The default if the terminal reports no columns, as under ``docker run -t``.
    width = width or min(shutil.get_terminal_size((_WIDTH, 24)).columns, _WIDTH)
    console = Console(file=out, force_terminal=colour, no_color=not colour, width=width, highlight=False)
    # Without the invisible characters that keep mentions and references from acting on GitHub.
    console.print(Markdown(_FOLD.sub(r"**\1**", visible(comment)), hyperlinks=False))
    return "\n".join(line.rstrip() for line in out.getvalue().rstrip("\n").split("\n"))
