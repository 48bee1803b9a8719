"""A Chinese or Japanese title leads to the comment or the text of code that consists of its words."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.search.facts.finding import facts_of, of_kind

BUTTON = '<template>\n  <Popconfirm\n    title="删除模型"\n  />\n</template>\n'
CLOSE = "class Windows {\n    // 設定ウィンドウを閉じる\n    void Close() {\n        Current.Close();\n    }\n}\n"
FOUND = [
    pytest.param("model.vue", BUTTON, "更新后模型的删除按钮不见了", 3, id="chinese"),
    pytest.param("Windows.cs", CLOSE, "設定ウィンドウをボタンで閉じたときに保存されない", 2, id="japanese"),
]


@pytest.mark.parametrize(("path", "code", "title", "line"), FOUND)
def test_a_title_leads_to_the_text_of_its_words(tmp_path: Path, path: str, code: str, title: str, line: int):
    (fact,) = of_kind(facts_of(tmp_path, {path: code}, title), "quoted_here")
    assert (fact.path, fact.line, fact.strong, fact.unclaimed) == (path, line, True, True)


def test_a_text_in_a_file_of_texts_leads_to_its_use(tmp_path: Path):
    texts = "export default {\n  saveFailed: '保存配置失败',\n};\n"
    files = {"src/i18n/zh.ts": texts, "src/save.ts": "export function save() {\n  alert(t('saveFailed'));\n}\n"}
    (fact,) = of_kind(facts_of(tmp_path, files, "注册配置保存失败"), "quoted_here")
    assert (fact.path, fact.line) == ("src/save.ts", 2)


@pytest.mark.parametrize(
    ("body", "lines"), [("选择设定集或分析数据导出。", [3]), ("选择分析数据。", []), ("数据导出无效。", [])]
)
def test_a_line_of_the_report_leads_to_a_longer_text_of_its_words(tmp_path: Path, body: str, lines: list[int]):
    found = facts_of(tmp_path, {"export.vue": BUTTON.replace("删除模型", "导出分析数据")}, "功能存在问题", body)
    assert [fact.line for fact in of_kind(found, "quoted_here")] == lines
    assert all(fact.says.startswith("The report has the words of “导出分析数据”") for fact in found)


NONE = [
    pytest.param({"model.vue": BUTTON}, "模型不见了", id="a-word-is-missing"),
    pytest.param({"Windows.cs": CLOSE}, "初期設定のウィンドウを閉じた", id="part-of-a-longer-word"),
    pytest.param(
        {"Pages.cs": CLOSE.replace("設定ウィンドウを閉じる", "ページだけ表示しているとき")},
        "設定のページが表示されなくなる",
        id="short-words-apart",
    ),
    pytest.param(
        {"Scope.cs": "// 周波数表示からの\nvoid A() {}\n// 周波数表示へ追加\nvoid B() {}\n"},
        "周波数表示が乱れる",
        id="one-word-on-other-lines-too",
    ),
    pytest.param({"a.vue": BUTTON, "b.vue": BUTTON}, "更新后模型的删除按钮不见了", id="two-places"),
]


@pytest.mark.parametrize(("files", "title"), NONE)
def test_other_titles_lead_nowhere(tmp_path: Path, files: dict[str, str], title: str):
    assert of_kind(facts_of(tmp_path, files, title), "quoted_here") == []
