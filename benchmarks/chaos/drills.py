"""Drills of what happens around the servers: each runs separately, prints its figures, and fails if a guarantee breaks.

python -m benchmarks.chaos.drills [name …]    all of them: fifteen minutes; as root also the broken disk
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import socketserver
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.chaos.fleet import Fleet
from benchmarks.chaos.scenarios import FROZEN, ISSUES, Day, report
from tests.serve.app import App, wait_for
from tests.serve.conftest import BODY, FILES, TITLE
from tests.servers.deliveries import comment_event, issue_event
from tests.servers.github_server import Call, Fault
from tests.servers.github_world import Repo
from tests.servers.postgres import Postgres
from tests.support.patience import wait_while_moving
from tests.support.repositories import git, make_repository


class Wire:
    """A TCP address of a Unix socket. While it is cut, bytes wait, and neither side learns of it."""

    def __init__(self, target: Path) -> None:
        self._target = target
        self.intact = threading.Event()
        self.intact.set()

    @contextlib.contextmanager
    def listening(self) -> Iterator[int]:
        """Accept connections; the port is the result."""
        wire = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                wire.intact.wait()
                with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as far:
                    far.connect(str(wire._target))
                    back = threading.Thread(target=wire._pump, args=(far, self.request), daemon=True)
                    back.start()
                    wire._pump(self.request, far)
                    back.join()

        with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
            server.daemon_threads, server.block_on_close = True, False
            threading.Thread(target=server.serve_forever, daemon=True).start()
            yield server.server_address[1]
            self.intact.set()
            server.shutdown()

    def _pump(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while some := source.recv(65_536):
                self.intact.wait()
                target.sendall(some)
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


def partition(day: Day) -> None:
    """Two of three workers lose the network to the database for 30 seconds, twice, and come back with open work."""
    day.github.fault = lambda _call: time.sleep(0.3)
    wire = Wire(day.postgres.folder / ".s.PGSQL.5432")
    with wire.listening() as port:

        def detour(url: str) -> str:
            return url.partition("?")[0].replace("@/", f"@127.0.0.1:{port}/")

        with day.fleet(servers=2, workers=3, detour=detour) as fleet:
            for _ in range(1 if day.short else 2):
                opening = threading.Thread(target=day.open, args=(fleet.receivers, ISSUES // 3))
                while not any(map(fleet.busy, fleet.workers[:-1])):
                    day.open(fleet.receivers, 1)
                    time.sleep(0.1)
                wire.intact.clear()
                opening.start()
                for app in fleet.workers[:-1]:
                    assert app.process is not None
                    fleet.watch(fleet.jobs_of(app.process.pid), time.monotonic())
                time.sleep(FROZEN + day.part(20))
                wire.intact.set()
                opening.join()


def failover(day: Day) -> None:
    """The database falls back to a copy without the last seconds: what they did is not repeated, what came is found."""
    day.github.fault = lambda _call: time.sleep(0.2)
    with day.fleet(servers=2, workers=3) as fleet:
        day.open(fleet.receivers, len(day.repos))
        fleet.calm(day.opened)
        _restart(fleet)  # which lists the repositories that it knows
        _open_now(day, fleet.receivers, 3)
        copy_data(day.postgres)
        _open_now(day, fleet.receivers, 6)
        time.sleep(1.5)
        restore_data(day.postgres)
        rows = fleet.apps[0].ask("SELECT count(*) FROM deliveries")
        day.results["acknowledged, then lost"] = len(day.opened) - int(rows[0][0])
        time.sleep(10)
        _restart(fleet)  # instead of waiting for the hourly round
        fleet.waits.clear()


def _restart(fleet: Fleet) -> None:
    """Kill and start all processes, and let one of them do the round of a start."""
    fleet.apps[0].ask("DELETE FROM leases")
    for app in fleet.apps:
        fleet.kill(app)
    wait_for(lambda: bool(fleet.apps[0].ask("SELECT 1 FROM leases")), 60.0, fleet.status)
    time.sleep(5)


def _open_now(day: Day, receivers: list[App], issues: int) -> None:
    """Open issues as of now, because missed issues are found by their age."""
    before = len(day.opened)
    day.open(receivers, issues)
    for repo, number in day.opened[before:]:
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        repo.issues[number] |= {"created_at": now, "updated_at": now}


def copy_data(postgres: Postgres) -> None:
    """Copy the database's files as of one moment."""
    postgres.stop()
    subprocess.run(["cp", "-a", postgres.folder / "data", postgres.folder / "copy"], check=True)
    postgres.start()


