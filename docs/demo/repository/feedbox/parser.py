"""Feeds in XML become entries."""

from dataclasses import dataclass
from datetime import datetime
from xml.etree import ElementTree

from feedbox.dates import parse_date

ATOM = "{http://www.w3.org/2005/Atom}"


@dataclass
class Entry:
    """One article of a feed."""

    id: str
    title: str
    published: datetime | None


def parse_feed(xml):
    """All entries of a feed, in the order of the file."""
    root = ElementTree.fromstring(xml)
    if root.tag == f"{ATOM}feed":
        return [_atom_entry(node) for node in root.iter(f"{ATOM}entry")]
    return [_rss_entry(node) for node in root.iter("item")]


def _rss_entry(node):
    date = node.findtext("pubDate")
    guid = node.findtext("guid") or node.findtext("link") or ""
    return Entry(guid, node.findtext("title") or "", parse_date(date) if date else None)


def _atom_entry(node):
    date = node.findtext(f"{ATOM}updated")
    return Entry(
        node.findtext(f"{ATOM}id") or "", node.findtext(f"{ATOM}title") or "", parse_date(date) if date else None
    )
