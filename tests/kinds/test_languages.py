"""Issues in languages other than English: whether each is a bug."""

from __future__ import annotations

import pytest

from nodes.brains.rules.investigate import acting_kind
from nodes.issue.facts import IssueFacts
from nodes.issue.kinds.classify import classify
from nodes.issue.kinds.model import PHRASES, cues_of, parts_of

ISSUES = {
    "zh": (
        ("上传大文件时程序崩溃", "上传超过 2GB 的文件时，程序直接崩溃并报错：内存不足。", "bug"),
        ("升级到 2.3 之后无法登录", "点击登录没有任何反应，控制台报错。之前的版本正常。", "bug"),
        ("日期解析结果不正确", "返回的是 2022-12-31，应该返回 2023-01-01。", "bug"),
        ("每次打开软件，列表变成空白", "切换页面之后列表消失。", "bug"),
        ("希望支持暗色主题", "建议增加一个暗色主题的选项，这样晚上使用会更舒服。", "feature"),
        ("请问如何配置代理？", "我想通过代理访问，文档里没有找到，怎么设置？", "question"),
    ),
    "ja": (
        ("保存時にアプリがクラッシュする", "ファイルを保存するとアプリが落ちます。", "bug"),
        ("検索結果が正しく表示されない", "結果が空になります。以前のバージョンでは動作していました。", "bug"),
        ("再起動すると一覧が消える", "一覧を開くと真っ白です。", "bug"),
        ("日本語の名前で例外が発生する", "名前を指定すると例外が発生します。", "bug"),
        ("YAML形式のサポートを追加してほしい", "設定をYAMLで書けるようにしてほしいです。", "feature"),
        (
            "プロキシの設定方法を教えてください",
            "プロキシ経由で接続したいのですが、どうすればよいでしょうか？",
            "question",
        ),
    ),
    "ko": (
        ("빈 파일을 열면 프로그램이 종료됩니다", "빈 파일을 열면 오류가 발생하고 강제 종료됩니다.", "bug"),
        ("업데이트 후 로그인이 안 됩니다", "업데이트한 뒤 버튼이 작동하지 않습니다.", "bug"),
        ("합계가 잘못 계산됨", "예상 결과는 30인데 실제 결과는 29로 나옵니다.", "bug"),
        ("다크 모드 지원 요청", "다크 모드를 추가해 주시면 좋겠습니다.", "feature"),
        ("프록시는 어떻게 설정하나요?", "프록시 설정 방법을 알고 싶습니다.", "question"),
    ),
    "ru": (
        ("Программа падает при открытии файла", "Программа завершается с ошибкой.", "bug"),
        ("Не работает вход после обновления", "После обновления вход не работает. Раньше всё работало.", "bug"),
        ("Неправильный результат", "Ожидалось 30, получено 29.", "bug"),
        ("Добавить поддержку тёмной темы", "Было бы здорово добавить тёмную тему.", "feature"),
        ("Как настроить прокси?", "Подскажите, пожалуйста, как подключиться?", "question"),
    ),
    "de": (
        ("Absturz beim Öffnen einer leeren Datei", "Das Programm stürzt mit einer Fehlermeldung ab.", "bug"),
        ("Summe wird falsch berechnet", "Erwartet: 30, tatsächlich: 29.", "bug"),
        ("Datei wird nicht gespeichert", "Beim Speichern erscheint ein Fehler.", "bug"),
        ("Dunkles Design hinzufügen", "Es wäre schön, ein dunkles Design wählen zu können.", "feature"),
        ("Wie richte ich einen Proxy ein?", "Ich möchte über einen Proxy verbinden.", "question"),
    ),
    "fr": (
        ("L'application plante à l'ouverture", "L'application se ferme avec une erreur.", "bug"),
        ("Le total est incorrect", "Résultat attendu : 30, résultat obtenu : 29.", "bug"),
        ("Erreur après la mise à jour", "Le bouton ne répond plus.", "bug"),
        ("Ajouter un thème sombre", "Il serait utile de pouvoir choisir un thème sombre.", "feature"),
        ("Comment configurer un proxy ?", "Je voudrais passer par un proxy, comment faire ?", "question"),
    ),
    "es": (
        ("La aplicación se cierra al abrir un archivo", "La aplicación falla con un error.", "bug"),
        ("El total es incorrecto", "Resultado esperado: 30. Resultado obtenido: 29.", "bug"),
        ("Error tras actualizar", "El botón no responde. Antes funcionaba.", "bug"),
        ("Añadir soporte para tema oscuro", "Sería útil poder elegir un tema oscuro.", "feature"),
        ("¿Cómo configuro un proxy?", "Quiero conectarme mediante un proxy. ¿Cómo se hace?", "question"),
    ),
    "pt": (
        ("O aplicativo trava ao abrir um arquivo", "O aplicativo fecha com um erro.", "bug"),
        ("O total está errado", "Resultado esperado: 30. Resultado obtido: 29.", "bug"),
        ("Erro após a atualização", "O botão não responde. Antes funcionava.", "bug"),
        ("Adicionar suporte a tema escuro", "Seria útil poder escolher um tema escuro.", "feature"),
        ("Como configurar um proxy?", "Quero conectar através de um proxy. Como faço?", "question"),
    ),
}


@pytest.mark.parametrize(
    ("title", "body", "kind"),
    [pytest.param(*issue, id=f"{name}-{at}") for name, issues in ISSUES.items() for at, issue in enumerate(issues)],
)
def test_a_language_other_than_english_is_classified(title: str, body: str, kind: str) -> None:
    assert classify(title, body).kind == kind
    if kind == "bug":
        assert acting_kind(title, body, IssueFacts()) == ("bug", None)


def test_every_issue_shows_a_cue_of_its_language() -> None:
    for title, body, _ in (issue for issues in ISSUES.values() for issue in issues):
        assert cues_of(parts_of(title, body)), title


def test_no_phrase_of_another_language_is_empty() -> None:
    """An empty alternative would be found in every text."""
    assert [name for name, pattern in PHRASES.items() if pattern.search("")] == []


def test_the_question_mark_of_chinese_and_japanese_is_recognised() -> None:
    assert "title: question mark" in cues_of(parts_of("代理\uff1f", ""))
