"""Where the service is, and the key for it."""

from __future__ import annotations

import contextlib
import json
import os
import re
from pathlib import Path
from typing import Any, Dict, List, Mapping, Optional
from urllib.parse import urlsplit

import httpx

from .errors import ConfigurationError

KEY_FILE = "api-key"
DIRECT: Mapping[str, None] = {f"all://{host}": None for host in ("127.0.0.1", "localhost", "[::1]")}
"""Mounts of httpx: no proxy of the environment for this machine."""


def running_services() -> List[Dict[str, Any]]:
    """The services of this user on this machine, the one that was started last first."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    found = []
    for file in (cache / "ratchet" / "services").glob("[0-9]*.json"):
        with contextlib.suppress(OSError, ValueError):
            service = json.loads(file.read_text())
            if "url" in service:
                os.kill(service["process"]["pid"], 0)
                found.append(service)
    return sorted(found, key=lambda service: -service["since"])


def own_service() -> Optional[Dict[str, Any]]:
    """The running service to use: of the data folder, else one that is no command's."""
    services = running_services()
    here = str(data_folder().resolve())
    for service in services:
        if service["dataDir"] == here:
            return service
    if os.environ.get("RATCHET_DATA_DIR"):
        return None
    others = [service for service in services if service["kind"] == "service"]
    # As the command: the nearest folder above, the default port, the last one started.
    return min(others, key=lambda service: (_steps(service), not service["url"].endswith(":8787")), default=None)


def _steps(service: Dict[str, Any]) -> float:
    with contextlib.suppress(ValueError):
        return len(Path.cwd().relative_to(Path(service["dataDir"]).parent).parts)
    return float("inf")


def service_url(url: Optional[str] = None) -> str:
    """The given url, else RATCHET_URL, else the one at PORT, else a running service's, else the default."""
    found = url or os.environ.get("RATCHET_URL")
    if not found and not os.environ.get("PORT"):
        found = (own_service() or {}).get("url")
    found = found or f"http://127.0.0.1:{os.environ.get('PORT') or 8787}"
    try:
        known = urlsplit(found).scheme in ("http", "https") and httpx.URL(found).host != ""
    except (ValueError, httpx.InvalidURL):
        known = False
    if not known:
        raise ConfigurationError(f'url: "{found}" is no http or https URL')
    return found.rstrip("/")


def header_text(field: str, value: str) -> str:
    """The value of a header; httpx refuses others with an error that names no field."""
    for at, character in enumerate(value):
        if not (character == "\t" or " " <= character <= "~"):
            raise ConfigurationError(
                f"{field}: character {at + 1} is not visible ASCII; headers take no other. Copy it again."
            )
    return value


def data_folder() -> Path:
    """The folder of the local service, as the `ratchet` command reads it."""
    return Path(os.environ.get("RATCHET_DATA_DIR") or ".ratchet")


def is_loopback(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    return host in ("localhost", "::1") or re.fullmatch(r"127(\.\d{1,3}){3}", host) is not None


def api_key(url: str, given: Optional[str] = None) -> str:
    """The given key, else RATCHET_API_KEY, else that of the running service, else the one that it keeps."""
    key = (given or os.environ.get("RATCHET_API_KEY") or "").strip()
    if key:
        return key
    for service in running_services():
        if service["url"] == url:
            return str(service["apiKey"])
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
