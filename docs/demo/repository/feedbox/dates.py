"""Dates as feeds write them."""

from datetime import datetime, timedelta, timezone

_ZONES = {"GMT": 0, "UTC": 0, "EST": -5, "EDT": -4, "PST": -8, "PDT": -7}


def parse_date(text):
    """Parse an RFC 822 or ISO 8601 date; the result is always aware of its zone."""
    text = text.strip()
    if "T" in text and text[4:5] == "-":
        return datetime.fromisoformat(text.replace("Z", "+00:00"))
    return _parse_rfc822(text)


def _parse_rfc822(text):
    """``Tue, 03 Jun 2025 09:39:21 GMT``, with or without the day's name."""
    if "," in text:
        text = text.split(",", 1)[1].strip()
    day, month, year, clock, zone = text.split()
    moment = datetime.strptime(f"{day} {month} {year} {clock}", "%d %b %Y %H:%M:%S")
    return moment.replace(tzinfo=_zone(zone))


def _zone(name):
    """A zone by its name or its offset."""
    if name[0] in "+-":
        return timezone(timedelta(hours=int(name[1:3]), minutes=int(name[3:5])))
    return timezone(timedelta(hours=_ZONES[name]))
