"""The file of a web framework that an address of a report leads to."""

from pathlib import Path

import pytest

from nodes.search.facts.places.served_here import served
from tests.search.facts.finding import facts_of, of_kind

KIT = {
    "src/routes/+page.svelte": "<h1>Swans</h1>\n",
    "src/routes/birds/+page.svelte": "<h1>Birds</h1>\n",
    "src/routes/birds/+page.server.ts": "import { all } from '$lib';\n\nexport const load = () => all();\n",
    "src/routes/get/[what]/[by]/[[as]]/+server.js": "// Eggs\n\nexport async function GET(req) {\n  return 1;\n}\n",
    "src/routes/get/birds/[by]/+server.js": "export const GET = () => [];\nexport const POST = () => [];\n",
    "src/routes/[user]/+page.svelte": "<h1>User</h1>\n",
}
NEXT = {
    "app/(shop)/nests/[id]/page.tsx": "export default function Nest() {\n  return null;\n}\n",
    "app/api/nests/[...path]/route.ts": "export async function GET() {}\nexport async function POST() {}\n",
    "app/nests/layout.tsx": "export default function Layout() {}\n",
}
ANY, BIRDS = "src/routes/get/[what]/[by]/[[as]]/+server.js", "src/routes/get/birds/[by]/+server.js"


@pytest.mark.parametrize(
    ("address", "path"),
    [
        pytest.param("/birds", "src/routes/birds/+page.server.ts", id="the-code-next-to-a-page"),
        pytest.param("/get/eggs/colour", "src/routes/get/[what]/[by]/[[as]]/+server.js", id="parameters"),
        pytest.param("/get/eggs/colour/json", "src/routes/get/[what]/[by]/[[as]]/+server.js", id="an-optional-one"),
        pytest.param("/get/eggs/colour/json/all", None, id="one-too-many"),
        pytest.param("/get/birds/colour", "src/routes/get/birds/[by]/+server.js", id="the-most-words"),
        pytest.param("/someone", None, id="a-parameter-alone"),
        pytest.param("/nests/12", "app/(shop)/nests/[id]/page.tsx", id="a-group"),
        pytest.param("/api/nests/a/b", "app/api/nests/[...path]/route.ts", id="all-that-follows"),
        pytest.param("/nests", None, id="no-page"),
    ],
)
def test_folders_spell_the_address(address: str, path: str | None):
    assert served(address, [*KIT, *NEXT]) == path


@pytest.mark.parametrize(
    ("text", "path", "line"),
    [
        pytest.param("> GET https://swans.example/get/eggs/all?limit=5\n500", ANY, 3, id="a-request"),
        pytest.param("POST /get/birds/colour fails", BIRDS, 2, id="its-method"),
        pytest.param("See https://swans.example/birds.", "src/routes/birds/+page.server.ts", 3, id="an-address"),
        pytest.param("https://swans.example/birds and POST /get/birds/all", BIRDS, 2, id="a-request-first"),
        pytest.param("The folder ./birds and lib/birds", None, 0, id="paths"),
        pytest.param("https://swans.example/birds/nests", None, 0, id="a-longer-address"),
    ],
)
def test_an_address_leads_to_its_file(tmp_path: Path, text: str, path: str | None, line: int):
    found = of_kind(facts_of(tmp_path, KIT, "It is empty", text), "quoted_here")
    assert [(fact.path, fact.line, fact.unclaimed) for fact in found] == ([(path, line, True)] if path else [])
