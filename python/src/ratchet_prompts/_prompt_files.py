"""Prompts in a folder, so that a process that starts in an outage has them."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import uuid
import warnings
from typing import Any, NamedTuple, Optional


class Known(NamedTuple):
    """A prompt as the service gave it."""

    etag: str
    prompt: Any


def _path(folder: str, url: str, ref: str) -> str:
    return os.path.join(folder, hashlib.sha256(f"{url}\n{ref}".encode()).hexdigest() + ".json")


def read(folder: str, url: str, ref: str) -> Optional[Known]:
    """The kept prompt of a reference; None: none, or one that cannot be read, which is a warning."""
    path = _path(folder, url, ref)
    try:
        with open(path, encoding="utf-8") as file:
            kept = json.load(file)
        if kept["ref"] != ref or kept["url"] != url or not isinstance(kept["prompt"]["messages"], list):
            raise ValueError("it is no prompt of this service")
        return Known(kept["etag"], kept["prompt"])
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        warnings.warn(f"The prompt in {path} cannot be read: {error!r}", RuntimeWarning, stacklevel=2)
        return None


def write(folder: str, url: str, ref: str, known: Known) -> None:
    """Keeps a prompt; the file appears whole. A failure is a warning: the prompt is in memory."""
    path = _path(folder, url, ref)
    draft = f"{path}.{uuid.uuid4()}.part"
    kept = {"url": url, "ref": ref, "etag": known.etag, "prompt": known.prompt}
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
            json.dump(kept, file)
        os.replace(draft, path)
    except OSError as error:
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            os.unlink(draft)
        warnings.warn(f"The prompt was not kept in {path}: {error!r}", RuntimeWarning, stacklevel=2)
