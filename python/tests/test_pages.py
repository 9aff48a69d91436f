"""The Python of docs/coming-from.md: `run` blocks print what follows them, `check` blocks are typed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import List, Tuple

import pytest

PACKAGE = Path(__file__).parent.parent
PAGE = (PACKAGE.parent / "docs" / "coming-from.md").read_text()
RUNS: List[Tuple[str, str]] = re.findall(r"```python run\n(.*?)```\n\n```text\n(.*?)```", PAGE, re.DOTALL)
CHECKS: List[str] = re.findall(r"```python check\n(.*?)```", PAGE, re.DOTALL)


def test_the_page_has_both():
    assert RUNS and CHECKS


@pytest.mark.parametrize("program, printed", RUNS)
def test_a_program_prints_what_the_page_says(program, printed):
    pytest.importorskip("gepa")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, printed), done.stderr


@pytest.mark.parametrize("program", CHECKS)
def test_a_program_has_the_arguments_of_the_package(program, tmp_path):
    pytest.importorskip("mypy")
    path = tmp_path / "program.py"
    path.write_text(program)
    config = ["--config-file", str(PACKAGE / "pyproject.toml"), "--cache-dir", str(tmp_path / "cache")]
    done = subprocess.run([sys.executable, "-m", "mypy", *config, str(path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
