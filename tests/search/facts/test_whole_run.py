"""Every way of finding a fact in whole runs by rules: what leads, whether a file is claimed, and what is no such fact."""
# ruff: noqa: E501  a table of reports reads better in rows

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

import pytest

from nodes.report import TriageReport
from nodes.search.engine import Engine
from nodes.search.facts import Fact
from nodes.search.types import Query
from tests.cli.process import triage
from tests.graph.rules_run import run_at
from tests.search.facts.whole import make_project


class Case(NamedTuple):
    """A report whose leading fact is found in one way, and reports that only resemble it."""

    title: str
    body: str
    place: str | None
    """The path of the fact and, after a colon, its line."""
    says: str
    """The beginning of its sentence."""
    alike: tuple[tuple[str, str], ...]
    claims: bool = False
    kind: str = "quoted_here"


OFTEN = "It was fine for months, then the update came, and now nobody of us here can work any more; we tried again and again on several machines, and it is always the same with all of them."


def printed(*lines: str) -> str:
    """Return lines as a report shows what a program printed."""
    return "\n".join(("```", *lines, "```", ""))


def text(label: str, place: str, key: str, *alike: str) -> Case:
    """Return the case of a text that a title quotes, which is found by its key or its element, and other texts."""
    file = f" is `{key}` in `" if key else " is in `"
    return Case(f"“{label}” does nothing", "", place, f"The text “{label}”{file}", tuple((one, "") for one in alike))


