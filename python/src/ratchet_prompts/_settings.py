"""Where the service is, and the key for it."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Mapping, Optional
from urllib.parse import urlsplit

from .errors import ConfigurationError

KEY_FILE = "api-key"
DIRECT: Mapping[str, None] = {f"all://{host}": None for host in ("127.0.0.1", "localhost", "[::1]")}
"""Mounts of httpx: no proxy of the environment for this machine."""


def service_url(url: Optional[str] = None) -> str:
    """The given url, else RATCHET_URL, else the port that the local service would take."""
    found = url or os.environ.get("RATCHET_URL") or f"http://127.0.0.1:{os.environ.get('PORT') or 8787}"
    if urlsplit(found).scheme not in ("http", "https"):
        raise ConfigurationError(f'url: "{found}" is no http or https URL')
    return found.rstrip("/")


def data_folder() -> Path:
    """The folder of the local service, as the `ratchet` command reads it."""
    return Path(os.environ.get("RATCHET_DATA_DIR") or ".ratchet")


def is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    return host in ("localhost", "::1") or re.fullmatch(r"127(\.\d{1,3}){3}", host) is not None


def api_key(url: str, given: Optional[str] = None) -> str:
    """The given key, else RATCHET_API_KEY, else the key that the local service keeps."""
    key = (given or os.environ.get("RATCHET_API_KEY") or "").strip()
    if key:
        return key
    # The kept key is that of this folder's service: no other host may get it.
    if not is_loopback(url):
        raise ConfigurationError(f"api_key: {url} needs a key; give api_key, or set RATCHET_API_KEY")
    file = data_folder() / KEY_FILE
    try:
        return file.read_text().strip()
    except FileNotFoundError:
        raise ConfigurationError(
            f"api_key: {file} does not exist; give api_key, set RATCHET_API_KEY, "
            "or run in the folder where the service was started"
        ) from None
