"""The parts of a container; ratchet/container.py puts them together."""
