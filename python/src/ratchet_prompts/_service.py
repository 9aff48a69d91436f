"""The service to use: a running one, or one that is started and ends with this process."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from importlib import metadata
from pathlib import Path
from typing import IO, Callable, List, Optional
from urllib.parse import unquote, urlsplit

import httpx

from . import _settings
from .client import Client
from .errors import ConfigurationError, RatchetError

DISTRIBUTION = "ratchet-prompts"
PATIENCE_S = 2.0
START_S = 900.0
"""The first start of a clone installs and builds."""
STOP_S = 60.0

Note = Callable[[str], None]


def connect(note: Note) -> Client:
    """A client of the service at the url of the settings; starts one if none answers there."""
    url = _settings.service_url()
    if not answers(url):
        if os.environ.get("RATCHET_URL"):
            raise ConfigurationError(f"RATCHET_URL: no Ratchet service answers at {url}")
        url = _started.ensure(url, note)
    return Client(url)


def _get(url: str) -> httpx.Response:
    with httpx.Client(mounts=_settings.DIRECT, timeout=PATIENCE_S) as http:
        return http.get(url, headers={"accept": "application/json"})


def answers(url: str) -> bool:
    """Whether a Ratchet service answers at a URL."""
    with contextlib.suppress(httpx.HTTPError, ValueError):
        found = _get(url).json()
        return isinstance(found, dict) and found.get("name") == "ratchet"
    return False


class _Started:
    """The service that this process started."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: Optional[subprocess.Popen[bytes]] = None
        self._output: Optional[IO[bytes]] = None

    def ensure(self, url: str, note: Note) -> str:
        """Starts the service; returns its url, whose port is another one if that of `url` is taken."""
        with self._lock:
            if answers(url) or answers(url := _settings.service_url()):
                return url
            command = start_command(url)
            note(f"No service answers at {url}: starting one (data in {_settings.data_folder()}) …")
            self._output = tempfile.TemporaryFile()  # noqa: SIM115
            self._process = subprocess.Popen(
                [sys.executable, "-I", str(Path(__file__).with_name("_supervise.py")), *command],
                stdin=subprocess.PIPE,
                stdout=self._output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            atexit.register(self.stop)
            try:
                url = self._wait_until_ready(note)
            except BaseException:
                self.stop()
                raise
            note(f"Ratchet at {url}; it ends with this process.")
            return url

    def _wait_until_ready(self, note: Note) -> str:
        assert self._process is not None
        deadline = time.monotonic() + START_S
        told = 0
        while not _is_ready(url := _settings.service_url()):
            # The steps of a first start, which takes minutes.
            steps = [line for line in self._written().splitlines() if line.endswith("…")]
            for step in steps[told:]:
                note(f"  {step}")
            told = len(steps)
            if self._process.poll() is not None:
                raise RatchetError(f"The service did not start: {self._tail()}")
            if time.monotonic() > deadline:
                raise RatchetError(f"The service is not ready after {START_S:g} s: {self._tail()}")
            time.sleep(0.2)
        return url

    def _written(self) -> str:
        """What the service printed; a seek would move its own place in the file."""
        assert self._output is not None
        file = self._output.fileno()
        return os.pread(file, os.fstat(file).st_size, 0).decode(errors="replace")

    def _tail(self) -> str:
        return self._written().strip()[-2_000:]

    def stop(self) -> None:
        """Ends the service and waits for its end; running jobs go on at the next start."""
        process, self._process = self._process, None
        if process is None:
            return
        assert process.stdin is not None
        process.stdin.close()
        try:
            process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()


_started = _Started()


def _is_ready(url: str) -> bool:
    with contextlib.suppress(httpx.HTTPError):
        return answers(url) and _get(f"{url}/readyz").status_code == 200
    return False


def start_command(url: str) -> List[str]:
    """The command that runs the service: of RATCHET_HOME, on PATH, or of the clone of this package."""
    home = os.environ.get("RATCHET_HOME")
    if home:
        if not _is_clone(Path(home)):
            raise ConfigurationError(f"RATCHET_HOME: {home} is no clone of Ratchet")
        return _command_of(Path(home))
    installed = shutil.which("ratchet")
    if installed:
        return [installed, "dev"]
    clone = _clone_of_package()
    if clone is not None:
        return _command_of(clone)
    raise ConfigurationError(
        f"No Ratchet service answers at {url}, and none can be started here. Run `npm start` in a clone of Ratchet "
        "in this folder, set RATCHET_HOME to a clone, or set RATCHET_URL and RATCHET_API_KEY to a running service."
    )


def _command_of(clone: Path) -> List[str]:
    node = shutil.which("node")
    if node is None:
        raise ConfigurationError("The service needs Node 20.19 or later: there is no `node` on the PATH")
    return [node, str(clone.resolve() / "scripts" / "run.mjs"), "dev"]


def _clone_of_package() -> Optional[Path]:
    """The clone that pip installed this package from, which it records (PEP 610)."""
    with contextlib.suppress(metadata.PackageNotFoundError, ValueError):
        recorded = json.loads(metadata.distribution(DISTRIBUTION).read_text("direct_url.json") or "{}")
        source = urlsplit(recorded.get("url", ""))
        clone = Path(unquote(source.path)).parent
        if source.scheme == "file" and "dir_info" in recorded and _is_clone(clone):
            return clone
    return None


def _is_clone(folder: Path) -> bool:
    with contextlib.suppress(OSError, ValueError):
        package = json.loads((folder / "package.json").read_text())
        return package.get("name") == "ratchet-prompts" and (folder / "scripts" / "run.mjs").is_file()
    return False
