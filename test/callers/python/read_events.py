"""Reads the event stream of a job by httpx-sse. Standard input: {"url", "key"}."""

import json
import sys

import httpx
from httpx_sse import connect_sse

given = json.load(sys.stdin)


def read(client, after=None, most=None):
    headers = {"authorization": f"Bearer {given['key']}", **({"last-event-id": after} if after else {})}
    with connect_sse(client, "GET", given["url"], headers=headers) as source:
        events = []
        for event in source.iter_sse():
            # The usual loop takes each event for JSON.
            events.append([event.id, event.event, event.json()["type"]])
            if len(events) == most:
                break
        return events


with httpx.Client(timeout=60) as client:
    first = read(client, most=2)
    rest = read(client, after=first[-1][0])
    headers = {"authorization": f"Bearer {given['key']}", "last-event-id": rest[-1][0]}
    ended = client.get(given["url"], headers=headers).status_code
print(json.dumps({"events": first + rest, "ended": ended}))
