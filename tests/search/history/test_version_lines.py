"""Lines with versions as people write them: forms, tables, tags of packages and images, file names, languages."""

from __future__ import annotations

import pytest

from nodes.search.history.claims import read_claims
from nodes.search.issue.mentions.found import find_mentions

PAIR = "good 2.1.0, bad 2.2.0"
LINES = (
    ("### Expected (2.1.0)\n\nThe title is printed.\n\n### Actual (2.2.0)\n\nNothing is printed.", PAIR),
    ("**Expected behaviour (as in 2.1.0)**\nA title.\n\n**Actual behaviour (2.2.0)**\nAn empty line.", PAIR),
    ("Expected output (2.1.0):\n```\nabc\n```\nActual output (2.2.0):\n```\nab\n```", PAIR),
    ("Before (2.1.0): `abc`\nAfter (2.2.0): `ab`", PAIR),
    ("Das gibt es seit 4.0 nicht mehr, mit 3.38 blieb der Titel stehen.", "good 3.38, bad 4.0"),
    ("Seit 4.0 verschwindet der Titel nach dem Laden. Mit 3.38 blieb er.", "good 3.38, bad 4.0"),
    ("I upgraded kettle-core from 2.1.0 to 2.2.0 and the title vanished.", PAIR),
    ("After the update to 2.1.0 and 2.2.0 it crashes. 2.0.0 worked.", "bad 2.1.0, bad 2.2.0, good 2.0.0"),
    ("Upgraded my kettle install (2.1.0 → 2.2.0), titles vanished.", PAIR),
    ("Renovate bumped `@acme/kettle` 2.1.0 => 2.2.0, since then no titles.", PAIR),
    ("kettle-core@2.1.0 works, kettle-core@2.2.0 is broken", PAIR),
    ("@acme/core@2.1.0 fine\n@acme/core@2.2.0 throws", PAIR),
    ("kettle-2.1.0.tar.gz builds, kettle-2.2.0.tar.gz does not build", PAIR),
    ("kettle_2.1.0_amd64.deb starts fine, kettle_2.2.0_amd64.deb crashes on start", PAIR),
    ("Kettle-Setup-2.2.0.exe crashes, Kettle-Setup-2.1.0.exe didn't.", PAIR),
    ("Docker: acme/kettle:2.1.0 starts, acme/kettle:2.2.0 exits with 1", PAIR),
    ("`ghcr.io/acme/kettle:v2.2.0` fails to boot; with the tag `v2.1.0` it boots.", PAIR),
    ("### Last working version\n\n2.1.0\n\n### Broken version\n\n2.2.0", PAIR),
    ("**kettle version (`kettle --version`)**: 2.2.0", "affected 2.2.0"),
    ("kettle --version\nkettle 2.2.0 (a1b2c3d 2026-01-05)", "affected 2.2.0"),
    ("The bug is present in 2.2.0 and absent in 2.1.0.", PAIR),
    ("git bisect says 5ceaf146861 is the first bad commit (between 2.1.0 and 2.2.0)", PAIR),
    ("Reproducible on main (5ceaf146861) and 2.2.0; 2.1.0 is not affected.", PAIR),
    ("Yesterday I updated to 2.2.0. Everything was OK with 2.1.0.", PAIR),
    ("2.1.0 prints it. 2.2.0 doesn't print it anymore.", PAIR),
    ("It has been broken ever since the 2.2.0 update; I went back to 2.1.0 meanwhile.", PAIR),
    ("Works on my old phone with 2.1.0, on the new one with 2.2.0 it closes.", PAIR),
    ("In der 2.1.0 war das noch in Ordnung, die 2.2.0 zeigt nur noch eine leere Seite.", PAIR),
    ("Après la mise à jour 2.2.0 plus de titre, je suis revenu en 2.1.0.", PAIR),
    ("Tras actualizar a la 2.2.0 ya no aparece el título (con la 2.1.0 sí aparecía).", PAIR),
    ("升级到 2.2.0 之后标题没了，之前的 2.1.0 一切正常。", PAIR),
    ("2.2.0にしたらタイトルが消えました。2.1.0では出ていました。", PAIR),
    ("2.1.0에서는 잘 되던 것이 2.2.0에서 안 됩니다.", PAIR),
    ("Po wgraniu 2.2.0 tytuły znikły, na 2.1.0 były.", PAIR),
    ("С версией 2.2.0 заголовок пустой, а с 2.1.0 всё показывалось.", PAIR),
    ("Got (2.2.0): `ab`. Wanted (as in 2.1.0): `abc`.", PAIR),
    ("`pip install kettle==2.1.0` fixes it for me (broken: 2.2.0)", PAIR),
    ("It's only in 2.2.0, 2.1.0 didn't have it.", PAIR),
    ("Mit 2.2.0 kommt nur noch eine weiße Seite. 2.1.0 lief ohne Probleme.", PAIR),
    ("Version 2.2.0 stürzt ab, Version 2.1.0 nicht.", PAIR),
    ("Bij versie 2.1.0 ging het goed, sinds 2.2.0 niet meer.", PAIR),
    ("En 2.2.0 se cierra solo. En 2.1.0 nunca pasaba.", PAIR),
    ("Na 2.2.0 trava ao abrir, na 2.1.0 não travava.", PAIR),
    ("La 2.2.0 va in crash, la 2.1.0 no.", PAIR),
    ("Avec 2.2.0 la page reste blanche, ce n'était pas le cas en 2.1.0.", PAIR),
    ("Sürüm 2.2.0 çöküyor, 2.1.0 sorunsuz çalışıyordu.", PAIR),
    ("После 2.2.0 перестало открываться; откатился на 2.1.0 — открывается.", PAIR),
    ("2.2.0 无法启动，换回 2.1.0 就可以。", PAIR),
    ("2.2.0 版标题是空白，2.1.0 版能显示", PAIR),
    ("2.2.0で起動しない。2.1.0に戻すと起動する。", PAIR),
    ("2.2.0 업데이트 후 제목이 안 보입니다. 2.1.0에서는 보였습니다.", PAIR),
    ("Before the 2.2.0 release all of this worked.", "bad 2.2.0"),
)
SINGLE = (
    "It does not print with 2.2.0. I have not tried 2.1.0.",
    "Tested in 2.1.0, not presently in a position to install 2.2.0+.",
    "2.2.0 prints nothing. I don't know whether 2.1.0 did.",
    "Titles are not printed.\n\n- kettle: 2.2.0\n- kettle-cli: 2.1.0",
    "numpy 2.1.0 is installed, 2.2.0 is not.",
    "Expected: 2.1.0 prints the title.",
    "kettle 2.2.0 does not start. Python 3.12.1 is installed.",
)
"""Texts that compare no two versions of the project."""
NAMES = (
    ("Seit 4.0 verschwindet der Titel.", ("4.0",)),
    ("Mit 2.2.0 kommt eine leere Seite. 2.1.0 lief.", ("2.2.0", "2.1.0")),
    ("Output of 2.1.0: abc", ("2.1.0",)),
    ("with the tag `v2.1.0` it boots", ("2.1.0",)),
    ("image: acme/kettle:2.2.0-alpine (2.1.0-alpine was ok)", ("acme/kettle 2.2.0", "2.1.0")),
    ("Affected: 2.2.0, not affected: 2.1.0", ("2.2.0", "2.1.0")),
    ("Beim Wechsel von 2.1.0 auf 2.2.0", ("2.1.0", "2.2.0")),
    ("Same as 2.1.0", ("2.1.0",)),
)


def _claimed(text: str) -> set[str]:
    return {f"{claim.part} {claim.text}" for claim in read_claims("Titles are missing", text).versions}


@pytest.mark.parametrize(("text", "claims"), LINES, ids=[text[:40] for text, _ in LINES])
def test_a_line_with_versions(text: str, claims: str) -> None:
    assert _claimed(text) == set(claims.split(", "))


@pytest.mark.parametrize("text", SINGLE, ids=[text[:30] for text in SINGLE])
def test_versions_are_not_compared_without_a_contrast(text: str) -> None:
    assert not any(claim.startswith("good") for claim in _claimed(text))


@pytest.mark.parametrize(("text", "versions"), NAMES, ids=[text[:30] for text, _ in NAMES])
def test_no_other_word_is_taken_for_the_name_of_a_version(text: str, versions: tuple[str, ...]) -> None:
    assert find_mentions(text).versions == versions
