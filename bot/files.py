"""Private files and folders of this machine: the lock of a data directory, a clone's files, the .env."""

import fcntl
import logging
import os
import stat
import time
from pathlib import Path

from bot.errors import UserError

UMASK = 0o077
"""Only the owner can read files of a command and of its children."""
_PARTS = ("repos", "clones", "backtest")
logger = logging.getLogger(__name__)
CHILDREN_WAIT = 3.0
"""Seconds to wait for the children of a killed server: they notice in milliseconds."""


def restrict_permissions(directory: Path) -> None:
    """Remove other accounts' access to a data directory that an earlier release created; this covers its content."""
    try:
        for path in (directory, *(directory / part for part in _PARTS)):
            _close(path)
    except FileNotFoundError:
        return  # it is created later, under the private umask
    except OSError as error:
        logger.warning(
            "other accounts can read %s, and its permissions cannot be changed: %s",
            *(directory, error.strerror),
            extra={"action": "open_data"},
        )


def _close(path: Path) -> None:
    if not path.is_dir():
        return
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & stat.S_ISVTX:
        raise PermissionError(0, "it is a shared directory such as /tmp; set another TRIAGE_DATA_DIR")
    if mode & UMASK:
        path.chmod(mode & ~UMASK)


def find_env_file(repository: str | None) -> Path | None:
    """Return the current folder's ``.env``, unless a checkout can have supplied it: it could name another endpoint."""
    file = Path.cwd() / ".env"
    if not file.is_file() or (repository is not None and _same_repository(Path(repository), Path.cwd())):
        return None
    return file


def ignored_settings(repository: str) -> bool:
    """Return whether the current folder has a ``.env`` with our settings that is not read."""
    file = Path.cwd() / ".env"
    if find_env_file(repository) is not None or not file.is_file():
        return False
    lines = file.read_bytes().upper().splitlines()
    return any(line.removeprefix(b"EXPORT ").lstrip().startswith((b"TRIAGE_", b"OPENAI_")) for line in lines)


def is_inside(repository: str, file: Path) -> bool:
    """Return whether a file is in a repository, one of its submodules or another of its work trees."""
    return _same_repository(Path(repository), file.expanduser().resolve().parent)


def repository_around(folder: Path) -> str | None:
    """Return the folder if it is inside a repository, which may have supplied its ``.env``; otherwise None."""
    inside = (_work_tree(folder.resolve()) / ".git").exists() or _git_directory(folder) is not None
    return str(folder) if inside else None


def _same_repository(repository: Path, folder: Path) -> bool:
    """Return whether a folder is in the repository's work tree, one of its submodules or another work tree."""
    root = _work_tree(repository.expanduser().resolve())
    if folder.resolve().is_relative_to(root):
        return True
    common = _git_directory(root)
    return common is not None and common == _git_directory(folder)


def _work_tree(path: Path) -> Path:
    return next((parent for parent in (path, *path.parents) if (parent / ".git").exists()), path)


def origin_of(repository: str) -> str | None:
    """Return the address of the remote ``origin``; None if the folder is not a repository or has no such remote."""
    return _git(Path(repository), "config", "--get", "remote.origin.url")


def checkout_of(repository: str) -> Path | None:
    """Return the root of a repository's work tree; None if it is bare, or no repository."""
    root = _git(Path(repository), "rev-parse", "--show-toplevel")
    return Path(root) if root else None


def _git_directory(folder: Path) -> Path | None:
    """Return the git directory that all work trees of a repository share; None if git fails."""
    directory = _git(folder, "rev-parse", "--git-common-dir")
    return None if directory is None else (folder / directory).resolve()


def _git(folder: Path, *words: str) -> str | None:
    """Return what a command of git prints in one line; None if it fails."""
    import subprocess  # noqa: PLC0415  every command loads this module, and few ask git

    # git refuses a repository that another account owns ("dubious ownership"); safe.directory=* allows the query.
    asked = ["git", "-C", str(folder), "-c", "safe.directory=*", *words]
    try:
        done = subprocess.run(asked, capture_output=True, check=False, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode(errors="surrogateescape").strip() if done.returncode == 0 else None


class DirectoryLock:
    """A lock held from construction until the last process that inherited it ends."""

    def __init__(self, directory: Path, *, patience: float = CHILDREN_WAIT) -> None:
        """Take the lock; UserError if another server has it, or the directory is not writable."""
        self._file = _opened(directory)
        until = time.monotonic() + patience
        while not _locked(self._file):
            if time.monotonic() >= until:
                holder = os.pread(self._file, 20, 0).decode(errors="replace").strip()
                os.close(self._file)
                raise UserError(
                    f"another server (process {holder or 'unknown'}) works in {directory}: stop it, or set another"
                    " TRIAGE_DATA_DIR"
                )
            time.sleep(0.05)
        # The content is only for the message of a process that finds the lock taken; the lock itself is the kernel's.
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, str(os.getpid()).encode(), 0)

    @property
    def descriptor(self) -> int:
        """The descriptor for a child to inherit, so that no other server starts while the child still works."""
        return self._file

    def release(self) -> None:
        """Release the lock in this process."""
        os.close(self._file)


def _opened(directory: Path) -> int:
    try:
        directory.mkdir(parents=True, exist_ok=True)
        restrict_permissions(directory)
        return os.open(directory / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise UserError(f"cannot write to {directory}: {error.strerror}; set TRIAGE_DATA_DIR") from error


def _locked(file: int) -> bool:
    try:
        # flock belongs to the open file, not to the process: a child that inherited the descriptor holds it too.
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