NULL = 'Cannot invoke "Depth.{}()" because the return value of "acme.Den.{}(acme.Badger)" is null'
NATIVE = ("#0  0x00007f00 in raise () from /lib/libc.so.6", "#2  0x00005556 in main ()")
CALLED = (
    "geese: none is left",
    "CallStack (from HasCallStack):",
    "  error, called at lib/Lists.hs:30:3 in base:Lists",
    "  {}, called at hs/{}:4:3 in geese-1.0:Geese",
)
IN_LUA = (
    "expected table, got nil",
    "stack traceback:",
    "\tlib/shared.lua: in function '{}'",
    "\tacme/otters.lua:2: in function 'openDen'",
    "\tmain.lua:3: in main chunk",
)
TERRAFORM = (
    "│ Error: Invalid index",
    "│",
    '│   on infra/ponds.tf line 3, in resource "pond" "deep":',
    "│     ├────────────────",
    "│     │ {} is null",
)
NO_BEAK = (
    "kotlin.UninitializedPropertyAccessException: lateinit property beak is not set",
    "\tat {}.Owl.getBeak(Owl.kt:2)",
    "\tat org.acme.Nest.rest(Nest.kt:5)",
)
LOGGED = "2026-01-07 13:36:25.162 | ERROR    | acme.{}:{}:42 - no such job"
PYTHON = ("Traceback (most recent call last):", '  File "/srv/{}", line 2, in {}', "TypeError: bad")
IN_WEIR = (
    "Traceback (most recent call last):",
    '  File "/srv/acme/weirs.py", line {}, in weir',
    "    return flow.dam.height",
    "AttributeError: 'Flow' object has no attribute 'dam'",
)
CASES = {
    "texts: android key": text("Mute all birds", "app/src/Birds.kt:2", "mute_birds", "“Mute some birds” does nothing", "Mute birds"),
    "texts: formatjs": text("Bridge closed today", "web/bridge.tsx:2", "bridge.closed", "“Bridge closed tomorrow” stays", "“Bridge closed” stays"),
    "texts: browser extension": text("Turn off the lamp", "extension/lamp.js:2", "lampHint", "“Turn on the lamp” does nothing", "“Turn off the lamps” does nothing"),
    "texts: keys of tables": text("Boats in harbour", "web/boats.ts:2", "boats.title", "“Cars in town” is empty", "“Boats in harbours” is empty"),
    "texts: yaml": text("Water the garden", "lib/garden.rb:2", "garden.soil.hint", "“Water the gardens” stays", "“Water a garden” stays"),
    "texts: properties": text("Kite is too heavy", "kites/Kite.java:3", "kite.heavy", "“Kite is heavy” stays", "“Kites are too heavy” stays"),
    "texts: resources": text("Count the stars", "stars/Stars.cs:2", "CountStars", "“Count stars” does nothing", "“Count the star” does nothing"),
    "texts: php array": text("Ring every bell", "src/bells.php:2", "ring_bells", "“Ring each bell” does nothing", "“Ring every bells” does nothing"),
    "texts: arb": text("Speed of the wind", "lib/wind.dart:2", "windSpeed", "“Speed of winds” is empty", "“Speed of this wind” is empty"),
    "texts: fluent": text("No clouds today", "clouds/clouds.rs:2", "clouds-empty", "“No cloud today” stays", "“Clouds today” stays"),
    "texts: apple": text("Depth of snow", "ios/Snow.swift:2", "snow.depth", "“Depth of ice” is empty", "“Depth of the snow” is empty"),
    "texts: gettext": text("Plant a tree", "site/trees.html:2", "", "“Baum pflanzen” does nothing", "“Plant the tree” does nothing"),
    "texts: template": text("Scrape the moss", "web/moss.vue:3", "", "“Scrape moss” does nothing", "Scraping moss does nothing"),
    "texts: phoenix": text("Back to the reef", "phx/reef.html.heex:2", "", "“Back to reefs” does nothing", "Going back to the reef does nothing"),
    "texts: not marked": Case("Scrape the moss does nothing", "", "web/moss.vue:3", "The text “Scrape the moss” is in `web/moss.vue`", (("Scrape a moss does nothing", ""), ("The moss does nothing", ""))),
    "texts: clicked": Case("It stops", "Then click on Scrape the moss.", "web/moss.vue:3", "The text “Scrape the moss” is in `web/moss.vue`", (("It stops", "Then click on scrape a moss."), ("It stops", "Then I scrape the garden."))),
    "texts: alone in a block": Case("It stops", printed("Scrape the moss…"), "web/moss.vue:3", "The text “Scrape the moss” is in `web/moss.vue`", (("It stops", printed("Scrape the mosses…")), ("It stops", printed("Scrape the moss, as", "all of us said,", "and then more")))),
    "texts: key that is shown": Case("It stops", 'It shows the label "shore_hint".', "web/shore.js:2", '`"shore_hint"` is in `shore`', (("It stops", 'It shows the label "shores_hint".'), ("It stops", "It shows no label with a hint."))),
    "texts: chinese, the last of a path": Case("湿地设置-湖泊规则保存失败", "", "web/lakes.vue:2", "The text “湖泊规则” is `settings.lakeRules`", (("湿地设置-湖泊保存失败", ""), ("湿地设置-湖泊的规则保存失败", ""))),
    "texts: after a short one in quotes": Case("It stops", 'Then "Go" is gone and "Scrape the moss" is grey.', "web/moss.vue:3", "The text “Scrape the moss” is in `web/moss.vue`", (("It stops", 'Then "Go" is gone and "Scrape a moss" is grey.'), ("It stops", 'It is 3" wide and scrape the moss 4" long.'))),
    "texts: and for a sign": Case("It stops", "Then I use the `Heath and heather` tab.", "web/heath.vue:3", "The text “Heath and heather” is in `web/heath.vue`", (("It stops", "Then I use the `Heath or heather` tab."), ("It stops", "Then I use the `Heath and heathers` tab."))),
    "texts: xaml": text("Cut all reeds", "wpf/Reeds.cs:2", "Reed.Cut", "“Cut all the reeds” stays", "“Cut reeds” stays"),
    "message after a colon": Case("It stops", "I get an error when I save it: Perch of 12 cm cannot be so light.", "acme/perch.py:2", "`perch` builds the message “Perch of 12 cm cannot be so light”", (("It stops", "I get an error when I save it: Perch of 12 cm can be so light."), ("It stops", "I get an error when I save a perch of 12 cm.")), kind="built_here"),
    "option tested": Case("Mail is sent", "I gave --strict-ferns and it was.", "acme/ferns.py:3", "`--strict-ferns` is tested by this condition in `send`", (("Mail is sent", "I have strict ferns."), ("Mail is sent", "I gave --strict-fern and it was.")), kind="read_here"),
    "attribute read": Case("It is wrong", "With `lenient_toad` set it fails.", "acme/toads.py:2", "`lenient_toad` is read on this line in `spawn`", (("It is wrong", "With `lenient_toads` set it fails."), ("It is wrong", "With a lenient toad it fails.")), claims=True, kind="read_here"),
    "function of a log": Case("It fails", printed(LOGGED.format("jobs", "run_harvest")), "acme/jobs.py:1", "A line of the report's log comes from `run_harvest`", (("It fails", printed(LOGGED.format("tasks", "run_harvest"))), ("It fails", printed(LOGGED.format("jobs", "run_harvests")))), claims=True, kind="named_here"),
    "route": Case("Feeding fails", "It fails at POST /otters/{otter}/feed always.", "api/otters.py:1", "`/otters/{otter}/feed` is in `feed`", (("Feeding fails", "It fails at POST /otters/{otter}/feeds always."), ("Feeding fails", "It fails at POST /otter/feed always.")), claims=True),
    "address": Case("Feeding fails", "I open http://localhost:8080/otters/census in the browser.", "api/otters.py:6", "`/otters/census` is in `census`", (("Feeding fails", "I open http://localhost:8080/otters/count in the browser."), ("Feeding fails", "See https://example.org/otters for more."))),
    "value": Case("It fails with wren-9.1-mini", OFTEN, "api/models.py:2", "`wren-9.1-mini` is in `sizes`", (("It fails with wren-9.2-mini", OFTEN), ("It fails with wren-9.1", OFTEN))),
    "call": Case("It fails", "It stops in `by_root(depth, 4)`.", "acme/weeds.py:2", "`by_root(depth, 4)` is in `pull`", (("It fails", "It stops in `by_root(4, depth)`."), ("It fails", "It stops in by root, depth 4.")), claims=True),
    "call of an error in R": Case("It fails", printed("Error in plot_reeds(x, 3) : object 'x' not found"), "r/reeds.R:2", "`plot_reeds(x, 3)` is in `draw`", (("It fails", printed("Error in plot_reeds(y, 3) : object 'x' not found")), ("It fails", printed("Warning: plot_reeds needs x, 3")))),
    "command of an error": Case("It fails", printed("Failed at line 9: draw_water --from=well"), "scripts/pump.sh:3", "`draw_water --from=well` is in `scripts/pump.sh`", (("It fails", printed("Failed at line 9: draw_water --from=river")), ("It fails", printed("Failed at line 9 of it, where we draw_water from=well")))),
    "inherited member": Case("`Barn.hammer_nails` is slow", "", "acme/base.py:2", "`Barn.hammer_nails` is inherited from `Shed.hammer_nails`", (("`Barn.hammer_screws` is slow", ""), ("`House.hammer_nails` is slow", "")), kind="defined_once"),
    "message with a value": Case("It fails", printed("BoltError: the bolt m8 has no thread"), "acme/bolts.py:3", "`turn` builds the message “the bolt m8 has no thread”", (("It fails", printed("BoltError: the bolt m8 has no threads")), ("It fails", "The bolt has no thread.")), kind="built_here"),
    "short message with a value": Case("It fails", printed("Error: only 3 wheels spin"), "acme/wheels.js:2", "`wheel` builds the message “only 3 wheels spin”", (("It fails", printed("Error: only 3 wheels spun")), ("It fails", "All but only 3 wheels spin well on this car of ours.")), kind="built_here"),
    "message cut off": Case("It fails", printed("the horn of the lorry is much too loud…"), "acme/loud.py:2", "`loud` builds the message that begins with", (("It fails", printed("the horn of the lorry is too loud…")), ("It fails", printed("the horn…"))), claims=True, kind="built_here"),
    "message of a rust error": Case("It fails", printed("Error: the canal lock is still shut"), "acme/locks.rs:3", "“the canal lock is still shut” fits this line of `pass`", (("It fails", printed("Error: the canal lock is open")), ("It fails", printed("Error: the lock is still shut"))), kind="raised_here"),
    "key of an error": Case("It fails", printed("KeyError: 'twig_angle'"), "acme/hedges.py:2", "`trim` looks up `'twig_angle'` in `hedge`", (("It fails", printed("KeyError: 'twig_angles'")), ("It fails", "The twig angle is wrong.")), kind="raised_here"),
    "because it is null": Case("It fails", printed(NULL.format("round", "depthOf")), "acme/Badger.java:5", "`Badger.dig` uses `.round` on what `den.depthOf(this)` returns", (("It fails", printed(NULL.format("ceil", "depthOf"))), ("It fails", printed(NULL.format("round", "widthOf")))), kind="raised_here"),
    "because it is null, in a trace": Case("It crashes", printed(f"java.lang.NullPointerException: {NULL.format('round', 'depthOf')}", "\tat acme.Badger.dig(Badger.java:5)", "\tat acme.Main.main(Main.java:3)"), "acme/Badger.java:5", "`Badger.dig` uses `.round` on what `den.depthOf(this)` returns", (("It crashes", printed(f"java.lang.NullPointerException: {NULL.format('ceil', 'widthOf')}", "\tat other.Badger.dig(Badger.java:5)")), ("It crashes", printed("\tat other.Badger.dig(Badger.java:5)"))), claims=True, kind="raised_here"),
    "panic": Case("It panics", printed("thread 'main' panicked at acme/ponds.rs:3:10:", "called `Option::unwrap()` on a `None` value"), "acme/ponds.rs:3", "`fill` unwraps `deep`", (("It panics", printed("thread 'main' panicked at other/lakes.rs:3:10:", "called `Option::unwrap()` on a `None` value")), ("It panics", "It panics in the ponds.")), kind="raised_here"),
    "nil": Case("It fails", printed("acme/mills.lua:2: attempt to index local 'corn' (a nil value)", "stack traceback:", "\tacme/mills.lua:2: in function 'grind'", "\tmain.lua:3: in main chunk"), "acme/mills.lua:2", "`grind` uses `corn`", (("It fails", printed("other/mills.lua:2: attempt to index local 'rye' (a nil value)", "stack traceback:", "\tother/mills.lua:2: in function 'mill'")), ("It fails", "The corn of the mill is nil.")), claims=True, kind="raised_here"),
    "global of Lua": Case("It fails", printed("acme/mills.lua:2: attempt to index global 'corn' (a nil value)", "stack traceback:", "\tacme/mills.lua:2: in function 'grind'", "\tmain.lua:3: in main chunk"), "acme/mills.lua:2", "`grind` uses `corn`", (("It fails", printed("other/mills.lua:2: attempt to index global 'rye' (a nil value)", "stack traceback:", "\tother/mills.lua:2: in function 'mill'")),), kind="raised_here"),
    "call of nil in Lua": Case("It fails", printed("Lua error: runtime error: [string \"corn\"]:2: attempt to call a nil value (field 'grind_all')"), "acme/millers.lua:2", "`grind_corn` uses `mills.grind_all`; the error says that this was `nil`", (("It fails", printed("attempt to call a nil value (field 'grind_some')")), ("It fails", "We call grind_all, which is nil.")), kind="raised_here"),
    "constant in a code span": Case("It fails", 'It stops at an event, see `event = "LATE_FROST_WARNED"`.', "acme/signals.lua:2", '`"LATE_FROST_WARNED"` is in `acme/signals.lua`', (("It fails", 'It stops at an event, see `event = "LATE_FROST_CALLED"`.'), ("It fails", "Late frost was warned of."))),
    "function that does not exist in Godot": Case("It fails", printed("ERROR: res://acme/mill.gd:2 - Invalid call. Nonexistent function 'start_mill_wheel' in base 'GDScript'."), "acme/mill.gd:3", "`_ready` uses `Mills.start_mill_wheel`; the error says that this does not exist", (("It fails", printed("Invalid call. Nonexistent function 'start_wheel' in base 'GDScript'.")), ("It fails", "The function start mill wheel is missing.")), kind="raised_here"),
    "library of go": Case("It does not build", printed("home/go/pkg/mod/github.com/heron/reeds@v0.1.29/gid.go:32:28: undefined: gid"), "native/go.mod:4", "The report names a file of `reeds` 0.1.29, which this line requires", (("It does not build", printed("home/go/pkg/mod/github.com/heron/sedge@v0.1.29/gid.go:32:28: undefined: gid")), ("It does not build", printed("src/reeds/gid.go:32:28: undefined: gid"))), kind="named_here"),
    "library of cargo": Case("It does not build", printed("error[E0308]: mismatched types", "  --> /home/a/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/willow-bark-0.96.2/src/mod.rs:9:1"), "native/Cargo.toml:5", "The report names a file of `willow-bark` 0.96.2, which this line requires", (("It does not build", printed("  --> /home/a/.cargo/registry/src/index.crates.io-1949cf8c6b5b557f/willow-0.96.2/src/mod.rs:9:1")), ("It does not build", "It needs willow-bark-0.96.2 to build.")), kind="named_here"),
    "library of ruby": Case("It does not start", printed("/usr/gems/ruby-4.0.1/gems/barley-0.88.1/lib/barley/export.rb:2: warning: ostruct is no default gem"), "Gemfile:2", "The report names a file of `barley` 0.88.1, which this line requires", (("It does not start", printed("/usr/gems/ruby-4.0.1/gems/malt-0.88.1/lib/malt/export.rb:2: warning: ostruct is no default gem")), ("It does not start", "With barley-0.88.1 it stops.")), kind="named_here"),
    "flag that is passed on": Case("It passes --frost-guard={} and stops", "", "acme/guards.py:2", "`--frost-guard` is in `start`, and on no other line", (("It passes --frost-guards={} and stops", ""), ("It passes a frost guard and stops", ""))),
    "mixin": Case("It fails", printed("java.lang.RuntimeException: Mixin transformation of net.birds.Crane failed"), "acme/mixins/CraneMixin.java:1", "`CraneMixin` has `@Mixin(Crane.class)`", (("It fails", printed("java.lang.RuntimeException: Mixin transformation of net.birds.Heron failed")), ("It fails", "The mixin of Crane fails.")), kind="raised_here"),
    "version that a manifest excludes": Case("It fails", "I use Zig 0.13.0 on my laptop.", "native/build.zig.zon:2", "The report names `Zig` 0.13.0, which this line does not allow", (("It fails", "I use Zig 0.15.0 on my laptop."), ("It fails", "I use Zag 0.13.0 on my laptop.")), kind="named_here"),
    "version of a request": Case("Zig 0.13.x support", "It would be nice.", "native/build.zig.zon:2", "The report names `Zig` 0.13, which this line does not allow", (("Zig 0.14.x support", "It would be nice."), ("Zag 0.13.x support", "It would be nice.")), kind="named_here"),
    "type without an implementation": Case("It fails", printed("System.TypeLoadException: Method 'Dock' in type 'Acme.Water.Ferries' from assembly 'Acme, Version=1.0.0.0' does not have an implementation."), "acme/Ferries.cs:3", "`Ferries` has `class Ferries`; the error says", (("It fails", printed("System.TypeLoadException: Method 'Dock' in type 'Acme.Water.Boats' from assembly 'Acme, Version=1.0.0.0' does not have an implementation.")), ("It fails", "Ferries has no implementation.")), kind="raised_here"),
    "code in quotes": Case("It fails", 'It uses "if (findLantern() != null)" to decide.', "acme/Lighthouses.java:3", "`if (findLantern() != null)` is in `Lighthouses.shine`", (("It fails", 'It uses "if (findCandle() != null)" to decide.'), ("It fails", 'It says "we find no lantern" and stops.')), claims=True),
    "matlab": Case("It fails", printed("Index exceeds the number of array elements.", "Error in {} (line 3)", "    y = x(4 + z);").format("openNewt"), "matlab/openNewt.m:3", "The error passes through `matlab/openNewt.m`", (("It fails", printed("Error in openNewts (line 3)", "    y = x(4 + z);")), ("It fails", "There is an error in openNewt (line 3 of my script).")), kind="raised_here"),
    "line of a vim function": Case("It fails", printed("Error detected while processing function <SNR>9_Begin[2]..newt#swim#Dive:", "line    2:", "E121: Undefined variable: g:newt_lake"), "autoload/newt/swim.vim:5", "`newt#swim#Dive` uses the variable `g:newt_lake`", (("It fails", printed("Error detected while processing function newt#fly#Dive:", "line    2:", "E121: Undefined variable: g:newt_lakes")), ("It fails", "Something is wrong in newt#swim#Dove, line 2.")), claims=True, kind="raised_here"),
    "frame of a compiled script": Case("It fails", printed("TypeError: Cannot read properties of undefined (reading 'size')", "    at Stoats.count (/srv/node_modules/acme/dist/server/stoats.js:9:20)"), "web/src/server/stoats.ts:4", "`Stoats.count` uses `.size` on `all.burrow`", (("It fails", printed("TypeError: Cannot read properties of undefined (reading 'size')", "    at Stoats.count (/srv/node_modules/stoat/dist/server/stoats.js:9:20)")), ("It fails", printed("TypeError: Cannot read properties of undefined (reading 'size')", "    at Stoats.sum (/srv/node_modules/acme/dist/server/stoats.js:9:20)")), ("It fails", printed("TypeError: Cannot read properties of undefined (reading 'size')", "    at Stoats.count (/home/me/zoo/stoats.js:9:20)"))), kind="raised_here"),
    "frame of an extension": Case("It fails", printed("TypeError: it has no burrow", "    at Stoats.count (c:\\Users\\a\\.vscode\\extensions\\farm.acme-0.3.5\\out\\stoats.js:9:20)"), "web/src/server/stoats.ts:2", "`TypeError` passes through `Stoats.count`", (("It fails", printed("TypeError: it has no burrow", "    at Stoats.count (c:\\Users\\a\\.vscode\\extensions\\farm.beech-0.3.5\\out\\stoats.js:9:20)")), ("It fails", printed("TypeError: it has no burrow", "    at Stoats.sum (c:\\Users\\a\\.vscode\\extensions\\farm.acme-0.3.5\\out\\stoats.js:9:20)"))), kind="raised_here"),
    "frame whose line is a comment": Case("It fails", printed("Traceback (most recent call last):", '  File "/srv/acme/kelp.py", line 2, in cut_kelp', '  File "/usr/lib/python3.12/leaves.py", line 2, in leaf_of', "TypeError: bad"), "acme/kelp.py:4", "`TypeError` passes through `cut_kelp`", (("It fails", printed(*PYTHON).format("other/kelp.py", "cut_kelps")), ("It fails", "See line 2 of kelp.")), kind="raised_here"),
    "value of another type in Lua": Case("It fails", printed("acme/calendar.lua:2: attempt to compare field 'phaseID' (a secret number value)", "acme/calendar.lua:2: in function 'ScanMoons'", "acme/other.lua:3: in main chunk"), "acme/calendar.lua:2", "`Data.ScanMoons` has `moons.phaseID`", (("It fails", printed("acme/calendar.lua:3: attempt to compare field 'phaseID' (a secret number value)", "acme/calendar.lua:3: in function 'ScanSuns'", "acme/other.lua:3: in main chunk")), ("It fails", "It attempts to compare field 'phaseID'.")), claims=True, kind="raised_here"),
    "call stack of haskell": Case("Counting geese fails", printed(*CALLED).format("firstGoose", "Geese.hs"), "hs/Geese.hs:5", "`countGeese` calls `firstGoose` on this line; the error comes", (("It fails", printed(*CALLED).format("lastGoose", "Geese.hs")), ("It fails", printed(*CALLED).format("firstGoose", "Ducks.hs"))), claims=True, kind="raised_here"),
    "function of lua without a line": Case("It fails", printed(*IN_LUA).format("merge_deep"), "acme/otters.lua:2", "`openDen` calls `merge_deep` on this line; the error comes", (("It fails", printed(*IN_LUA).format("merge_flat")), ("It fails", printed(*IN_LUA[:2], *IN_LUA[3:]))), claims=True, kind="raised_here"),
    "argument that a sanitizer names": Case("It fails", printed("src/ferries.c:2:22: runtime error: null pointer passed as argument 2, which is declared to never be null"), "src/ferries.c:2", "`ferry` passes `crew` to `memcpy`; the error says that this was `null`", (("It fails", printed("src/ferries.c:2:3: runtime error: null pointer passed as argument 1, which is declared to never be null")), ("It fails", printed("src/ships.c:2:22: runtime error: null pointer passed as argument 2, which is declared to never be null"))), claims=True, kind="raised_here"),
    "value that terraform prints": Case("It fails", printed(*TERRAFORM).format("each.value.level"), "infra/ponds.tf:3", "`pond.deep` has `each.value.level`; the error says “each.value.level is null”", (("It fails", printed(*TERRAFORM).format("each.value.levels")), ("It fails", printed(*TERRAFORM).format("value.level"))), claims=True, kind="named_here"),
    "value that helm prints": Case("It fails", printed('Error: template: acme/templates/store.yaml:2:18: executing "acme/templates/store.yaml" at <.Values.store.notes>: nil pointer evaluating interface {}.notes'), "chart/templates/store.yaml:2", "`chart/templates/store.yaml` has `.Values.store.notes`; the error says", (("It fails", printed('Error: template: acme/templates/store.yaml:2:18: executing "acme/templates/store.yaml" at <.Values.store.note>: nil pointer evaluating interface {}.note')), ("It fails", "The value .Values.store.notes is not set.")), kind="named_here"),
    "origin that ansible prints": Case("It fails", printed("[ERROR]: Task failed: Conditional result was '[]' of type 'list'.", "Origin: /usr/share/ansible/roles/me.acme/tasks/fences.yml:2:3"), "tasks/fences.yml:2", "The report has “Task failed: Conditional result", (("It fails", printed("[ERROR]: Task failed: Conditional result was '[]' of type 'list'.", "Origin: /usr/share/ansible/roles/me.other/tasks/fences.yml:2:3")), ("It fails", printed("[ERROR]: Task failed: Conditional result was '[]' of type 'list'.", "See tasks/fences.yml"))), kind="named_here"),
    "line below its file, in words": Case("It fails", "Change scripts/pump.sh:\nIn Zeile 3 steht der Fehler.", "scripts/pump.sh:3", "The report names this line", (("It fails", "Change scripts/pump.sh:\nIn 3 Zeilen steht der Fehler."), ("It fails", "Change scripts/pump.sh now.\nIt is in line with 3 others."), ("It fails", "See scripts/pump.sh\nOn line 3 of other/pipe.sh it is wrong.")), claims=True, kind="named_here"),
    "key that is a number": Case("It fails", printed("Warning: Undefined array key 3 in /srv/acme/src/hooks.php on line 3"), "src/hooks.php:3", "`hang` looks up `3` in `$match`; the error says that this key is missing", (("It fails", printed("Warning: Undefined array key 4 in /srv/acme/src/hooks.php on line 3")), ("It fails", printed('Warning: Undefined array key "limits" in /srv/acme/src/hooks.php on line 3'))), claims=True, kind="raised_here"),
    "frame of a class in another package": Case("It crashes", printed(*NO_BEAK).format("org.acme"), "android/Nest.kt:5", "`kotlin.UninitializedPropertyAccessException` passes through `Nest.rest`; a frame inside it cannot be placed", (("It crashes", printed(*NO_BEAK).format("com.other")), ("It crashes", printed(NO_BEAK[0], NO_BEAK[2]))), kind="raised_here"),
    "line of a trace in a log, gone": Case("It crashes", printed(*(f"web  | {line}" for line in (PYTHON[0], '  File "/srv/acme/acme/gates.py", line 2, in swing', "    name = gate.strips()", PYTHON[2]))), "acme/gates.py:2", "`TypeError` passes through `swing`; the line that the trace prints", (("It crashes", printed(*(f"web  | {line}" for line in (PYTHON[0], '  File "/srv/acme/acme/gates.py", line 2, in swing', "    name = gate.strip()", PYTHON[2])))), ("It crashes", printed(*(f"web  | {line}" for line in (PYTHON[0], '  File "/srv/acme/acme/gates.py", line 2, in swing', PYTHON[2]))))), kind="raised_here"),
    "expression of an assertion": Case("It aborts", printed("acme: Assertion `level > 0 && clay != NULL' failed."), "src/dykes.c:2", "`level > 0 && clay != NULL` is in `raise_dyke`", (("It aborts", printed("acme: Assertion `level > 1 && clay != NULL' failed.")), ("It aborts", printed("level > 0 and clay is not NULL")))),
    "row of a table of findings": Case("The check fails", printed(" ------ ---------------------", "  Line   src/herons.php", " ------ ---------------------", "  4      Call to an undefined method Mud::softness().", " ------ ---------------------"), "src/herons.php:4", "`Herons.wade` uses `$mud->softness`; the error says that this does not exist", (("The check fails", printed("  Line   src/herons.php", " ------ ---------------------", "  3      Call to an undefined method Mud::softness().")), ("The check fails", printed("  Line   src/storks.php", " ------ ---------------------", "  4      Call to an undefined method Mud::softness()."))), claims=True, kind="named_here"),
    "code below the file of a finding": Case("It does not compile", printed("-- TYPE MISMATCH ------------------------------- elm/Swans.elm", "", "I cannot do addition with String values:", "", "5|     far + 12", "       ^^^"), "elm/Swans.elm:5", "The report names this line of `swim`", (("It does not compile", printed("-- TYPE MISMATCH ------------------------------- elm/Ducks.elm", "", "5|     far + 12")), ("It does not compile", printed("-- TYPE MISMATCH ------------------------------- elm/Swans.elm", "", "5 times: far + 12"))), claims=True, kind="named_here"),
    "frame below the end of its file": Case("It panics", printed("thread 'main' panicked at acme/ponds.rs:90:5:", "index out of bounds: the len is 1 but the index is 1"), "acme/ponds.rs", "The report names line 90 of `acme/ponds.rs`, which has", (("It panics", printed("thread 'main' panicked at other/ponds.rs:90:5:", "index out of bounds: the len is 1 but the index is 1")), ("It panics", printed("thread 'main' panicked at acme/ponds.rs:9o:5:", "index out of bounds"))), kind="named_here"),
    "line below the end of its file": Case("It is wrong", "The fault is in acme/weeds.py:90 I think.", "acme/weeds.py", "The report names line 90 of `acme/weeds.py`, which has 2 lines", (("It is wrong", "The fault is in acme/weeds.py:2 I think."), ("It is wrong", "The fault is in other/weeds.py:90 I think.")), kind="named_here"),
    "index of nim": Case("Voles fail", printed("/srv/acme/src/main.nim(9) main", "/srv/acme/src/voles.nim(3) digVole", "/nim/lib/system/fatal.nim(53) sysFatal", "Error: unhandled exception: index 5 not in 0 .. 1 [IndexDefect]"), "src/voles.nim:3", "`digVole` reads `holes[at]`; the error says that the index is out of range", (("It fails", printed("/srv/acme/src/main.nim(9) main", "/srv/acme/src/voles.nim(3) digVole", "/nim/lib/system/fatal.nim(53) sysFatal", "Error: unhandled exception: key not found [KeyDefect]")), ("It fails", printed("Error: unhandled exception: index 5 not in 0 .. 1 [IndexDefect]"))), claims=True, kind="raised_here"),
    "error of a log after a warning": Case("It stops", printed("2026-01-01 10:00:01 WARNING the rope of this barge is wet", "2026-01-01 10:00:02 ERROR the barge has lost its rope", "2026-01-01 10:00:03 INFO bye"), "acme/barge.py:3", "`tow` builds the message “the barge has lost its rope”", (("It stops", printed("2026-01-01 10:00:02 ERROR the boat has lost its rope")), ("It stops", "The barge lost a rope.")), claims=True, kind="built_here"),
    "frame after a message of no fault": Case("It crashes", printed("the wind of the harbour is strong today", "Traceback (most recent call last):", '  File "/srv/acme/acme/gulls.py", line 40, in land_gulls', "TypeError: bad"), "acme/gulls.py:6", "`TypeError` passes through `land_gulls`", (("It crashes", printed("the wind of the harbour is strong today")), ("It crashes", printed("Traceback (most recent call last):", '  File "/srv/acme/acme/gulls.py", line 40, in feed_gulls', "TypeError: bad"))), kind="raised_here"),
    "place of a compiler of elixir": Case("It does not compile", printed('** (Kernel.TypespecError) lib/finch.ex:2: unexpected expression in typespec: "wild"', "    (elixir 1.19.0) lib/kernel/typespec.ex:992: Kernel.Typespec.compile_error/2"), "lib/finch.ex:2", "`Kernel.TypespecError` passes through", (("It does not compile", printed('** (Kernel.TypespecError) lib/robin.ex:2: unexpected expression in typespec: "wild"')), ("It does not compile", printed("** (Kernel.TypespecError) unexpected expression in typespec"))), kind="raised_here"),
    "frame without a line": Case("It crashes", printed(NATIVE[0], "#1  0x00005555 in key_free_all ()", NATIVE[1]), "native/keys.c:1", "The error passes through `key_free_all`", (("It crashes", printed(NATIVE[0], "#1  0x00005555 in key_free_most ()", NATIVE[1])), ("It crashes", "It frees all keys.")), kind="raised_here"),
    "frame of a class without a line": Case("It crashes", printed("java.lang.IllegalStateException: bad", "\tat acme.Badger.sleepLong(Unknown Source)"), "acme/Badger.java:7", "`java.lang.IllegalStateException` passes through `Badger.sleepLong`", (("It crashes", printed("java.lang.IllegalStateException: bad", "\tat other.Badger.sleepLong(Unknown Source)")), ("It crashes", printed("java.lang.IllegalStateException: bad", "\tat acme.Otter.sleepLong(Unknown Source)"))), kind="raised_here"),
    "frame of a release, moved": Case("It crashes", "I use acme 1.1.0.\n\n" + printed(*PYTHON).format("acme/sluice.py", "open_sluice"), "acme/sluice.py:5", "`TypeError` passes through `open_sluice`; this line is its innermost frame in the project's own code, line 2 of 1.1.0", (("It crashes", printed(*PYTHON).format("acme/sluice.py", "open_sluice")), ("It crashes", "I use acme 1.2.0.\n\n" + printed(*PYTHON).format("other/sluices.py", "open_all"))), claims=True, kind="raised_here"),
    "frame of a release, gone": Case("It crashes", "I use acme 1.2.0.\n\n" + printed(*PYTHON).format("acme/gates.py", "swing"), "acme/gates.py:1", "`TypeError` passes through `swing`; line 2 of 1.2.0 is no longer in this file, since `", (("It crashes", printed(*PYTHON).format("acme/gates.py", "swing")), ("It crashes", "I use acme 1.4.0.\n\n" + printed(*PYTHON).format("acme/gates.py", "swing"))), kind="raised_here"),
    "frame in a removed file": Case("It crashes", "I use acme 1.1.0.\n\n" + printed(*IN_WEIR).format(2), "acme/weirs.py:2", "`weir` uses `flow.dam`; the error says that this does not exist. The file is in 1.1.0; `", (("It crashes", printed(*IN_WEIR).format(2)), ("It crashes", "I use acme 1.2.0.\n\n" + printed(*IN_WEIR).format(2)), ("It crashes", "I use acme 1.1.0.\n\n" + printed(*IN_WEIR).format(1))), kind="raised_here"),
    "short link": Case("It is wrong", "See acme/weeds.py#L2.", "acme/weeds.py:2", "The report links to line 2 of `acme/weeds.py`", (("It is wrong", "See acme/weeds.py#pulling."), ("It is wrong", "See acme/reeds.py#L2.")), claims=True, kind="linked_here"),
    "link to a branch": Case("It is wrong", "See https://github.com/octo/acme/blob/main/acme/weeds.py#L2", "acme/weeds.py:2", "The report links to line 2 of `acme/weeds.py`", (("It is wrong", "See https://github.com/octo/other/blob/main/acme/weeds.py#L2"), ("It is wrong", "See https://github.com/octo/acme/blob/main/acme/weeds.py")), kind="linked_here"),
    "message of a compiler": Case("It does not compile", printed("src/cranes.c:2:16: error: implicit declaration of function 'lift' is invalid"), "src/cranes.c:2", "The report has “error: implicit declaration of function 'lift' is invalid” for this line of `crane`", (("It does not compile", printed("other/planes.c:2:16: error: implicit declaration of function 'lift' is invalid")), ("It does not compile", "The function lift is declared implicitly.")), claims=True, kind="named_here"),
    "line of a release, moved": Case("It is wrong in 1.1.0", "See acme/sluice.py:2 of acme 1.1.0.", "acme/sluice.py:5", "The report names this line of `open_sluice`, line 2 of 1.1.0", (("It is wrong in 1.4.0", "See acme/sluice.py:5 of acme 1.4.0."), ("It is wrong", "See acme/sluices.py:2.")), claims=True, kind="named_here"),
    "line of a class": Case("It is wrong", "In org.acme.Badger.dig(Den), on line 5, the den is not checked.", "acme/Badger.java:5", "The report names this line of `Badger.dig`", (("It is wrong", "In org.acme.Badger.dig(Den), after 5 calls, the den is not checked."), ("It is wrong", "In org.other.Beaver.dig(Den), on line 5, the den is not checked."), ("It is wrong", "In Badger.dig, line 5 of my list is skipped."), ("It is wrong", "It prints Badger: line 5, column 2: no such den.")), claims=True, kind="named_here"),
    "method that fails in a line": Case("Badger.dig method fails in line 5", "Always.", "acme/Badger.java:5", "The report names this line of `Badger.dig`", (("Badger.dig method fails after 5 lines", "Always."), ("The Beaver.dig method fails in line 5", "Always.")), claims=True, kind="named_here"),
    "option declared and tested elsewhere": Case("`--packed-moles` is ignored", "", "acme/moles.py:2", "`--packed-moles` is tested by this condition in `dig`", (("`--packed-mole` is ignored", ""), ("Packed moles are ignored", "")), kind="read_here"),
    "path in words": Case("It is wrong", "The fault is in acme/weeds.py I think.", "acme/weeds.py", "The report names the file `acme/weeds.py`", (("It is wrong", "The fault is in other/weeds.py I think."), ("It is wrong", "The fault is in myacme/weeds.py I think.")), kind="named_here"),
    "path from the root of a site": Case("It stops at /html/duties.php", "", "html/duties.php", "The report names the file `html/duties.php`", (("It stops at /srv/html/duties.php", ""), ("It stops at https://example.org/html/duties.php", "")), kind="named_here"),
    "path in the title": Case("It crashes in acme/weeds.py", "", "acme/weeds.py", "The report names the file `acme/weeds.py`", (("It crashes in acme/wheat.py", ""), ("It crashes in the wheat", "")), kind="named_here"),
    "file of the title": Case("keyReader is wrong", "It reads the keys twice.", "acme/keyReader.py", "The title may mean `acme/keyReader.py`", (("The reader of a key is wrong", ""), ("keyReaders are wrong", "")), kind="named_here"),
    "class of the title": Case("The Ladder class is wrong", OFTEN, "acme/Ladder.py", "The title may mean `acme/Ladder.py`", (("The ladder is wrong", OFTEN), ("The Ladders class is wrong", OFTEN)), kind="named_here"),
    "line of code in prose": Case("It is wrong", "This line is wrong:\nint height = lift(load);", "src/cranes.c:2", "A line of the report's code is in `crane`", (("It is wrong", "This line is wrong:\nint heights = lift(load);"), ("It is wrong", "The height of the load is wrong.")), claims=True, kind="pasted_here"),
    "change of a named file": Case("keyReader is wrong", "It works in 1.2.0 and fails in 1.3.0.", "acme/keyReader.py:2", "One commit changed `acme/keyReader.py` within 1.2.0 → 1.3.0", (("keyReader is wrong", "It works with OpenSSL 1.2.0 and fails with OpenSSL 1.3.0."), ("keyReader is wrong", "It fails in 1.2.0 and in 1.3.0.")), claims=True, kind="introduced_in"),
    "newer versions fail": Case("Gates swing wrongly", "It works in 1.3.0, newer versions fail.", "acme/gates.py:3", "One commit changed `acme/gates.py` within 1.3.0 → 1.4.0", (("Gates swing wrongly", "It fails in 1.3.0 and in newer versions."), ("Gates swing wrongly", "It works with OpenSSL 1.3.0, newer versions fail.")), claims=True, kind="introduced_in"),
    "number of a change": Case("Gates swing", "Related to #812.", "acme/gates.py:3", "Like the report, `", (("Gates swing", "Related to #8123."), ("Gates swing", "We have 812 of them.")), kind="named_change"),
    "path that is absent": Case("It crashes in acme/lost_toad.py", "Always.", None, "`acme/lost_toad.py` occurs nowhere", (("It crashes in acme/toads.py", "Always."), ("It crashes in other/lost_toad.py", "Always.")), kind="absent"),
}  # fmt: skip
ALIKE = [
    pytest.param(name, *alike, id=f"{name}-{n}") for name, case in CASES.items() for n, alike in enumerate(case.alike)
]


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    """The project, shared because no run changes it."""
    path = tmp_path_factory.mktemp("whole") / "acme"
    make_project(path)
    return Engine(path, None)


