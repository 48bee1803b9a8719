"""Secrets are masked, ordinary text is not, and hostile text costs linear time."""

from __future__ import annotations

import pytest

from nodes.trust.secrets import MASK, holds_token, mask
from tests.support.growth import assert_linear

KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\nabc=\n-----END RSA PRIVATE KEY-----"


@pytest.mark.tried("secrets that must be masked")
@pytest.mark.parametrize(
    "secret",
    [
        pytest.param("ghp_" + "aB3" * 12, id="personal"),
        pytest.param("ghs_" + "aB3" * 12, id="installation"),
        pytest.param("ghs_" + "eyJhbGciOiJ.IUzI1-NiJ9_" * 20, id="long-installation"),
        pytest.param("github_pat_" + "11ABCDE0_" * 9, id="fine-grained"),
        pytest.param("sk-" + "a1B2" * 12, id="openai"),
        pytest.param("sk-ant-api03-" + "a1-B2_" * 10, id="anthropic"),
        pytest.param("AKIAIOSFODNN7EXAMPLE", id="aws"),
        pytest.param("xoxb-" + "1234567890-abcdef", id="slack"),
        pytest.param("glpat-" + "x" * 20, id="gitlab"),
        pytest.param("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w", id="jwt"),
        pytest.param(KEY, id="private-key"),
        pytest.param(KEY.replace("\n", "\\n"), id="private-key-on-a-line"),
    ],
)
def test_a_secret_is_masked(secret):
    assert mask(f"before {secret} after") == f"before {MASK} after"
    assert mask(f'token="{secret}"') == f'token="{MASK}"'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Authorization: Bearer abcdef0123456789abcdef", f"Authorization: Bearer {MASK}"),
        ("authorization: basic dXNlcjpwYXNzd29yZDEyMw==", f"authorization: basic {MASK}"),
        ("postgres://me:hunter2@db/x", f"postgres://{MASK}@db/x"),
    ],
)
def test_the_text_around_a_secret_stays(text, expected):
    assert mask(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "task-runner-with-a-long-name-1234567890",
        "import sk-learn-contrib-package-name",
        "See https://example.com:8080/a@b and commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
        "def ghp_helper(): ...",
        "basic functionality",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
    ],
)
def test_ordinary_text_stays(text):
    assert mask(text) == text


def test_masking_is_idempotent():
    once = mask(f"{KEY} ghp_{'a' * 36}")
    assert mask(once) == once


@pytest.mark.tried("texts made to be slow to read")
@pytest.mark.parametrize(
    "piece",
    [
        "-----BEGIN RSA PRIVATE KEY-----",
        "sk-",
        "ghp_a",
        "eyJ",
        "eyJaaaaaaaaaa.",
        "bearer ",
        "basic aaaa",
        "://a:",
        "xoxb-",
        "gl-",
    ],
)
def test_hostile_text_costs_linear_time(piece):
    assert_linear(mask, lambda size: piece * (size // len(piece)), 200_000)


@pytest.mark.parametrize(
    ("text", "real"),
    [
        pytest.param("export TOKEN=ghp_Zk3vQ9xLmB7tR2sWcY5nJ8dF1hG4pA6eUoXi", True, id="github"),
        pytest.param("AKIAIOSFODNN7QRSTUVW", True, id="cloud-key"),
        pytest.param(
            "-----BEGIN RSA PRIVATE KEY-----\n" + "MIIEow9k" * 40 + "\n-----END RSA PRIVATE KEY-----", True, id="key"
        ),
        pytest.param("AKIAIOSFODNN7EXAMPLE", False, id="sample-of-the-manual"),
        pytest.param("ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", False, id="placeholder"),
        pytest.param("it expects -----BEGIN RSA PRIVATE KEY----- here", False, id="armour-without-a-key"),
        pytest.param("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N", False, id="sample-jwt"),
        pytest.param("postgres://user:password@localhost/db", False, id="address"),
        pytest.param("it crashes in parse()", False, id="nothing"),
    ],
)
def test_a_leak_is_distinguished_from_an_example(text: str, real: bool) -> None:
    assert holds_token(text) is real
