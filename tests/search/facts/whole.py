"""One project in many languages, with a place for each way of finding a fact; no name or text is in two places."""
# ruff: noqa: E501  a table of sources reads better in rows

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.repositories import git, make_repository

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = {
    "app/res/values/strings.xml": '<resources>\n    <string name="mute_birds">Mute all birds</string>\n    <string name="river_alarm">Alarm near rivers</string>\n</resources>\n',
    "app/src/Birds.kt": "fun birds() {\n    show(getString(R.string.mute_birds))\n}\n",
    "web/lang/en.json": '{\n  "bridge.closed": {\n    "defaultMessage": "Bridge closed today"\n  }\n}\n',
    "web/bridge.tsx": 'export const b = () =>\n  intl.formatMessage({ id: "bridge.closed" });\n',
    "extension/_locales/en/messages.json": '{\n  "lampHint": {\n    "message": "Turn off the lamp"\n  }\n}\n',
    "extension/lamp.js": "export function lamp() {\n  return chrome.i18n.getMessage('lampHint')\n}\n",
    "web/i18n/en.json": '{\n  "boats": {\n    "title": "Boats in harbour"\n  },\n  "cars": {\n    "title": "Cars in town"\n  }\n}\n',
    "web/boats.ts": "export const boats = () =>\n  t('boats.title');\n",
    "config/locales/en.yml": "en:\n  garden:\n    soil:\n      hint: Water the garden\n",
    "lib/garden.rb": "def hint\n  t('garden.soil.hint')\nend\n",
    "kites/messages.properties": "kite.heavy=Kite is too heavy\n",
    "kites/Kite.java": 'class Kite {\n    String text() {\n        return bundle.getString("kite.heavy");\n    }\n}\n',
    "stars/Texts.resx": '<root>\n  <data name="CountStars">\n    <value>Count the stars</value>\n  </data>\n</root>\n',
    "stars/Stars.cs": "class Stars {\n    string Title = Texts.CountStars;\n}\n",
    "lang/en/bells.php": "<?php\nreturn [\n    'ring_bells' => 'Ring every bell',\n];\n",
    "src/bells.php": "<?php\n$label = trans('bells.ring_bells');\n",
    "lib/l10n/app_en.arb": '{\n  "windSpeed": "Speed of the wind"\n}\n',
    "lib/wind.dart": "String wind(Texts t) {\n  return t.windSpeed;\n}\n",
    "clouds/en.ftl": "clouds-empty = No clouds today\n",
    "clouds/clouds.rs": 'fn clouds() -> String {\n    message("clouds-empty")\n}\n',
    "ios/en.lproj/Localizable.strings": '"snow.depth" = "Depth of snow";\n',
    "ios/Snow.swift": 'func snow() -> String {\n    NSLocalizedString("snow.depth", comment: "")\n}\n',
    "site/trees.html": '<form>\n  <button>{{ _("Plant a tree") }}</button>\n</form>\n',
    "po/de.po": 'msgid "Plant a tree"\nmsgstr "Baum pflanzen"\n',
    "web/moss.vue": "<template>\n  <button>\n    Scrape the moss\n  </button>\n</template>\n",
    "phx/reef.html.heex": "<.link navigate={@home}>\n  Back to the reef\n</.link>\n",
    "web/heath.vue": "<template>\n  <button>\n    Heath &amp; heather\n  </button>\n</template>\n",
    "wpf/Lang/en.axaml": '<Texts>\n    <sys:String x:Key="Reed.Cut">Cut all reeds</sys:String>\n    <sys:String x:Key="Reed.Menu">Sedges</sys:String>\n</Texts>\n',
    "wpf/Reeds.cs": 'class Reeds {\n    string Title => Text("Reed.Cut");\n    string Name => Text("Reed.Menu");\n}\n',
    "web/zh.vue": '<template>\n  <Popconfirm\n    title="删除湖泊"\n  />\n</template>\n',
    "web/i18n/zh.ts": "export default {\n  pathFailed: '保存道路失败',\n};\n",
    "web/path.ts": "export function save() {\n  alert(t('pathFailed'));\n}\n",
    **{f"web/shop{n}.ts": f"export const shop{n} = () => label('Sell the shed');\n" for n in range(5)},
}
"""Texts of user interfaces in every form, and the code that uses them."""
CODE = {
    "acme/grouse.rs": "fn grouse(key: KeyCode) {\n    if key == KeyCode::Esc {\n        self.leave();\n    }\n}\n",
    "acme/PondEditor.java": "class PondEditorDialog {\n    PondEditorDialog() {\n        open();\n    }\n}\n",
    "acme/nets.py": "class Nets:\n    def mend_fishnets(self, holes):\n        return holes.close()\n",
    "acme/harbours.py": "def harbour(ships):\n    return ships.mend() or ships.fishnet\n",
    "acme/raft.py": "class Raft:\n    def __init__(self):\n        self.upper_cargo_bar = Bar()\n\n    def load(self):\n        self.upper_cargo_bar.fill(3)\n",
    "acme/beds.py": "def tend(bed):\n    return bed.dawn_of_day\n",
    "acme/boiler.py": "def boil(tank):\n    return tank.dawn_of_day\n",
    "acme/perch.py": "def perch(mass):\n    raise PerchError('Perch of ' + mass + ' cannot be so light')\n",
    "acme/ferns.py": "def send(mail, options):\n    mail.note(options.strict_ferns)\n    if options.strict_ferns:\n        return None\n    return mail\n",
    "acme/fern_options.py": "def parse(line):\n    return {'strict_ferns': '--strict-ferns' in line}\n",
    "acme/owls.py": 'import os\n\nOWLS = int(os.environ.get("OWL_LIMIT", 3))\n',
    "acme/owl_help.py": 'def usage():\n    return "set OWL_LIMIT to a number"\n',
    "web/newts.ts": "export interface Newts {\n  colour: string;\n  newtTailLength: number;\n}\n",
    "acme/toads.py": "def spawn(toads):\n    return toads.lenient_toad\n",
    "acme/cli.py": "def add(parser):\n    parser.add_argument('-p', '--packed-moles', help='x')\n",
    "acme/moles.py": "def dig(options):\n    if options.packed_moles:\n        return 1\n    return 2\n",
    "acme/backup.py": "class Backup:\n    def do_backup_encrypted(self, key):\n        return self.put(key)\n",
    "acme/zeppelin.py": "def fly(table):\n    return table.zeppelin_height\n",
    "api/otters.py": '@app.post("/otters/{otter}/feed")\ndef feed(otter):\n    return otter\n\n\n@app.get("/otters/census")\ndef census():\n    return []\n',
    "web/shore.js": "export function shore() {\n  return t('shore_hint')\n}\n",
    "acme/sluice.py": "import math\n\n\ndef open_sluice(gate):\n    wide = gate.angle\n    return math.sin(wide)\n",
    "api/models.py": 'def sizes():\n    return {"wren-9.1-mini": 3}\n',
    "r/reeds.R": "draw <- function(x) {\n  plot_reeds(x, 3)\n}\n",
    "acme/weeds.py": "def pull(weeds):\n    return weeds.by_root(depth, 4)\n",
    "acme/base.py": "class Shed:\n    def hammer_nails(self):\n        return 1\n",
    "acme/lathe.py": "def turn_wood(piece):\n    return piece.spin()\n",
    "acme/workshop.py": "class Workshop:\n    def turn_wood(self, piece):\n        return piece\n",
    "acme/roof.py": "class Roof:\n    def climb(self, ladder):\n        return ladder.top()\n",
    "acme/Ladder.py": "class Ladder:\n    def rungs(self):\n        return 4\n",
    "acme/derived.py": "from acme.base import Shed\n\n\nclass Barn(Shed):\n    pass\n",
    "acme/other_tools.py": "class Tool:\n    def hammer_nails(self):\n        return 2\n",
    "acme/keyReader.py": "def read(keys):\n    return keys[0]\n",
    "acme/bolts.py": "def turn(bolt):\n    if not bolt:\n        raise BoltError('the bolt %s has no thread' % bolt)\n    return bolt\n",
    "acme/wheels.js": "export function wheel(n) {\n  throw new Error(`only ${n} wheels spin`)\n}\n",
    "acme/loud.py": "def loud(horn):\n    log.error('the horn of the lorry is much too loud for the whole of this town')\n",
    "scripts/rope.sh": "#!/bin/sh\nset -u\nLEFT=${1:-/usr}\nRIGHT=$ROPE_END\n",
    "scripts/pump.sh": "#!/bin/sh\nset -e\ndraw_water --from=well\n",
    "acme/Badger.java": "package acme;\n\nclass Badger {\n    int dig(Den den) {\n        return den.depthOf(this).round();\n    }\n    void sleepLong() {\n        rest();\n    }\n}\n",
    "acme/hedges.py": "def trim(hedge):\n    return hedge['twig_angle']\n",
    "acme/ponds.rs": "pub fn fill(pond: &Pond) -> u8 {\n    let deep = pond.depth();\n    deep.unwrap()\n}\n",
    "acme/errors.rs": '#[derive(Error)]\npub enum Fault {\n    #[error("the canal lock is still shut")]\n    ShutLock,\n}\n',
    "acme/locks.rs": "pub fn pass(lock: &Lock) -> Result<(), Fault> {\n    if lock.shut() {\n        return Err(Fault::ShutLock);\n    }\n    Ok(())\n}\n",
    "native/keys.c": "int key_free_all(struct key *key) {\n  return drop(key->next);\n}\n",
    "acme/signals.lua": 'local heard = {\n  "LATE_FROST_WARNED",\n}\n',
    "acme/mill.gd": "func _ready():\n\tprint(1)\n\tMills.start_mill_wheel()\n",
    "native/pyproject.toml": '[project]\ndependencies = [\n    "quails>=1.2.0",\n]\n',
    "native/build.zig.zon": '.{\n    .minimum_zig_version = "0.14.0",\n}\n',
    "native/package.json": '{\n  "version": "1.0.0",\n  "dependencies": {\n    "@farm/fences": "^2.1.0"\n  }\n}\n',
    "native/gradle/libs.versions.toml": '[versions]\nyarrow = "2.1.20"\n',
    "native/geese.cabal": "name: geese\nlibrary\n  build-depends:\n    gravel >= 4.14 && < 4.21\n",
    "native/Farm.csproj": '<Project>\n  <PackageReference Include="Hedgerow" Version="11.0" />\n</Project>\n',
    "native/mix.exs": 'defp deps do\n  [\n    {:burdock, "~> 1.0"}\n  ]\nend\n',
    "Gemfile": 'gem "rails"\ngem "barley"\n',
    "native/go.mod": "module acme\n\nrequire (\n\tgithub.com/heron/reeds v0.1.29\n)\n",
    "native/Cargo.toml": '[package]\nname = "acme"\n\n[dependencies]\nwillow-bark = "0.96"\n',
    "acme/guards.py": 'def start(run):\n    return run(["weather", "--frost-guard", "{}"])\n',
    "acme/shields.py": "def stop(run):\n    return run('weather --frost-guard no')\n",
    "acme/Ferries.cs": "namespace Acme.Water;\n\npublic class Ferries : IFerry {\n}\n",
    "acme/Lighthouses.java": "class Lighthouses {\n  void shine(boolean far) {\n    if (findLantern() != null)\n      go(far);\n  }\n}\n",
    "acme/mixins/CraneMixin.java": "@Mixin(Crane.class)\npublic class CraneMixin {\n}\n",
    "acme/millers.lua": "local function grind_corn(mills, corn)\n  mills.grind_all(corn)\n  -- mills.grind_all(corn)\nend\n",
    "acme/mills.lua": "local function grind(corn)\n  return corn.weight + 1\nend\n",
    "acme/jobs.py": "def run_harvest(job):\n    return job\n",
    "web/src/server/stoats.ts": "export class Stoats {\n  count(den: Den) {\n    const all = den.list;\n    return all.burrow.size;\n  }\n}\n",
    "acme/kelp.py": "def cut_kelp(kelp):\n    # The first leaf is cut,\n    # then the second.\n    one = kelp.leaf_of(1)\n    two = kelp.leaf_of(2)\n    return one, two\n",
    "acme/calendar.lua": "function Data:ScanMoons(moons)\n  if moons and moons.phaseID == 479 then\n    self.full = true\n  end\nend\n",
    "hs/Geese.hs": "module Geese where\n\ncountGeese :: [Int] -> Int\ncountGeese geese =\n  firstGoose geese + 1\n",
    "acme/otters.lua": "local function openDen(den)\n  return merge_deep(den, plain)\nend\n",
    "src/ferries.c": "void ferry(struct boat *boat, char *crew, int n) {\n  memcpy(boat->crew, crew, n);\n}\n",
    "infra/ponds.tf": 'resource "pond" "deep" {\n  for_each = local.ponds\n  depth = local.depths[each.value.level]\n}\n',
    "chart/templates/store.yaml": "kind: Store\nnotes: {{ .Values.store.notes }}\n",
    "tasks/fences.yml": "- name: Paint the fences\n  include_tasks: paint.yml\n  when: fences\n",
    "src/hooks.php": "<?php\nfunction hang($match) {\n    $hook['limit'] = (int) $match[3];\n    return $hook;\n}\n",
    "android/Owl.kt": "package org.acme.ui\n\nclass Owl {\n    fun hoot() = beak.open()\n}\n",
    "android/Nest.kt": "package org.acme\n\nclass Nest {\n    fun rest(owl: Owl) {\n        owl.hoot()\n    }\n}\n",
    "src/dykes.c": "int raise_dyke(int level, char *clay) {\n  assert(level > 0 && clay != NULL);\n  return level;\n}\n",
    "src/herons.php": "<?php\nclass Herons {\n    function wade($mud) {\n        return $mud->softness();\n    }\n}\n",
    "elm/Swans.elm": "module Swans exposing (swim)\n\nswim : Int -> String\nswim far =\n    far + 12\n",
    "src/voles.nim": "proc digVole(at: int): int =\n  let holes = @[1, 2]\n  result = holes[at]\n",
    "acme/barge.py": "def tow(barge):\n    log.warning('the rope of this barge is wet')\n    log.error('the barge has lost its rope')\n",
    "acme/gulls.py": "def fly_gulls(gulls):\n    print('the wind of the harbour is strong today')\n    return gulls.wings + 1\n\n\ndef land_gulls(gulls):\n    return gulls.feet()\n",
    "lib/finch.ex": "defmodule Finch do\n  @type t :: finch_type(:wild)\n  def sing(finch), do: finch.song\nend\n",
    "html/duties.php": "<?php\necho 'duties';\n",
    "web/ice.vue": "<template>\n  <button>Glacière</button>\n</template>\n",
    "web/lakes.vue": "<template>\n  <h3>{{ $t('settings.lakeRules') }}</h3>\n</template>\n",
    "web/system.vue": "<template>\n  <h3>{{ $t('settings.lakeSystem') }}</h3>\n</template>\n",
    "web/locales/zh.json": '{\n  "settings": {\n    "lakeRules": "湖泊规则",\n    "lakeSystem": "湿地设置",\n    "lakeFailed": "保存规则失败"\n  }\n}\n',
    "matlab/openNewt.m": "function y = openNewt(x)\n    z = 2;\n    y = x(4 + z);\nend\n",
    "autoload/newt/swim.vim": "let s:depth = 1\n\nfunction! newt#swim#Dive(name) abort\n  let l:here = a:name\n  return g:newt_lake . l:here\nendfunction\n",
    "acme/gates.py": "def swing(gate):\n    name = gate.strip()\n    return gate.hinge(name)\n",
    "src/cranes.c": "int crane(int load) {\n  int height = lift(load);\n  return hoist(height);\n}\n",
    "tests/test_weeds.py": "def test_pull():\n    assert pull(1)\n",
    "docs/weeds.md": "# Weeds\n\n## Pulling\n\nCall `pull` once.\n",
}
"""Code of which each function is found in one way."""