async def report_on(engine: Engine, title: str, body: str) -> TriageReport:
    """Return the report of a run."""
    report = (await run_at(engine, title, body)).report
    assert report is not None
    return report


def found(engine: Engine, title: str, body: str) -> Sequence[Fact]:
    """Return the facts that the engine finds for a run to state, in a sixth of a run's time."""
    query, head = Query(title, body), engine.commit("HEAD")
    return engine.facts(query, [hit.path for hit in engine.find(query, head).files], head)


def begins_at(facts: Sequence[Fact], case: Case) -> list[int]:
    """Return the numbers of the facts in the file of a case whose sentence begins as its sentence does."""
    path = case.place.partition(":")[0] if case.place else None
    return [n for n, fact in enumerate(facts) if fact.path == path and fact.says.startswith(case.says)]


@pytest.mark.parametrize("name", CASES)
async def test_the_fact_leads_the_report(engine: Engine, name: str):
    case = CASES[name]
    report = await report_on(engine, case.title, case.body)
    assert report.headline is not None, report.facts
    assert report.headline in begins_at(report.facts, case), report.facts
    assert {fact.says for fact in report.facts} <= {fact.says for fact in found(engine, case.title, case.body)}
    lead = report.facts[report.headline]
    assert ":".join(str(part) for part in (lead.path, lead.line) if part) == (case.place or "")
    assert (lead.kind, report.statement) == (case.kind, "claim" if case.claims else "facts")
    visible = report.github_comment.partition("<details>")[0]
    assert case.says.partition("`")[0] in visible.replace("\\", "")
    assert lead.path is None or lead.path in unquote(visible)


@pytest.mark.parametrize(("name", "title", "body"), ALIKE)
def test_a_report_that_resembles_it_has_no_such_fact(engine: Engine, name: str, title: str, body: str):
    assert begins_at(found(engine, title, body), CASES[name]) == []


def test_the_command_prints_the_same_facts(engine: Engine, tmp_path: Path):
    options = ("--repo", str(engine.repository.directory), "--brain", "rules", "--format", "json")
    done = triage(tmp_path, "run", *options, "--text", "It stops\n\n“Mute all birds” does nothing")
    (fact,) = json.loads(done.stdout)["report"]["facts"]
    assert (fact["kind"], fact["path"], fact["line"]) == ("quoted_here", "app/src/Birds.kt", 2)
