"""Components of foreign candidates as components of a prompt of Ratchet."""

from __future__ import annotations

import re
from typing import Dict, List, Mapping, Sequence

from ..errors import ConfigurationError
from ..types import Message

MOST = 20
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")


class Components:
    """Names that the service takes, for names of any form."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        if not 1 <= len(texts) <= MOST:
            raise ConfigurationError(f"a candidate must have 1 to {MOST} components, not {len(texts)}")
        for name, text in texts.items():
            if not isinstance(text, str) or not text.strip():
                raise ConfigurationError(f'the component "{name}" must be a text that is not empty')
        self.texts = dict(texts)
        self.sent: Dict[str, str] = {}
        """Our name of each component."""
        for number, name in enumerate(texts):
            safe = re.sub(r"[^A-Za-z0-9_-]", "_", name)
            is_free = _NAME.fullmatch(safe) is not None and safe not in self.sent.values()
            self.sent[name] = safe if is_free else f"component_{number}"

    def messages(self) -> List[Message]:
        return [{"role": "system", "name": self.sent[name], "content": text} for name, text in self.texts.items()]

    def prompts(self) -> Dict[str, str]:
        return {self.sent[name]: text for name, text in self.texts.items()}

    def candidate(self, prompts: Mapping[str, str]) -> Dict[str, str]:
        """The texts of a candidate by their own names."""
        return {name: prompts.get(self.sent[name], text) for name, text in self.texts.items()}

    def candidate_of(self, messages: Sequence[Message]) -> Dict[str, str]:
        return self.candidate({message.get("name", ""): message["content"] for message in messages})