def make_project(path: Path) -> str:
    """Commit the project in five steps, tag all but the last, and return the last commit."""
    files, key, gate, sluice = TEXTS | CODE, "acme/keyReader.py", "acme/gates.py", "acme/sluice.py"
    new = {one: files[one] for one in (sluice, key, gate)}
    old = {
        sluice: files[sluice].removeprefix("import math\n\n\n"),
        key: "def read(keys):\n    return keys[1]\n",
        gate: "def swing(gate):\n    return gate.hinge(gate.swivel)\n",
        "acme/nets.py": "class Nets:\n    def mend_fishnets(self, holes):\n        return holes.close()\n",
        "acme/harbours.py": "def harbour(ships):\n    return ships.mend() or ships.fishnet\n",
        "acme/raft.py": "class Raft:\n    def __init__(self):\n        self.upper_cargo_bar = Bar()\n\n    def load(self):\n        self.upper_cargo_bar.fill(3)\n",
        "acme/beds.py": "def tend(bed):\n    return bed.dusk\n",
        "acme/boiler.py": "def boil(tank):\n    return tank.dusk\n",
    }
    messages = ("Initial", "Import mathematics", "Read the first key", "Strip the name of a gate (#812)")
    for number, message in enumerate(messages, 1):
        old |= {one: new[one] for one in list(new)[: number - 1]}
        first = {"acme/weirs.py": "def weir(flow):\n    return flow.dam.height\n"} if number == 1 else {}
        make_repository(path, files | old | first, message=message)
        git(path, "tag", f"v1.{number}.0")
        git(path, "rm", "-q", "--ignore-unmatch", "acme/weirs.py")
        if number == 3:  # between two releases
            del old["acme/beds.py"], old["acme/boiler.py"]
            make_repository(path, files | old, message="Warm the glasshouse at dawn")
    return make_repository(path, files | {"README.md": "# Acme\n"}, message="Describe the project")
