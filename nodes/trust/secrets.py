"""Mask secrets in text before it leaves the program."""

import re

from nodes.search.lazy import lazy

MASK = "[masked]"
_PLACEHOLDER = lazy(r"(?i)x{4}|0{6}|\.{3}|example|your[-_]")
_KEY_LENGTH = 200
"""Characters. A shorter match is the header of a private key without a key, as in examples."""

# Each repetition is bounded or ends at a character that it cannot match itself, and no match may start inside
# another's run, so hostile text costs linear time. Before each pattern: the texts of which a match contains one. A
# search for them is faster than the pattern by far, and most texts have none.
_TOKENS = tuple(
    (needles.split(), lazy(pattern))
    for needles, pattern in (
        (
            "PRIVATE",
            r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
            r"(?:[^-]|-(?!----)){0,20000}(?:-----END [A-Z0-9 ]{0,50}-----)?",
        ),
        ("gho_ ghp_ ghs_ ghu_ ghr_", r"(?<![A-Za-z0-9])gh[opsur]_[A-Za-z0-9_.\-]{16,}"),
        ("github_pat_", r"(?<![A-Za-z0-9])github_pat_[A-Za-z0-9_]{16,}"),
        ("gl", r"(?<![A-Za-z0-9])gl[a-z]{2,5}-[A-Za-z0-9_\-]{20,}"),
        ("sk-", r"(?<![\w-])sk-(?=[A-Za-z_\-]{0,100}\d)[A-Za-z0-9_\-]{16,}"),
        ("k_live_ k_test_", r"(?<![A-Za-z0-9])[rs]k_(?:live|test)_[A-Za-z0-9]{10,}"),
        ("AKIA ASIA", r"(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
        ("AIza", r"(?<![A-Za-z0-9])AIza[A-Za-z0-9_\-]{35}"),
        ("xox xapp-", r"(?<![A-Za-z0-9])x(?:ox[a-z]|app)-[A-Za-z0-9\-]{10,}"),
        ("npm_ hf_", r"(?<![A-Za-z0-9])(?:npm|hf)_[A-Za-z0-9]{30,}"),
        ("pypi-", r"(?<![A-Za-z0-9])pypi-[A-Za-z0-9_\-]{40,}"),
        ("eyJ", r"(?<![\w-])eyJ[A-Za-z0-9_\-]{10,}\.[A-Za-z0-9_\-]{10,}(?:\.[A-Za-z0-9_\-]*)?"),
    )
)
_SCHEMES = lazy(r"(?i)bearer |basic ")
_OF_SCHEMES = (
    lazy(r"(?i)(?<=\bbearer )[a-z0-9._~+/=\-]{20,}"),
    lazy(r"(?i)(?<=\bbasic )[a-z0-9+/]{20,}={0,2}(?![a-z0-9])"),
)
_IN_URL = lazy(r"(?<=://)[^\s/:@]{1,64}:[^\s/@]{1,200}(?=@)")


def mask(text: str) -> str:
    """Replace tokens, keys and passwords in URLs with a mask; idempotent."""
    for pattern in _possible(text):
        text = pattern.sub(MASK, text)
    for pattern in _OF_SCHEMES if _SCHEMES.search(text) else ():
        text = pattern.sub(MASK, text)
    return _IN_URL.sub(MASK, text) if "://" in text else text


def _possible(text: str) -> list[re.Pattern[str]]:
    """Return the patterns of tokens that may match in a text."""
    return [pattern for needles, pattern in _TOKENS if any(needle in text for needle in needles)]


def holds_token(text: str) -> bool:
    """Return whether a text contains a token or key that may be real; placeholders and sample JWTs do not count."""
    found = [match[0] for pattern in _possible(text) for match in pattern.finditer(text)]
    tokens = (token for token in found if not token.startswith(("-----BEGIN", "eyJ")))
    keys = (token for token in found if token.startswith("-----BEGIN"))
    return any(len(key) > _KEY_LENGTH for key in keys) or any(not _PLACEHOLDER.search(token) for token in tokens)
