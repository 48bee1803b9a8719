"""The command line: fetch each feed, print what is new."""

import argparse
from urllib.request import urlopen

from feedbox.parser import parse_feed
from feedbox.store import SeenStore


def main(argv=None):
    """Fetch feeds and print the titles of new entries, newest first."""
    options = _options(argv)
    store = SeenStore(options.store)
    for url in options.feeds:
        entries = store.new_entries(parse_feed(fetch(url)))
        for entry in sort_entries(entries):
            print(f"{entry.published:%Y-%m-%d}  {entry.title}" if entry.published else entry.title)
        store.remember(entries)


def fetch(url):
    """Download a feed."""
    with urlopen(url, timeout=20) as answer:
        return answer.read()


def sort_entries(entries):
    """Newest first; entries without a date come last."""
    return sorted(entries, key=lambda entry: (entry.published is not None, entry.published), reverse=True)


def _options(argv):
    parser = argparse.ArgumentParser(prog="feedbox")
    parser.add_argument("feeds", nargs="+")
    parser.add_argument("--store", default="seen.json")
    return parser.parse_args(argv)
