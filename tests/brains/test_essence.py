"""What a long issue loses first: its environment, frames of libraries, then its middle."""

from __future__ import annotations

import pytest

from nodes.brains.fence import estimate
from nodes.brains.shared import essence

WORDS = "The parser drops the sign of the zone. " * 20
ENVIRONMENT = "### Environment\n- OS: Linux\n- Python: 3.12\n" + "".join(f"package{n} 1.2.{n}\n" for n in range(60))
TRACE = (
    "Traceback (most recent call last):\n"
    + "".join(f'  File "/venv/site-packages/lib{n}.py", line {n}, in call\n    call({n})\n' for n in range(60))
    + '  File "app/zones.py", line 7, in parse\n    return sign\nValueError: no sign\n'
)
LOGCAT = "".join(f"{' ' * 60}at android.view.View{n}.measure(View.java:{n})\n" for n in range(60)) + (
    f"{' ' * 60}at demo.app.Zones.parse(Zones.java:7)\n"
)
TWICE = "".join(
    f"07-27 13:55:24.2{log} 24931 24931 W {log}.err:    at io.lib.View{n}.measure(View.java:{n})\n"
    for log in ("System", "Runtime")
    for n in range(20)
) + ("07-27 13:55:24.303 24931 24931 E Runtime:    at demo.app.Zones.parse(Zones.java:7)\n")
NOTEBOOK = "".join(
    f"/usr/lib/python3/dist-packages/lib{n}.py in call(self, a)\n     {n} \n---> {n + 1}   call({n})\n\n"
    for n in range(60)
) + (
    "/usr/lib/python3/dist-packages/zones/parse.py in parse(text)\n      6 \n----> 7     return sign\n\n"
    "ValueError: no sign\n"
)
SECTION = "### Steps\nRun it.\n"


@pytest.mark.parametrize(
    ("text", "tokens", "kept", "gone"),
    [
        pytest.param(f"{WORDS}\n{ENVIRONMENT}", 2_000, ["package59"], [], id="short-texts-stay-whole"),
        pytest.param(
            f"{WORDS}\n{ENVIRONMENT}\n{SECTION}", 260, ["Run it."], ["Linux", "package59"], id="the-environment-next"
        ),
        pytest.param(f"{WORDS}\n{TRACE}", 300, ["app/zones.py", "return sign", "no sign"], ["lib59"], id="libraries"),
        pytest.param(
            f"{WORDS}\n>>> import zones\n{NOTEBOOK}",
            400,
            ["zones/parse.py in parse", "return sign", "no sign"],
            ["lib59"],
            id="a-notebook",
        ),
        pytest.param(f"{WORDS}\n{LOGCAT}", 320, ["demo.app.Zones.parse"], ["View59"], id="an-indented-log"),
        pytest.param(
            f"{WORDS}\n{TWICE}", 1_050, ["demo.app.Zones.parse", "View19"], ["Runtime.err"], id="a-trace-twice"
        ),
        pytest.param("start " + "word " * 5_000 + "end", 200, ["start", "end", "left out"], [], id="the-middle-last"),
    ],
)
def test_the_least_telling_parts_go_first(text: str, tokens: int, kept: list[str], gone: list[str]) -> None:
    short = essence(text, tokens)
    assert estimate(short) <= tokens
    assert [part for part in kept if part not in short] == []
    assert [part for part in gone if part in short] == []