def restore_data(postgres: Postgres) -> None:
    """End the database as by a crash, and continue with the copy."""
    postgres.stop(crash=True)
    shutil.rmtree(postgres.folder / "data")
    (postgres.folder / "copy").rename(postgres.folder / "data")
    postgres.start()


ELSEWHERE = "http://169.254.169.254/latest/meta-data"
PACK = b"0008NAK\n0023\x01PACK\0\0\0\2\0\0\0\7" + b"\x95\x0ax\x9c" + b"\x5a" * 11
RESULT = {"Content-Type": "application/x-git-upload-pack-result"}
GIT_FAULTS = {
    "truncated": Fault(status=200, content=PACK, headers=RESULT),
    "reset": Fault(),
    "redirected": Fault(status=302, headers={"Location": ELSEWHERE}),
    "nonsense": Fault(status=200, content=os.urandom(3_000_000), headers=RESULT),
    "silent": Fault(status=503, delay=20.0),
    "refused": Fault(status=403),
}


def hostile_git(day: Day) -> None:
    """Each repository's git server breaks the first fetch in another way: truncated, reset, redirected, silent."""
    first, world = day.repos[0], day.github.world
    day.repos = [
        world.repository(f"evil/{name}", installation=500 + number, git=first.git, head=first.head)
        for number, name in enumerate(GIT_FAULTS)
    ]
    faults = {f"evil/{name}": fault for name, fault in GIT_FAULTS.items()}
    met: list[str] = []

    def fault(call: Call) -> Fault | None:
        if ".git/" not in call.path:
            return None
        name = call.path.strip("/").partition(".git/")[0]
        packs = call.path.endswith("git-upload-pack") or faults[name].status == 302
        if not packs or met.count(name) >= 2:
            return None
        met.append(name)
        return faults[name]

    day.github.fault = fault
    with day.alone() as app:
        day.open([app], len(day.repos))
    day.results["fetches that failed"] = len(met)


def flood(day: Day) -> None:
    """One installation opens 80 issues at once; another opens one every two seconds and waits no longer for it."""
    quiet, loud = day.repos[0], day.repos[1]
    waits: list[float] = []
    with day.alone() as app:
        _open_in(day, app, quiet, "first")
        wait_for(lambda: bool(day.github.world.reports(*day.opened[0])), 120.0, app.unfinished)
        for number in range(day.part(80)):
            _open_in(day, app, loud, f"flood {number}")
        for number in range(day.part(10)):
            began = time.monotonic()
            _open_in(day, app, quiet, f"quiet {number}")
            wait_for(lambda: bool(day.github.world.reports(*day.opened[-1])), 120.0, app.unfinished, pause=0.05)
            waits.append(time.monotonic() - began)
            time.sleep(max(0.0, 2.0 - waits[-1]))
        done = sum(bool(day.github.world.reports(*one)) for one in day.opened if one[0] is loud)
        day.results["quiet waits, s"] = f"{sorted(waits)[len(waits) // 2]:.1f} median, {max(waits):.1f} at most"
        day.results["of the flood done then"] = done


def _open_in(day: Day, app: App, repo: Repo, title: str) -> None:
    day.opened.append((repo, app.open_issue(repo, f"{TITLE}, {title}", BODY)))


ANSWER = "I call `parse_date` from feedbox/dates.py with a zone of -0700 and it gives a wrong number of minutes."


