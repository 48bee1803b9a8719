"""A good and a bad version are found in any wording, language and spelling of tags, and nowhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nodes.search.git import Repository
from nodes.search.history.claims import read_claims
from nodes.search.history.log import Log
from nodes.search.history.names import own_names
from nodes.search.history.ranges import find_range
from nodes.search.history.types import Range
from tests.search.history.story import Story

if TYPE_CHECKING:
    from pathlib import Path

TAGS = ("v1.8.0", "v1.9.0", "v1.9.1", "v2.0.0", "v2.0.1", "v2.1.0", "v2.2.0", "v2.3.0")
COMPARED = (
    ("en1", "In kettle 2.1.0 the title was printed. Since 2.2.0 it is empty."),
    ("en2", "with 2.1.0 it prints 3, as it should; with 2.2.0 it prints nothing"),
    ("en-pinned", "Pinning kettle<2.2 (i.e. staying on 2.1.0) avoids the empty title, 2.2.0 has it."),
    ("en3", "Upgraded from 2.1.0 to 2.2.0 and now every title is empty."),
    ("en4", "After moving from v2.1.0 to v2.2.0 no title is shown."),
    ("en5", "This is a regression in 2.2.0. 2.1.0 is fine."),
    ("en6", "Regression between 2.1.0 and 2.2.0."),
    ("en6b", "This used to work in 2.1.0 and is broken as of the latest release (2.2.0)."),
    ("en7", "Downgrading to 2.1.0 helps. I am on 2.2.0."),
    ("en8", "Version: 2.2.0\n\nRolling back to 2.1.0 makes the problem go away."),
    ("en9", "I tried 2.1.0 and there was no problem, but 2.2.0 shows the bug."),
    ("en10", "2.2.0 broke the titles, I had to pin 2.1.0."),
    ("en11", "kettle==2.1.0 OK\nkettle==2.2.0 NOT OK"),
    ("en12", "- 2.1.0: works\n- 2.2.0: broken\n- 2.3.0: broken"),
    ("en13", "| version | result |\n|---|---|\n| 2.1.0 | pass |\n| 2.2.0 | fail |"),
    ("en14", "Up to and including 2.1.0 everything was good. 2.2.0 and later: nothing."),
    ("en15", "The last version that works for me is 2.1.0; I'm seeing this with 2.2.0."),
    ("en16", "First bad version: 2.2.0\nLast good version: 2.1.0"),
    ("en17", "Does not happen in 2.1.0, happens in 2.2.0."),
    ("en18", "I can reproduce it with 2.2.0 but can't reproduce it with 2.1.0."),
    ("en19", "Used to work fine in 2.1.0. Current version 2.2.0."),
    ("en20", "2.1.0 was the last one without the bug, 2.2.0 has it."),
    ("en21", "Bumping kettle from 2.1.0 to 2.2.0 makes our tests fail."),
    ("en22", "kettle 2.1.0 -> 2.2.0: titles disappear"),
    ("en24", "This worked fine in the previous release. I use 2.2.0."),
    ("en25", "Started after updating to 2.2.0."),
    ("en26", "Ever since version 2.2.0 titles are gone."),
    ("en27", "Prior to 2.2.0 this was fine."),
    ("en28", "While 2.1.0 renders the title correctly, 2.2.0 leaves it blank."),
    ("en29", "The exact same file is rendered properly by 2.1.0, yet 2.2.0 leaves the title out."),
    ("en30", "No issue on 2.1.0. Crashes on 2.2.0."),
    ("en31", "2.2.0 fails (2.1.0 succeeded)."),
    ("en32", "Reverting to 2.1.0 solves it for now, 2.2.0 is unusable."),
    ("de1", "Seit 2.2.0 fehlen die Titel, mit 2.1.0 blieben sie erhalten."),
    ("de2", "Unter 2.1.0 ging es noch, ab 2.2.0 nicht mehr."),
    ("de3", "Nach dem Update von 2.1.0 auf 2.2.0 sind alle Titel leer."),
    ("de4", "Mit Version 2.1.0 tritt der Fehler nicht auf, mit 2.2.0 schon."),
    ("de5", "In 2.1.0 funktionierte das einwandfrei, in 2.2.0 ist es kaputt."),
    ("fr1", "Depuis la mise à jour de 2.1.0 vers 2.2.0, les titres sont vides."),
    ("fr2", "Ça marchait avec la 2.1.0, ça ne marche plus avec la 2.2.0."),
    ("fr3", "Avec la version 2.2.0 rien ne s'affiche alors qu'avec la 2.1.0 tout allait bien."),
    ("fr4", "Le problème est apparu avec la 2.2.0 ; en 2.1.0 aucun souci."),
    ("es1", "En la 2.1.0 funcionaba bien, desde la 2.2.0 no funciona."),
    ("es2", "Al actualizar de 2.1.0 a 2.2.0 los títulos desaparecen."),
    ("es3", "Con 2.2.0 falla; con 2.1.0 no fallaba."),
    ("pt1", "Na versão 2.1.0 funcionava, na 2.2.0 parou de funcionar."),
    ("pt2", "Depois de atualizar da 2.1.0 para a 2.2.0 os títulos sumiram."),
    ("it1", "Con la 2.1.0 funzionava, con la 2.2.0 non funziona più."),
    ("it2", "Dopo l'aggiornamento dalla 2.1.0 alla 2.2.0 i titoli sono vuoti."),
    ("pl1", "W 2.1.0 działało, w 2.2.0 nie działa."),
    ("pl2", "Po aktualizacji z 2.1.0 do 2.2.0 tytuły są puste."),
    ("ru1", "Не работает с 2.2.0, в 2.1.0 работало."),
    ("ru2", "После обновления с 2.1.0 до 2.2.0 заголовки пропали."),
    ("ru3", "В версии 2.1.0 всё было нормально, начиная с 2.2.0 заголовки пустые."),
    ("ru4", "На 2.1.0 такой ошибки нет, на 2.2.0 есть."),
    ("zh1", "从 2.1.0 升级到 2.2.0 后标题为空。"),
    ("zh2", "2.1.0正常，2.2.0不正常。"),
    ("zh3", "2.2.0 版本开始出现这个问题，2.1.0 版本没有问题。"),
    ("zh4", "更新到2.2.0之后就坏了，退回2.1.0就好了。"),
    ("ja1", "2.1.0 では動いていましたが、2.2.0 から動きません。"),
    ("ja2", "2.1.0から2.2.0にアップデートしたらタイトルが表示されなくなりました。"),
    ("ja3", "2.2.0で発生します。2.1.0では発生しません。"),
    ("ko1", "2.1.0에서는 잘 됐는데 2.2.0부터 안 됩니다."),
    ("ko2", "2.1.0에서 2.2.0으로 업데이트한 후 제목이 사라졌습니다."),
    ("ko3", "2.1.0까지는 그대로 저장되었는데, 2.2.0으로 올린 뒤부터는 바뀝니다."),
    ("ja5", "2.1.0では正常でしたが、2.2.0に上げてから表示されません。"),
    ("nl1", "Met 2.1.0 werkte het, sinds 2.2.0 niet meer."),
    ("nl2", "Na de update van 2.1.0 naar 2.2.0 zijn de titels leeg."),
    ("tr1", "2.1.0 sürümünde çalışıyordu, 2.2.0 sürümünde çalışmıyor."),
    ("uk1", "У 2.1.0 працювало, у 2.2.0 не працює."),
    ("cs1", "Ve verzi 2.1.0 to fungovalo, ve verzi 2.2.0 už ne."),
    ("sign", "2.1.0 ✅, 2.2.0 ❌"),
    ("back", "2.2.0 → 2.1.0 fixes the problem"),
    ("ja4", "2.1.0は問題なし、2.2.0でエラー"),
    ("sv1", "Fungerade i 2.1.0 men inte i 2.2.0."),
)
"""Texts that say that 2.1.0 is good and 2.2.0 bad."""
OTHERS = (
    ("en23", "It worked in the last release, on main it is broken.", "2.3.0 → the commit read"),
    ("last1", "Since the last update nothing is saved. I have 2.2.0.", "2.1.0 → 2.2.0"),
    ("last2", "This started with the latest release.", "2.2.0 → 2.3.0"),
    ("last3", "Seit dem letzten Update ist die Liste leer.", "2.2.0 → 2.3.0"),
    ("last4", "Depuis la dernière mise à jour, la liste est vide.", "2.2.0 → 2.3.0"),
    ("last5", "Desde la última actualización la lista está vacía.", "2.2.0 → 2.3.0"),
    ("last6", "Dopo l'ultimo aggiornamento la lista è vuota.", "2.2.0 → 2.3.0"),
    ("last7", "Desde a última atualização a lista fica vazia.", "2.2.0 → 2.3.0"),
    ("last8", "Od ostatniej aktualizacji lista jest pusta.", "2.2.0 → 2.3.0"),
    ("last9", "После последнего обновления список пустой.", "2.2.0 → 2.3.0"),
    ("last10", "最近一次更新之后列表是空的。", "2.2.0 → 2.3.0"),
    ("last11", "前回のアップデートからリストが空になりました。", "2.2.0 → 2.3.0"),
    ("last12", "최근 업데이트 이후 목록이 비어 있습니다.", "2.2.0 → 2.3.0"),
    ("last13", "Sinds de laatste update is de lijst leeg.", "2.2.0 → 2.3.0"),
    ("last14", "Mit der Vorgängerversion ging es noch. Ich habe 2.2.0.", "2.1.0 → 2.2.0"),
)
NOTHING = (
    ("still", "Initially discovered on 2.1.0 but verified still happens on 2.2.0."),
    ("last-fixed", "After the last update it is fixed, thanks. I use 2.2.0."),
    ("last-used", "I use the latest release, 2.2.0, and see empty titles."),
    ("all", "This happens in 2.2.0, but I guess it's relevant to all versions down to 2.1.0."),
    ("address", "It fails in 2.2.0. Changing 127.0.0.1 to 0.0.0.0 works."),
    ("path", "Set the path to /home/u/work/kettle_v2.1.0/lib, which is a bug."),
    ("no1", "kettle 2.2.0, Python 3.11.2, Ubuntu 22.04"),
    ("no2", "Works with Python 3.11 but not with Python 3.12. kettle 2.2.0."),
    ("no3", "Happens with 2.1.0 and with 2.2.0."),
    ("no4", "Tried 2.1.0, 2.2.0 and 2.3.0, all are affected."),
    ("no6", "Upgrading numpy from 2.1.0 to 2.2.0 breaks kettle 2.3.0."),
    ("no7", "Der Fehler tritt mit 2.1.0 und 2.2.0 auf."),
    ("no8", "Ошибка есть и в 2.1.0, и в 2.2.0."),
    ("no9", "2.1.0 和 2.2.0 都有这个问题。"),
    ("no10", "Fixed in 2.3.0? I have 2.2.0 and see empty titles."),
    ("joined", "版本 2.2.0 / 2.1.0 都不行"),
    ("no12", "It fails with OpenSSL 1.9.1 and works with OpenSSL 1.8.0."),
)
"""Texts that name versions without saying that one worked and a later one failed."""
SCHEMES = (
    ("plain", ("1.2.0", "1.2.1"), "worked in 1.2.0, fails in 1.2.1"),
    (
        "scoped",
        ("@acme/core@1.2.0", "@acme/core@1.2.1"),
        "With `@acme/core@1.2.0` it worked, with `@acme/core@1.2.1` it fails.",
    ),
    ("scoped-by-name", ("@acme/core@1.2.0", "@acme/core@1.2.1"), "core 1.2.0 worked, core 1.2.1 fails"),
    ("folder", ("core/v1.2.0", "core/v1.2.1"), "works with core/v1.2.0, fails with core/v1.2.1"),
    ("folder-by-name", ("core/v1.2.0", "core/v1.2.1"), "works with core 1.2.0, fails with core 1.2.1"),
    ("dashed", ("core-v1.2.0", "core-v1.2.1"), "works with core-v1.2.0, fails with core-v1.2.1"),
    ("release", ("release-1.2", "release-1.3"), "works with 1.2, fails with 1.3"),
    ("release-as-written", ("release-1.2", "release-1.3"), "works with release-1.2, fails with release-1.3"),
    ("upper-case", ("REL_1_2", "REL_1_3"), "works with REL_1_2, fails with REL_1_3"),
    ("upper-case-by-number", ("REL_1_2", "REL_1_3"), "works with 1.2, fails with 1.3"),
    ("flavour", ("v1.2.0-foss", "v1.2.1-foss"), "works with 1.2.0, fails with 1.2.1"),
    ("flavour-as-written", ("v1.2.0-foss", "v1.2.1-foss"), "works with v1.2.0-foss, fails with v1.2.1-foss"),
    ("calendar", ("2024.5.1", "2024.6.0"), "2024.5.1 works, 2024.6.0 fails"),
    ("days", ("2024-05-01", "2024-06-01"), "2024-05-01 works, 2024-06-01 fails"),
    ("named-days", ("build-2024-05-01", "build-2024-06-01"), "build-2024-05-01 works, build-2024-06-01 fails"),
    ("days-without-dashes", ("20240501", "20240601"), "20240501 works, 20240601 fails"),
    ("of-java", ("1.2.0.RELEASE", "1.2.1.RELEASE"), "works with 1.2.0, fails with 1.2.1"),
    (
        "jar",
        ("v0.28.0", "v0.28.4"),
        "It worked with lint-server-0.28.0-exec.jar and fails with lint-server-0.28.4-exec.jar.",
    ),
    ("apk", ("v1.2.3", "v1.2.4"), "Everything was fine with app-v1.2.3.apk. app-v1.2.4.apk crashes."),
    ("deb", ("1.2.3", "1.2.4"), "tool_1.2.3_amd64.deb works, tool_1.2.4_amd64.deb does not"),
    ("wheel", ("1.2.3", "1.2.4"), "acme-1.2.3-py3-none-any.whl works, acme-1.2.4-py3-none-any.whl fails"),
    ("installer", ("v1.2.3", "v1.2.4"), "Acme_Setup_1.2.3.exe works, Acme_Setup_1.2.4.exe fails"),
    ("archive", ("v1.2.3", "v1.2.4"), "acme-1.2.3.tar.gz builds fine, acme-1.2.4.tar.gz fails"),
)


def _tagged(folder: Path, tags: tuple[str, ...]) -> Repository:
    story = Story()
    files = {"kettle/title.py": "x = 0\n", "pyproject.toml": '[project]\nname = "kettle"\n'}
    story.commit("2024-01-01", files)
    for number, tag in enumerate(tags):
        story.tag(tag, story.commit(f"2024-{number + 2:02}-01", {"kettle/title.py": f"x = {number}\n"}))
    story.commit("2024-12-01", {"kettle/title.py": "x = 99\n"})
    return Repository.open(story.build(folder))


def _span(repository: Repository, text: str) -> str | None:
    sha = repository.resolve("main")
    log = Log(repository, sha)
    own = own_names(repository, {entry.path: entry.blob for entry in repository.tree(sha)})
    span = find_range(read_claims("Titles are lost", text), log, own)
    return span.words if isinstance(span, Range) else None


@pytest.fixture(scope="module")
def kettle(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    return _tagged(tmp_path_factory.mktemp("story") / "kettle", TAGS)


@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in COMPARED])
def test_a_good_and_a_bad_version_are_a_range(kettle: Repository, text: str) -> None:
    assert _span(kettle, text) == "2.1.0 → 2.2.0"


@pytest.mark.parametrize(("text", "span"), [pytest.param(text, span, id=name) for name, text, span in OTHERS])
def test_one_version_and_the_release_before(kettle: Repository, text: str, span: str) -> None:
    assert _span(kettle, text) == span


@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in NOTHING])
def test_versions_that_are_not_compared(kettle: Repository, text: str) -> None:
    assert _span(kettle, text) is None


@pytest.mark.parametrize(("tags", "text"), [pytest.param(tags, text, id=name) for name, tags, text in SCHEMES])
def test_versions_are_those_of_the_tags(tmp_path: Path, tags: tuple[str, ...], text: str) -> None:
    repository = _tagged(tmp_path / "kettle", tags)
    good, bad = (repository.resolve(tag) for tag in tags)
    log = Log(repository, repository.resolve("main"))
    span = find_range(read_claims("Titles are lost", text), log, frozenset({"kettle"}))
    assert isinstance(span, Range), span
    assert (span.start, span.end) == (good, bad)
