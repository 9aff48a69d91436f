"""A service that is started for a program, and ends with it."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Callable, Dict, Iterator

import pytest

import ratchet_prompts as ratchet
from ratchet_prompts import _service

CLONE = Path(os.environ.get("RATCHET_TEST_CLONE") or Path(__file__).parents[2])
READMES = [CLONE / "README.md", CLONE / "python" / "README.md"]
RUN = """
import sys, ratchet_prompts as ratchet
rows = [{"input": f"Message: {n}\\n\\nLabels: even, odd", "expected": ["even", "odd"][n % 2]} for n in range(12)]
found = ratchet.evaluate(rows, "Answer with a label.", progress=False)
print(found.succeeded, found.client.url, flush=True)
"""

# Is not ready, and gives up when it is asked for the third time.
SLOW_START = """
import { createServer } from 'node:http';
console.log('Building …');
let asked = 0;
createServer((request, response) => {
  response.end('{}');
  if (++asked === 3) process.exit(3);
}).listen(process.env.PORT, '127.0.0.1');
"""


def free_ports(count: int) -> Iterator[int]:
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
        yield each.getsockname()[1]
    for each in sockets:
        each.close()


@pytest.fixture
def folder(tmp_path_factory: Any) -> Path:
    # Postgres, started by root, runs as another user, which needs access.
    path = tmp_path_factory.mktemp("started")
    for each in (path, *list(path.parents)[:2]):
        each.chmod(0o755)
    return path


@pytest.fixture
def own(folder: Path) -> Dict[str, str]:
    """The environment of a machine without a service."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RATCHET_")}
    port, temporal = free_ports(2)
    return {
        **kept,
        "PORT": str(port),
        "RATCHET_TEMPORAL_PORT": str(temporal),
        "RATCHET_DATA_DIR": str(folder / "data"),
        "RATCHET_HOME": str(CLONE),
    }


def until(condition: Callable[[], bool], seconds: float = 90) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def has_ended(own: Dict[str, str]) -> bool:
    """Nobody listens at the ports of the API and of Temporal."""

    def refuses(port: str) -> bool:
        with socket.socket() as each:
            return each.connect_ex(("127.0.0.1", int(port))) != 0

    return refuses(own["PORT"]) and refuses(own["RATCHET_TEMPORAL_PORT"])


def test_the_example_of_the_readme_starts_a_service_that_ends_with_it(own):
    """As a package that was installed from its clone, which pip records."""
    example = re.compile(r"```python run\n(.*?)```\n\n```text\n(.*?)```", re.DOTALL)
    examples = [example.findall(readme.read_text()) for readme in READMES]
    assert examples[0] == examples[1]
    ((program, printed),) = examples[0]
    assert len([line for line in program.splitlines() if line.strip()]) <= 12
    del own["RATCHET_HOME"]
    done = subprocess.run([sys.executable, "-c", program], cwd=CLONE, env=own, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for line in ("starting one", "it ends with this process", "generation 1:"):
        assert line in done.stderr
    assert re.fullmatch(re.escape(printed).replace("…", ".*"), done.stdout, re.DOTALL), done.stdout
    assert has_ended(own)


def test_the_service_of_a_killed_program_ends(own, folder):
    program = RUN + "sys.stdin.read()"
    child = subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=folder,
        env=own,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == f"12 http://127.0.0.1:{own['PORT']}\n"
    assert not has_ended(own)
    # A second program uses it, and leaves it as it is.
    second = subprocess.run([sys.executable, "-c", RUN], cwd=folder, env=own, capture_output=True, text=True)
    assert (second.returncode, second.stdout.split()[0]) == (0, "12")
    assert not has_ended(own)
    child.send_signal(signal.SIGKILL)
    child.wait()
    until(lambda: has_ended(own))


def test_a_running_service_is_found_from_any_folder(own, folder):
    """And its key, without a setting: by the file in the cache of its user."""
    for name in ("PORT", "RATCHET_TEMPORAL_PORT", "RATCHET_DATA_DIR"):
        del own[name]
    cache = folder / "cache"
    (cache / "ratchet").mkdir(parents=True)
    for program in (Path.home() / ".cache" / "ratchet").glob("temporal-*"):
        if program.is_file():
            (cache / "ratchet" / program.name).symlink_to(program)
    own["XDG_CACHE_HOME"] = str(cache)
    first, second = folder / "first project", folder / "zweites Projekt für p"
    first.mkdir()
    second.mkdir()
    service = subprocess.Popen(
        [shutil.which("node") or "node", str(CLONE / "scripts" / "run.mjs"), "dev"],
        cwd=first,
        env=own,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert service.stdout is not None
        assert any(line.startswith("Ready") for line in service.stdout)
        done = subprocess.run([sys.executable, "-c", RUN], cwd=second, env=own, capture_output=True, text=True)
        assert (done.returncode, done.stdout.split()[0]) == (0, "12"), done.stderr
        assert not (second / ".ratchet").exists()
    finally:
        service.send_signal(signal.SIGINT)
        assert service.wait(60) == 0
    assert list((cache / "ratchet" / "services").iterdir()) == []


def test_a_service_that_does_not_start_says_why(own, folder):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", int(own["PORT"])))
        taken.listen()
        done = subprocess.run([sys.executable, "-c", RUN], cwd=folder, env=own, capture_output=True, text=True)
    assert done.returncode == 1 and "The service did not start" in done.stderr
    assert own["PORT"] in done.stderr


def test_a_start_shows_its_steps(own, folder):
    (folder / "scripts").mkdir()
    (folder / "package.json").write_text('{"name": "ratchet-prompts"}')
    (folder / "scripts" / "run.mjs").write_text(SLOW_START)
    program = RUN.replace(", progress=False", "")
    given = {**own, "RATCHET_HOME": str(folder)}
    done = subprocess.run([sys.executable, "-c", program], cwd=folder, env=given, capture_output=True, text=True)
    assert done.returncode == 1 and "\n  Building …\n" in done.stderr and "did not start: Building" in done.stderr


def test_without_a_service_and_a_clone_it_says_what_to_do(own, folder):
    (folder / "python").symlink_to(sys.executable)
    for changes, named in (
        ({"RATCHET_HOME": str(folder)}, "RATCHET_HOME"),
        ({"RATCHET_URL": "http://127.0.0.1:9", "RATCHET_API_KEY": "x"}, "RATCHET_URL"),
        ({"PATH": str(folder)}, "Node"),
    ):
        done = subprocess.run(
            [sys.executable, "-c", RUN], cwd=folder, env={**own, **changes}, capture_output=True, text=True
        )
        assert done.returncode == 1 and "ConfigurationError" in done.stderr and named in done.stderr


def test_a_package_from_elsewhere_needs_a_hint(monkeypatch):
    monkeypatch.delenv("RATCHET_HOME", raising=False)
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(_service, "_clone_of_package", lambda: None)
    with pytest.raises(ratchet.ConfigurationError, match="npm start"):
        _service.start_command("http://127.0.0.1:9")
