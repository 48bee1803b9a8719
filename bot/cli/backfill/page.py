"""The plan of a backfill as one HTML page, without scripts and remote resources, for light and dark mode."""

from __future__ import annotations

from html import escape

from bot.cli.backfill.plan import Plan, PlannedIssue, describe
from bot.report.sanitise import plain

_STYLE = """
  :root { color-scheme: light dark; } body { font: 15px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto;
  padding: 0 1rem; } table { border-collapse: collapse; width: 100%; } th, td { text-align: left; padding: .3rem .6rem;
  border-bottom: 1px solid #8886; vertical-align: top; } td:first-child { white-space: nowrap; }
  td { overflow-wrap: anywhere; }
"""
_PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<h1>{title}</h1>
<ul>
{facts}
</ul>
<table>
<thead><tr><th>Issue</th><th>Title</th><th>Opened</th><th>Comments</th><th>What happens</th></tr></thead>
<tbody>
{rows}
</tbody>
</table>
</body>
</html>
"""


def draw_page(plan: Plan) -> str:
    """Return the page: the plan, and a row for each listed issue."""
    return _PAGE.format(
        title=escape(f"Backfill of {plan.repository}"),
        style=_STYLE,
        facts="\n".join(f"<li>{escape(line)}</li>" for line in describe(plan)),
        rows="\n".join(map(_row, plan.issues)),
    )


def _row(one: PlannedIssue) -> str:
    issue = one.issue
    number = f"#{issue.ref.number}"
    safe = issue.url.startswith(("https://", "http://"))
    link = f'<a href="{escape(issue.url)}" rel="noreferrer">{number}</a>' if safe else number
    happens = f"{one.state}: {one.reason}" if one.reason else one.state
    cells = (link, *map(escape, (plain(issue.title), issue.created_at[:10], str(issue.comments or 0), happens)))
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
