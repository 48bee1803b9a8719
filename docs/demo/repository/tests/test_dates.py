from datetime import timedelta

from feedbox.dates import parse_date


def test_a_named_zone():
    assert parse_date("Tue, 03 Jun 2025 09:39:21 EDT").utcoffset() == timedelta(hours=-4)


def test_iso():
    assert parse_date("2025-06-03T09:39:21Z").utcoffset() == timedelta(0)
