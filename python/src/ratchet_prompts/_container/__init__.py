"""The parts of a container; ratchet_prompts/containers.py puts them together."""
