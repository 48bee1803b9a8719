# ruff: noqa: E501 - printed lines are as long as they are
"""Traces as tools and logs of many languages print them: their error, their message and their first frames."""

from __future__ import annotations

import pytest

from nodes.search.issue.stacktraces.families import find_traces

FORMATS = {
    "matlab": (
        "```\nUnrecognized function or variable 'temps'.\n\nError in openReeds (line 445)\n    find(temps == 0)\n         ^^^^^\nError in marsh.Loader/read>@(x)f(x) (line 3)\n    x = 3;\nError in main>sub (line 9)\n```",
        None,
        "Unrecognized function or variable 'temps'.",
        [("openReeds.m", 445), ("+marsh/Loader.m", 3), ("main.m", 9)],
    ),
    "apex": (
        "System.ListException: List index out of bounds: 0\n\nClass.dlrs.Rollup.fold: line 230, column 1\nExternal entry point\nTrigger.RollupTrigger: line 30, column 1",
        "System.ListException",
        "List index out of bounds: 0",
        [("Rollup.cls", 230), ("RollupTrigger.trigger", 30)],
    ),
    "apex-on-one-line": (
        'Users get: "System.NullPointerException: Attempt to de-reference a null object Class.Rollup.fold: line 74, column 1 External entry point Class.Runner.run: line 89, column 1 Trigger.Roll: line 34, column 1"',
        "System.NullPointerException",
        "Attempt to de-reference a null object",
        [("Rollup.cls", 74), ("Runner.cls", 89), ("Roll.trigger", 34)],
    ),
    "unreal": (
        "Unhandled Exception: EXCEPTION_ACCESS_VIOLATION reading address 0x38\n\n0x00007ffefb5c531c UnrealEditor-CoreUObject.dll!UnknownFunction []\n0x000002c6a40b4a9c UnrealEditor-Book.dll!UBook::Fold() [D:\\Unreal Projects\\Host\\Source\\Book.cpp:58]\nMyGame!UPage::Turn() [D:\\Unreal Projects\\Host\\Source\\Page.cpp:12]",
        "EXCEPTION_ACCESS_VIOLATION",
        "reading address 0x38",
        [("D:/Unreal Projects/Host/Source/Book.cpp", 58), ("D:/Unreal Projects/Host/Source/Page.cpp", 12)],
    ),
    "journal-in-another-language": (
        "juin 03 08:11:21 poste tidy[771]: thread 'main' panicked at src/scan.rs:47:18:\njuin 03 08:11:21 poste tidy[771]: index out of bounds: the len is 0 but the index is 0",
        "panic",
        "index out of bounds: the len is 0 but the index is 0",
        [("src/scan.rs", 47)],
    ),
    "syslog-012": (
        "Nov 12 03:14:15 nas backupd[812]: ERROR job failed#012Traceback (most recent call last):#012  File \"/opt/backupd/job.py\", line 27, in run#012    self.copy(src)#012KeyError: '/mnt/a'",
        "KeyError",
        "'/mnt/a'",
        [("/opt/backupd/job.py", 27)],
    ),
    "gnome-shell": (
        "Nov 21 10:11:12 host gnome-shell[2211]: Extension tiler@bo.dev: TypeError: win.get_monitor is not a function\n\n                                        Stack trace:\n                                          _place@file:///home/bo/lib/place.js:41:13\n                                          enable@file:///home/bo/extension.js:18:14",
        "TypeError",
        "win.get_monitor is not a function",
        [("/home/bo/lib/place.js", 41), ("/home/bo/extension.js", 18)],
    ),
    "monolog-of-a-command": (
        'console.CRITICAL: Error thrown while running command "app:pull". Message: "no page" {"exception":"[object] (TypeError(code: 0): no page at /app/src/Feed/Page.php:15)","command":"app:pull"} []',
        "TypeError",
        "no page",
        [("/app/src/Feed/Page.php", 15)],
    ),
    "rust-stripped": (
        "thread 'main' panicked at src/poll/rss.rs:48:20:\nno item\nstack backtrace:\n   0: rust_begin_unwind\n   4: pollr::rss::first\n             at ./src/poll/rss.rs:48:20\n   5: pollr::main\n             at ./src/main.rs:17:5",
        "panic",
        "no item",
        [("src/poll/rss.rs", 48), ("src/main.rs", 17)],
    ),
    "octave": (
        "```\nerror: 'depth' undefined\nerror: called from\n    pond at line 12 column 3\n    main at line 2 column 1\n```",
        None,
        "'depth' undefined",
        [("pond.m", 12), ("main.m", 2)],
    ),
    "vim": (
        "```\nError detected while processing function <SNR>50_SetUp[37]..fold#engine#Strip:\nline    3:\nE121: Undefined variable: b:fold_on\nE15: Invalid expression: b:fold_on\n```",
        "E121",
        "Undefined variable: b:fold_on",
        [("autoload/fold/engine.vim", 3), ("", 37)],
    ),
    "vim-script": (
        "```\nError detected while processing /home/me/.vim/plugin/fold.vim:\nline   39:\nE117: Unknown function: fold#on\n```",
        "E117",
        "Unknown function: fold#on",
        [("/home/me/.vim/plugin/fold.vim", 39)],
    ),
    "flutter-logcat": (
        "E/flutter (12391): [ERROR:flutter/lib/ui/ui_dart_state.cc(186)] Unhandled Exception: RangeError (index): Invalid value: Not in inclusive range 0..2: 3\nE/flutter (12391): #0      List.[] (dart:core-patch/growable_array.dart:264:36)\nE/flutter (12391): #1      Basket.priceAt (package:shop/src/basket.dart:41:23)\nE/flutter (12391): #2      _BasketPageState.build.<anonymous closure> (package:shop/pages/basket_page.dart:88:17)\nE/flutter (12391): <asynchronous suspension>\nE/flutter (12391): #3      main (package:shop/main.dart:12:3)",
        "RangeError",
        None,
        [("shop/lib/src/basket.dart", 41), ("shop/lib/pages/basket_page.dart", 88)],
    ),
    "flutter-box": (
        "══╡ EXCEPTION CAUGHT BY WIDGETS LIBRARY ╞══════════════════════════════\nThe following NoSuchMethodError was thrown building Builder(dirty):\nThe getter 'length' was called on null.\nReceiver: null\n\nWhen the exception was thrown, this was the stack:\n#0      Object.noSuchMethod (dart:core-patch/object_patch.dart:51:5)\n#1      ModelPage.rows (package:pave/util/model_page.dart:78:12)\n#2      StatelessElement.build (package:flutter/src/widgets/framework.dart:4569:28)\n════════════════════════════════════════════════════════════════════════",
        "NoSuchMethodError",
        None,
        [("pave/lib/util/model_page.dart", 78)],
    ),
    "powershell": (
        "```\nGet-Content : Cannot find path 'C:\\temp\\x.json' because it does not exist.\nAt C:\\Users\\me\\Documents\\PowerShell\\Modules\\Ledger\\Private\\Read-Ledger.ps1:27 char:13\n+     $raw = Get-Content -Path $Path -Raw\n+            ~~~~~~~~~~~~~~~~~~~~~~~~~~~~\n    + CategoryInfo          : ObjectNotFound: (C:\\temp\\x.json:String) [Get-Content], ItemNotFoundException\n    + FullyQualifiedErrorId : PathNotFound,Microsoft.PowerShell.Commands.GetContentCommand\n```",
        None,
        "Cannot find path 'C:\\temp\\x.json' because it does not exist.",
        [("C:/Users/me/Documents/PowerShell/Modules/Ledger/Private/Read-Ledger.ps1", 27)],
    ),
    "powershell7": (
        '```\nException: C:\\src\\ledger\\Public\\Close-Month.ps1:14:5\nLine |\n  14 |      throw "month is open"\n     |      ~~~~~~~~~~~~~~~~~~~~~\n     | month is open\n```',
        "Exception",
        "month is open",
        [("C:/src/ledger/Public/Close-Month.ps1", 14)],
    ),
    "lua-function-without-a-line": (
        "Error: expected table, got nil\nstack traceback:\n\t[C]: in function 'error'\n\tvim/shared.lua: in function 'validate'\n\tvim/shared.lua: in function 'extend'\n\t/fold/lua/fold/clients.lua:26: in function 'start'\n\t/fold/lua/fold/clients.lua:46: in function 'setup'",
        None,
        "expected table, got nil",
        [("/fold/lua/fold/clients.lua", 26), ("/fold/lua/fold/clients.lua", 46)],
    ),
    "haskell-call-stack": (
        "fold: Prelude.head: empty list\nCallStack (from HasCallStack):\n  error, called at libraries/base/GHC/List.hs:1646:3 in base:GHC.List\n  head, called at src/Fold/Engine.hs:139:67 in fold-1.7:Fold.Engine",
        None,
        "Prelude.head: empty list",
        [("libraries/base/GHC/List.hs", 1646), ("src/Fold/Engine.hs", 139)],
    ),
    "logcat-with-a-hidden-time": (
        "07-12 ##:##:##.### 4195 4195 E AndroidRuntime: FATAL EXCEPTION: main\n07-12 ##:##:##.### 4195 4195 E AndroidRuntime: java.lang.IllegalStateException: no bird\n07-12 ##:##:##.### 4195 4195 E AndroidRuntime: \tat org.acme.Nest.rest(Nest.kt:53)",
        "java.lang.IllegalStateException",
        "no bird",
        [("Nest.kt", 53)],
    ),
    "lua-packer-prefix": (
        "```\n[packer.nvim] stack traceback:\n[packer.nvim] ^I...share/nvim/plugged/fold.nvim/lua/fold/engine.lua:47: in function 'compute'\n[packer.nvim] ^I[C]: in function 'require'\n[packer.nvim] ^I...share/nvim/plugged/fold.nvim/lua/fold/init.lua:12: in main chunk\n```",
        None,
        None,
        [("...share/nvim/plugged/fold.nvim/lua/fold/engine.lua", 47)],
    ),
    "lua-nested-error": (
        "Error executing Lua callback: ...lazy/core/handler/cmd.lua:48: Vim:Error executing Lua callback: ...fold.nvim/lua/fold/init.lua:34: attempt to call method 'range' (a nil value)\nstack traceback:\n\t...fold.nvim/lua/fold/init.lua:34: in function 'blocks'\n\t[C]: in function 'cmd'\n\t...lazy/core/handler/cmd.lua:48: in function <...lazy/core/handler/cmd.lua:16>",
        None,
        "attempt to call method 'range' (a nil value)",
        [("...fold.nvim/lua/fold/init.lua", 34), ("...lazy/core/handler/cmd.lua", 48)],
    ),
    "lua-wrapped-path": (
        "Error detected while processing /home/a/.config/nvim/init.lua:\nE5113: Error while calling lua chunk: /home/a/proj/lua/fold/plugins.lua:\n2: attempt to concatenate global 'DATA_PATH' (a nil value)\nstack traceback:\n        /home/a/proj/lua/fold/plugins.lua:2: in main chunk\n        [C]: in function 'require'",
        None,
        "attempt to concatenate global 'DATA_PATH' (a nil value)",
        [("/home/a/proj/lua/fold/plugins.lua", 2)],
    ),
    "php-one-line": (
        "Fatal error: Uncaught TypeError: call_user_func_array(): Argument #1 ($callback) must be a valid callback in E:\\xampp\\htdocs\\plug\\includes\\hook.php:308 Stack trace: #0 E:\\xampp\\htdocs\\plug\\includes\\hook.php(332): Plug_Hook->apply_filters(NULL, Array) #1 E:\\xampp\\htdocs\\plug\\includes\\plugin.php(517): Plug_Hook->do_action(Array) #2 E:\\xampp\\htdocs\\plug\\index.php(17): require(‘E:\\\\xampp\\\\htdocs…’) #3 {main} thrown in E:\\xampp\\htdocs\\plug\\includes\\hook.php on line 308",
        "TypeError",
        None,
        [("E:/xampp/htdocs/plug/includes/hook.php", 308), ("E:/xampp/htdocs/plug/includes/hook.php", 332)],
    ),
    "net-mono-no-at": (
        "### Stacktrace ###\n\nSensus.Probes.PollingProbe+<TestHealthAsync>d__37.MoveNext () [0x00197] in /Users/x/sensus/Probes/PollingProbe.cs:210\nSensus.Protocol+<TestHealthAsync>d__219.MoveNext () [0x003ca] in /Users/x/sensus/Protocol.cs:1180\n\n### Reason ###\n\nSystem.NullReferenceException",
        None,
        None,
        [("/Users/x/sensus/Probes/PollingProbe.cs", 210), ("/Users/x/sensus/Protocol.cs", 1180)],
    ),
    "net-one-line": (
        "2016-01-05 09:18:13.7566 [Error] Boot: An unhandled exception occurred System.NullReferenceException: Object reference not set to an instance of an object.    at Acme.Sync.Manager.<LoadAsync>d__134.MoveNext() in C:\\projects\\sync\\src\\Manager.cs:line 459 --- End of stack trace from previous location where exception was thrown ---    at System.Runtime.CompilerServices.TaskAwaiter.ThrowForNonSuccess(Task task)    at Acme.Sync.Manager.<StartAsync>d__128.MoveNext() in C:\\projects\\sync\\src\\Manager.cs:line 348",
        "System.NullReferenceException",
        "Object reference not set to an instance of an object.",
        [("C:/projects/sync/src/Manager.cs", 459), ("C:/projects/sync/src/Manager.cs", 348)],
    ),
    "rust-backslash": (
        "thread 'main' panicked at src\\explorer_modinfo.rs:45:14:\ncalled `Option::unwrap()` on a `None` value\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace",
        "panic",
        "called `Option::unwrap()` on a `None` value",
        [("src/explorer_modinfo.rs", 45)],
    ),
    "rust-old-curly": (
        "thread 'main' panicked at ‘called ‘Option::unwrap()’ on a ‘None’ value’, src/main.rs:75:48\nstack backtrace:\n   0:        0x10a5959ae - <std::sys_common::backtrace::_print::DisplayBacktrace as core::fmt::Display>::fmt::h0b3cb0f81eb6c032\n  10:        0x10a5d1037 - core::panicking::panic::he62db7e7a9a0c786\n  11:        0x10a43c7ad - orogene::generate_html::h736a41a5d4519ff6\n  12:        0x10a43dc95 - orogene::main::hc00c4a3e2d1a7b8c",
        "panic",
        None,
        [("src/main.rs", 75)],
    ),
    "rust-spaced": (
        "thread 'main' panicked at crates/lune-utils/src/fmt/components.rs:188:40:         called `Option::unwrap()` on a `None` value",
        "panic",
        "called `Option::unwrap()` on a `None` value",
        [("crates/lune-utils/src/fmt/components.rs", 188)],
    ),
    "rust-worker-json": (
        '{"level":"ERROR","ts":"2025-02-01T10:00:00Z","msg":"thread \'tokio-runtime-worker\' panicked at src/queue.rs:91:9:\\nattempt to subtract with overflow\\nnote: run with `RUST_BACKTRACE=1`"}',
        "panic",
        "attempt to subtract with overflow",
        [("src/queue.rs", 91)],
    ),
    "go-pkg-errors": (
        "```\nhello world\ngithub.com/acme/kettle/boil.Run.func1\n        /home/d/src/github.com/acme/kettle/boil/boil.go:156\ngithub.com/acme/kettle/boil.(*Pot).Heat\n        /home/d/src/github.com/acme/kettle/boil/pot.go:44\nmain.main\n        /home/d/src/github.com/acme/kettle/main.go:12\nruntime.main\n        /home/dfc/go/src/runtime/proc.go:183\n```",
        None,
        "hello world",
        [
            ("/home/d/src/github.com/acme/kettle/boil/boil.go", 156),
            ("/home/d/src/github.com/acme/kettle/boil/pot.go", 44),
        ],
    ),
    "go-zap-json": (
        '{"level":"error","ts":1612345678.9,"caller":"store/open.go:77","msg":"open failed","error":"EOF","stacktrace":"github.com/acme/kettle/store.Open\\n\\t/src/store/open.go:77\\nmain.run\\n\\t/src/main.go:31\\nmain.main\\n\\t/src/main.go:19"}',
        None,
        None,
        [("/src/store/open.go", 77), ("/src/main.go", 31)],
    ),
    "go-http-panic": (
        "2023/04/01 12:00:00 http: panic serving 10.0.0.7:51234: runtime error: index out of range [3] with length 3\ngoroutine 52 [running]:\nnet/http.(*conn).serve.func1()\n\t/usr/local/go/src/net/http/server.go:1868 +0xb9\npanic({0x6d1a80?, 0xc0000b4000?})\n\t/usr/local/go/src/runtime/panic.go:920 +0x270\ngithub.com/acme/kettle/api.(*Server).list(0xc000010000, {0x7a1, 0xc0001})\n\t/build/api/list.go:58 +0x1d\nnet/http.HandlerFunc.ServeHTTP(0x0?, {0x7a?, 0xc0?}, 0x0?)\n\t/usr/local/go/src/net/http/server.go:2136 +0x29",
        None,
        None,
        [("/build/api/list.go", 58)],
    ),
    "vitest": (
        " FAIL  src/parse.test.ts > parse > keeps order\nAssertionError: expected [ 'b', 'a' ] to deeply equal [ 'a', 'b' ]\n ❯ sortKeys src/parse.ts:31:11\n     29|   const keys = Object.keys(x)\n     30|\n     31|     throw new Error('x')\n       |           ^\n     32|\n ❯ src/parse.test.ts:12:18",
        "AssertionError",
        "expected [ 'b', 'a' ] to deeply equal [ 'a', 'b' ]",
        [("src/parse.ts", 31), ("src/parse.test.ts", 12)],
    ),
    "jest-bullet": (
        "  ● parse › keeps order\n\n    TypeError: Cannot read properties of undefined (reading 'id')\n\n      12 |   const first = rows[0]\n    > 13 |   return first.id\n         |                ^\n\n      at firstId (src/rows.js:13:16)\n      at Object.<anonymous> (src/rows.test.js:7:10)",
        "TypeError",
        "Cannot read properties of undefined (reading 'id')",
        [("src/rows.js", 13)],
    ),
    "webpack-no-column": (
        "Uncaught TypeError: t.map is not a function\n    at List (webpack:///./src/components/List.jsx?:24)\n    at renderWithHooks (webpack:///./node_modules/react-dom/cjs/react-dom.development.js?:16305)",
        "TypeError",
        "t.map is not a function",
        [("src/components/List.jsx", 24)],
    ),
    "safari-frames": (
        "TypeError: undefined is not an object (evaluating 'a.b')\ndraw@https://app.example.org/static/js/canvas.js:10:22\nonFrame@https://app.example.org/static/js/loop.js:4:9\nglobal code@https://app.example.org/static/js/main.js:1:1",
        "TypeError",
        "undefined is not an object (evaluating 'a.b')",
        [("/static/js/canvas.js", 10)],
    ),
    "py-journal": (
        'Feb 01 10:00:00 host app[812]: Traceback (most recent call last):\nFeb 01 10:00:00 host app[812]:   File "/opt/app/feed.py", line 9, in <module>\nFeb 01 10:00:00 host app[812]:     main()\nFeb 01 10:00:00 host app[812]:   File "/opt/app/feed.py", line 5, in main\nFeb 01 10:00:00 host app[812]:     raise KeyError("uid")\nFeb 01 10:00:00 host app[812]: KeyError: \'uid\'\nFeb 01 10:00:00 host systemd[1]: app.service: Main process exited',
        "KeyError",
        "'uid'",
        [("/opt/app/feed.py", 5), ("/opt/app/feed.py", 9)],
    ),
    "py-json-exc": (
        '{"asctime": "2024-01-01", "levelname": "ERROR", "message": "boom", "exc_info": "Traceback (most recent call last):\\n  File \\"/srv/app/jobs.py\\", line 88, in run\\n    self.step()\\n  File \\"/srv/app/steps.py\\", line 12, in step\\n    raise ValueError(\\"no step\\")\\nValueError: no step"}',
        "ValueError",
        "no step",
        [("/srv/app/steps.py", 12), ("/srv/app/jobs.py", 88)],
    ),
    "py-dict-repr": (
        "celery said: {'exc': \"Traceback (most recent call last):\\n  File \\\"/srv/app/tasks.py\\\", line 7, in send\\n    conn.sendmail()\\nsmtplib.SMTPServerDisconnected: please run connect() first\\n\", 'id': 4}",
        "smtplib.SMTPServerDisconnected",
        "please run connect() first",
        [("/srv/app/tasks.py", 7)],
    ),
    "gdb-wrapped": (
        'Thread 1 "kettle" received signal SIGSEGV, Segmentation fault.\n0x0000555555555155 in boil (p=0x0) at src/boil.c:12\n12\t  return p->heat;\n(gdb) bt\n#0  0x0000555555555155 in boil (p=0x0) at\n    src/boil.c:12\n#1  0x00005555555551a4 in run_kettle (argc=1, argv=0x7fffffffe0a8, env=0x0,\n    flags=4) at src/main.c:33\n#2  main () at src/main.c:50',
        "SIGSEGV",
        "Segmentation fault",
        [("src/boil.c", 12), ("src/main.c", 33), ("src/main.c", 50)],
    ),
    "c-assert-glib": (
        "kettle: ../src/heat.c:77: heat_set: Assertion `level >= 0' failed.\nAborted (core dumped)",
        "Assertion",
        "level >= 0",
        [("../src/heat.c", 77)],
    ),
    "glib-critical": (
        "**\nKettle:ERROR:../src/kettle-window.c:212:kettle_window_show: assertion failed: (KETTLE_IS_WINDOW (self))\nBail out!",
        None,
        None,
        [("../src/kettle-window.c", 212)],
    ),
    "a-line-of-79-characters": (
        "System.InvalidOperationException: Sequence contains no elements\n   at Acme.Shop.Cart.<TotalAsync>d__7.MoveNext() in C:\\src\\Shop\\Cart.cs:line 41\n--- End of stack trace from previous location ---\n   at Acme.Shop.Program.Main(String[] args) in C:\\src\\Shop\\Program.cs:line 9",
        "System.InvalidOperationException",
        "Sequence contains no elements",
        [("C:/src/Shop/Cart.cs", 41), ("C:/src/Shop/Program.cs", 9)],
    ),
    "xdebug-in-a-method": (
        "Fatal error: Uncaught Error: Call to a member function price() on null in /srv/src/Cart.php on line 41\n\nCall Stack:\n    0.0004     391232   1. {main}() /srv/index.php:0\n    0.0102     402344   2. Shop\\Cart->total($items = array (0 => 1)) /srv/index.php:9",
        "Error",
        "Call to a member function price() on null",
        [("/srv/src/Cart.php", 41), ("/srv/index.php", 9)],
    ),
    "lambda-log": (
        '[ERROR] IndexError: list index out of range\nTraceback (most recent call last):\n  File "/var/task/cart.py", line 41, in place\n    return x[1]',
        "IndexError",
        "list index out of range",
        [("/var/task/cart.py", 41)],
    ),
    "backward-cpp": (
        'Stack trace (most recent call last):\n#3    Object "./shop", at 0x4011f4, in _start\n#2    Source "/src/main.cpp", line 9, in main [0x401cd6]\n      >   9:   total(v);\n#1    Source "/src/cart.cpp", line 4, in total(std::vector<int>&) [0x401b2d]\n          3: int total(std::vector<int>& v) {\n      >   4:   return v.at(9);',
        None,
        None,
        [("/src/cart.cpp", 4), ("/src/main.cpp", 9)],
    ),
    "asan-inline": (
        "==4242==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602000000014 at pc 0x0000004f8b5a bp 0x7ffd sp 0x7ffc\nREAD of size 4 at 0x602000000014 thread T0\n    #0 0x4f8b59 in kettle::Pot::drain(int) /src/kettle/pot.cc:61:12\n    #1 0x4f9000 in main /src/kettle/main.cc:9:3",
        "heap-buffer-overflow",
        None,
        [("/src/kettle/pot.cc", 61)],
    ),
    "elixir": (
        "** (FunctionClauseError) no function clause matching in Shop.Cart.add/2\n    (shop 0.3.1) lib/shop/cart.ex:18: Shop.Cart.add(nil, %{id: 1})\n    (shop 0.3.1) lib/shop_web/live/cart_live.ex:44: ShopWeb.CartLive.handle_event/3\n    (phoenix_live_view 0.20.1) lib/phoenix_live_view/channel.ex:447: anonymous fn/3 in Phoenix.LiveView.Channel.view_handle_event/3",
        "FunctionClauseError",
        "no function clause matching in Shop.Cart.add/2",
        [("lib/shop/cart.ex", 18), ("lib/shop_web/live/cart_live.ex", 44)],
    ),
    "erlang-genserver": (
        "[error] GenServer Shop.Stock terminating\n** (ArithmeticError) bad argument in arithmetic expression\n    (shop 0.3.1) lib/shop/stock.ex:29: Shop.Stock.handle_call/3\n    (stdlib 5.0) gen_server.erl:1113: :gen_server.try_handle_call/4\nLast message (from #PID<0.1.0>): :take",
        "ArithmeticError",
        "bad argument in arithmetic expression",
        [("lib/shop/stock.ex", 29)],
    ),
    "xdebug-html-text": (
        "( ! ) Fatal error: Uncaught Error: Call to a member function id() on null in /var/www/html/src/Cart.php on line 42\n( ! ) Error: Call to a member function id() on null in /var/www/html/src/Cart.php on line 42\nCall Stack\n#\tTime\tMemory\tFunction\tLocation\n1\t0.0004\t362304\t{main}( )\t.../index.php:0\n2\t0.0100\t512000\tApp\\Cart->total( )\t.../index.php:12",
        "Error",
        "Call to a member function id() on null",
        [("/var/www/html/src/Cart.php", 42)],
    ),
    "laravel-log": (
        '[2024-01-01 10:00:00] production.ERROR: Undefined array key "sku" {"exception":"[object] (ErrorException(code: 0): Undefined array key \\"sku\\" at /var/www/app/Services/Stock.php:58)\n[stacktrace]\n#0 /var/www/vendor/laravel/framework/src/Illuminate/Foundation/Bootstrap/HandleExceptions.php(255): handleError()\n#1 /var/www/app/Services/Stock.php(58): Illuminate\\\\Foundation\\\\Bootstrap\\\\HandleExceptions->{closure}()\n#2 /var/www/app/Http/Controllers/StockController.php(21): App\\\\Services\\\\Stock->take()\n#3 {main}\n"}',
        "ErrorException",
        None,
        [("/var/www/app/Services/Stock.php", 58)],
    ),
    "ruby-34": (
        "/home/u/kettle/lib/kettle/pot.rb:14:in 'Kettle::Pot#heat': undefined method '+' for nil (NoMethodError)\n\n    @level + 1\n           ^\n\tfrom /home/u/kettle/lib/kettle/cli.rb:30:in 'block in Kettle::CLI#run'\n\tfrom /home/u/kettle/exe/kettle:5:in '<main>'",
        "NoMethodError",
        "undefined method '+' for nil",
        [("/home/u/kettle/lib/kettle/pot.rb", 14), ("/home/u/kettle/lib/kettle/cli.rb", 30)],
    ),
    "rails-inline": (
        "ActionView::Template::Error (undefined method `name' for nil:NilClass): 3: <%= @pot.name %> app/views/pots/show.html.erb:3:in `_app_views_pots_show_html_erb' app/controllers/pots_controller.rb:9:in `show'",
        "ActionView::Template::Error",
        None,
        [("app/views/pots/show.html.erb", 3), ("app/controllers/pots_controller.rb", 9)],
    ),
    "kotlin-android-at": (
        "--------- beginning of crash\n02-01 10:00:00.000  4242  4242 E AndroidRuntime: FATAL EXCEPTION: main\n02-01 10:00:00.000  4242  4242 E AndroidRuntime: Process: org.acme.pot, PID: 4242\n02-01 10:00:00.000  4242  4242 E AndroidRuntime: kotlin.UninitializedPropertyAccessException: lateinit property adapter has not been initialized\n02-01 10:00:00.000  4242  4242 E AndroidRuntime: \tat org.acme.pot.ui.PotFragment.onResume(PotFragment.kt:73)\n02-01 10:00:00.000  4242  4242 E AndroidRuntime: \tat androidx.fragment.app.Fragment.performResume(Fragment.java:3039)",
        "kotlin.UninitializedPropertyAccessException",
        "lateinit property adapter has not been initialized",
        [("PotFragment.kt", 73)],
    ),
    "swift-fatal": (
        "Kettle/Pot.swift:33: Fatal error: Unexpectedly found nil while unwrapping an Optional value\n2024-01-01 10:00:00.000 Kettle[4242:1234] Kettle/Pot.swift:33: Fatal error: Unexpectedly found nil while unwrapping an Optional value",
        "Fatal error",
        "Unexpectedly found nil while unwrapping an Optional value",
        [("Kettle/Pot.swift", 33)],
    ),
    "zig": (
        "thread 4242 panic: index out of bounds: index 5, len 3\n/home/u/kettle/src/pot.zig:18:22: 0x1034d6b in heat (kettle)\n    return self.rows[i];\n                     ^\n/home/u/kettle/src/main.zig:7:13: 0x1034a12 in main (kettle)\n/usr/lib/zig/std/start.zig:511:22: 0x1034650 in posixCallMainAndExit (kettle)",
        "panic",
        "index out of bounds: index 5, len 3",
        [("/home/u/kettle/src/pot.zig", 18), ("/home/u/kettle/src/main.zig", 7)],
    ),
    "recursion-firefox": (
        "TypeError: row is undefined\nwalk@http://localhost:5173/src/tree.js:12:9\nwalk@http://localhost:5173/src/tree.js:18:13\nwalk@http://localhost:5173/src/tree.js:18:13\nrender@http://localhost:5173/src/page.js:40:3",
        "TypeError",
        "row is undefined",
        [("/src/tree.js", 12), ("/src/tree.js", 18), ("/src/tree.js", 18), ("/src/page.js", 40)],
    ),
    "recursion-in-a-console": (
        "Uncaught TypeError: row is undefined\n    walk tree.ts:12\n    walk tree.ts:18:3\n    walk tree.ts:18:3\n    render page.ts:40",
        "TypeError",
        "row is undefined",
        [("tree.ts", 12), ("tree.ts", 18), ("tree.ts", 18), ("page.ts", 40)],
    ),
    "recursion-dart": (
        "Unhandled exception:\nBad state: No element\n#0      Tree.walk (package:kettle/tree.dart:12:5)\n#1      Tree.walk (package:kettle/tree.dart:18:5)",
        None,
        None,
        [("kettle/lib/tree.dart", 12), ("kettle/lib/tree.dart", 18)],
    ),
    "console-with-signs": (
        "row is undefined\nwalk @ tree.ts:12\n(anonymous) @ page.ts:18",
        None,
        None,
        [("tree.ts", 12), ("page.ts", 18)],
    ),
    "crash-collector": (
        "Fatal Exception: FlutterError: No map\n0  ???                            0x0 _MapState.style + 822 (MapPage.dart:822)\n1  ???                            0x0 _MapState.build + 90 (MapPage.dart:90)",
        "FlutterError",
        "No map",
        [("MapPage.dart", 822), ("MapPage.dart", 90)],
    ),
    "console-with-a-place-in-front": (
        "index.ts:41 Uncaught (in promise) RangeError: Invalid time\n    at Date.toISOString (<anonymous>)\n    at stamp (index.ts:41:18)\n    at send (Form.vue:27:5)",
        "RangeError",
        "Invalid time",
        [("index.ts", 41), ("Form.vue", 27)],
    ),
    "android-waits-for-a-lock": (
        '"main" prio=5 tid=1 Blocked\n  at org.acme.Store.open(Store.kt:33)\n  - waiting to lock <0x0a1b> (a java.lang.Object) held by thread 12\n  at org.acme.Home.show(Home.kt:14)',
        None,
        None,
        [("Store.kt", 33), ("Home.kt", 14)],
    ),
    "error-in-fields-above": (
        '- **Exception Type:** RuntimeError\n- **Exception Message:** no shape\n\n## Stack Trace\n```\n  File "/srv/a/run.py", line 4, in run\n    go()\n  File "/srv/a/go.py", line 9, in go\n    cat(x)\n```',
        "RuntimeError",
        "no shape",
        [("/srv/a/go.py", 9), ("/srv/a/run.py", 4)],
    ),
    "each-line-in-backticks": (
        '`Traceback (most recent call last):`\n`  File "/srv/a/go.py", line 9, in go`\n`    cat(x)`\n`ValueError: no cat`',
        "ValueError",
        "no cat",
        [("/srv/a/go.py", 9)],
    ),
    "each-line-a-string-of-json": (
        '"stack": [\n  "TypeError: x is not a function",\n  "at add (/srv/a/cart.ts:23:16)",\n  "at buy (/srv/a/shop.ts:12:3)"\n]',
        "TypeError",
        "x is not a function",
        [("/srv/a/cart.ts", 23), ("/srv/a/shop.ts", 12)],
    ),
    "cut-in-the-number-of-a-line": (
        'Traceback (most recent call last):\n  File "/srv/acme/long/path/go.py", line 2\n7, in go\n    cat(x)\nValueError: no cat',
        "ValueError",
        "no cat",
        [("/srv/acme/long/path/go.py", 27)],
    ),
}
"""A text, its error and its message if they must be found, and the place of its frames."""


