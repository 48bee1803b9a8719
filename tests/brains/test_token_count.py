"""The estimate of tokens, compared with the larger count of two vocabularies."""

from __future__ import annotations

import pytest

from nodes.brains.fence import estimate, squeeze

COUNTED = [
    pytest.param(
        "The parser reads the configuration file and then it fails with an unexpected error. ", 301, id="prose"
    ),
    pytest.param(
        "    def dispatch_request(self, ctx: AppContext) -> ft.ResponseReturnValue:\n        req = ctx.request\n",
        460,
        id="python",
    ),
    pytest.param('{"kind":"open","what":"src/app.py","start_line":10,"end_line":40}', 420, id="json"),
    pytest.param("d16bfe05a744909de4b27f5875fe0d4ed41ce607 ", 461, id="hex"),
    pytest.param("当配置文件为空时程序会崩溃，请修复这个问题。", 380, id="chinese"),
    pytest.param("Программа падает, если файл конфигурации пуст. ", 361, id="russian"),
    pytest.param("🔥🚀👀", 180, id="emoji"),
    pytest.param("!function(e,t){var n=e.a,r=t.b;return n(r,function(o){i=o.c(1,2,3)})}(x,y);", 680, id="minified"),
    pytest.param("SQLITE_MAX_VARIABLE_NUMBER ENOENT EACCES HTTP_X_FORWARDED_FOR ", 322, id="capitals"),
]


@pytest.mark.parametrize(("text", "counted"), COUNTED)
def test_an_estimate_is_seldom_too_low(text: str, counted: int) -> None:
    assert counted * 0.86 <= estimate(text * 20) <= counted * 2.2


@pytest.mark.parametrize("most", [20, 200])
@pytest.mark.parametrize("text", ["", "word " * 5_000, "🔥" * 5_000, "x" * 50_000, "\n" * 5_000])
def test_a_compressed_text_fits(text: str, most: int) -> None:
    squeezed = squeeze(text, most)
    assert estimate(squeezed) <= most
    assert squeeze("short", 20) == "short"