def waiting(day: Day) -> None:
    """While questions wait, the branch is force-pushed, half of the issues move, a worker dies; then people answer."""
    here, there = day.repos[0], day.github.world.repository("octo/elsewhere", installation=300, git=day.repos[0].git)
    day.repos, world, old = [here], day.github.world, here.head
    with day.fleet(servers=2, workers=2) as fleet:
        day.open(fleet.receivers, 4, "It breaks", "")
        fleet.calm(day.opened)
        asked = [repo for repo, number in day.opened if "**Q1**" in "".join(world.reports(repo, number))]
        assert here.git is not None
        git(here.git, "update-ref", "-d", "refs/heads/main")
        here.head = there.head = make_repository(here.git, {**FILES, "new.py": "x = 1\n"}, message="Another beginning")
        day.opened[::2] = [(there, _move(day, fleet.receivers, here, number, there)) for _, number in day.opened[::2]]
        fleet.kill(fleet.workers[0])
        for repo, number in day.opened:
            comment = world.comment(repo, number, ANSWER)
            body = comment_event(world, repo, number, comment)
            day.deliver(fleet.receivers, "issue_comment", body, f"answered-{repo.id}-{number}")

        def answered() -> int:
            """Return the number of issues whose report has the answer."""
            return sum("- [x] **Q1**" in world.reports(*one)[0] for one in day.opened)

        wait_while_moving(lambda: answered() == len(day.opened), answered, fleet.status)
        texts = [world.reports(*one)[0] for one in day.opened]
        day.results["asked, answered, at the new commit"] = f"{len(asked)}, {answered()}, " + str(
            sum(f"/{here.head}/" in text and f"/{old}/" not in text for text in texts)
        )
        day.results["questions"] = fleet.apps[0].ask("SELECT count(*) FROM questions")[0][0]


def _move(day: Day, receivers: list[App], here: Repo, number: int, there: Repo) -> int:
    """Transfer an issue; its deliveries arrive in the wrong order. Return its number at the new place."""
    world = day.github.world
    left = world.issue(here, number)
    new = world.transfer(here, number, there)
    gone = {"new_issue": world.issue(there, new), "new_repository": {"id": there.id, "full_name": there.full_name}}
    came = {"old_issue": left, "old_repository": {"id": here.id, "full_name": here.full_name}}
    arriving = issue_event(world, there, new, "opened", changes=came)
    here.issues[number] = left  # the payload shows it once more
    leaving = issue_event(world, here, number, "transferred", changes=gone)
    del here.issues[number]
    day.deliver(receivers, "issues", arriving, f"arrived-{number}")
    day.deliver(receivers, "issues", leaving, f"left-{number}")
    return new


def broken_disk(day: Day) -> None:
    """The file system becomes read-only under a running server, is repaired, and the server is started again."""
    image, data = day.folder / "image", day.folder / "disk"
    data.mkdir()
    image.write_bytes(b"")
    os.truncate(image, 256_000_000)
    subprocess.run(["mkfs.ext4", "-q", image], check=True)
    mount = ["mount", "-o", "loop,errors=remount-ro", str(image), str(data)]
    if os.geteuid() or subprocess.run(mount, check=False).returncode:
        day.results["skipped"] = "only root can mount a file system, and not on every machine"
        return
    try:
        _break_and_repair(day, data, mount)
    finally:
        subprocess.run(["umount", "--lazy", data], check=True)


def _break_and_repair(day: Day, data: Path, mount: list[str]) -> None:
    app = App(day.github, data / "alone", {"TRIAGE_FREE_MB": "10"})
    app.start()
    try:
        day.open([app], 3)
        subprocess.run(["mount", "-o", "remount,abort", data], check=True)
        opening = threading.Thread(target=day.open, args=([app], 3))
        opening.start()
        time.sleep(15)
        day.results["still running"] = app.process is not None and app.process.poll() is None
        app.kill()
        subprocess.run(["umount", data], check=True)
        subprocess.run(["fsck.ext4", "-y", day.folder / "image"], capture_output=True, check=False)
        subprocess.run(mount, check=True)
        app.start()
        opening.join()
        wait_for(lambda: all(day.github.world.reports(*one) for one in day.opened), 300.0, app.unfinished)
        wait_for(lambda: not app.unfinished(), 300.0, app.unfinished)
        day.tell_logs([app])
    finally:
        app.kill()


DRILLS: dict[str, Callable[[Day], None]] = {
    "partition": partition,
    "failover": failover,
    "hostile-git": hostile_git,
    "flood": flood,
    "waiting": waiting,
    "broken-disk": broken_disk,
}

if __name__ == "__main__":
    report(DRILLS, __doc__)