@pytest.mark.parametrize("name", FORMATS)
def test_one_trace_with_its_error_and_its_frames(name):
    text, error, message, places = FORMATS[name]
    (trace,) = [found for found in find_traces(text) if found.frames]
    assert error in (None, trace.error)
    assert message in (None, trace.message)
    found = [(frame.path, frame.line) for frame in trace.frames]
    first = found.index(places[0])
    assert [place for place in found[first:] if place in places] == places


@pytest.mark.parametrize(
    ("text", "functions"),
    [
        (
            "vim/shared.lua: in function 'extend'\n/fold/lua/a.lua:26: in function 'start'\n/fold/lua/a.lua:46: in function 'setup'",
            ["extend", "start", "setup"],
        ),
        (
            "CallStack (from HasCallStack):\n  one, called at a/A.hs:3:3 in fold:A\n  two, called at a/B.hs:9:9 in fold:B",
            ["two", None],
        ),
        ("walk@file:///a/tree.js:12:9\nwalk@file:///a/tree.js:18:9", ["walk", "walk"]),
        (
            "#0      Tree.walk (package:a/tree.dart:12:5)\n#1      Tree.walk (package:a/tree.dart:18:5)",
            ["Tree.walk"] * 2,
        ),
        ("TypeError: x\n    Tree.walk tree.ts:12\n    Tree.walk tree.ts:18\n", ["Tree.walk"] * 2),
        (
            "NullReferenceException: x\nTree.Walk () (at A/Tree.cs:12)\nTree.Walk () (at A/Tree.cs:18)",
            ["Tree.Walk"] * 2,
        ),
        (
            "Backtrace (most recent call first):\n [0] walk (res://tree.gd:12)\n [1] walk (res://tree.gd:18)",
            ["walk"] * 2,
        ),
        ("TypeError: x\n    at Zones.load (plugin:zones:12:3)\n    at eval (plugin:zones:9:1)", ["load", None]),
        ("TypeError: x\n    at Zones.load (VM12:12:3)\n    at Zones.eval (<anonymous>:9:1)", ["load", None]),
        ("TypeError: x\n    at Zones.load (https://a.example/assets/index-Dk3Q1a2B.js:12:3)", ["load"]),
        ("TypeError: x\n    at Zones.load (static/js/main.3f2a1b9c.chunk.js:1:34567)", ["load"]),
        ("TypeError: x\n    at Zones.load (lib/zone-database2.js:1:34)", ["Zones.load"]),
        ("TypeError: x\nZones.load@blob:https://a.example/3f:12:3", ["load"]),
        (
            'Traceback (most recent call last):\n\tFile "/a/chain.bzl", line 29, column 31, in _chain_impl\n\t\tx = y\nError: no key',
            ["_chain_impl"],
        ),
        (
            "*** Terminating app due to uncaught exception 'NSRangeException', reason: 'index 5'\n*** First throw call stack:\n(\n"
            "\t0   Acme                                0x0000000102e4d1a0 -[Page(Zones) show:at:] + 188\n)",
            ["show"],
        ),
    ],
)
def test_the_functions_of_frames(text: str, functions: list[str | None]):
    (trace,) = find_traces(text)
    assert [frame.function for frame in trace.frames] == functions


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("adapter.a.0 console.ts:40:20\nadapter.b.0 console.ts:40:20", id="what-a-console-prints"),
        pytest.param("kettle.admin@6.13.16 start.jsx:19:9", id="a-package-and-its-version"),
        pytest.param("TypeError: x\n    at <anonymous>:1:2", id="a-console-alone"),
    ],
)
def test_lines_with_a_place_that_are_no_frames(text: str):
    assert [frame for trace in find_traces(text) for frame in trace.frames] == []
