"""Uses `ratchet mcp` by the package mcp. Standard input: {"command", "args", "cwd", "env"}."""

import asyncio
import json
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main():
    async with stdio_client(StdioServerParameters(**json.load(sys.stdin))) as streams, ClientSession(*streams) as session:
        hello = await session.initialize()
        tools = (await session.list_tools()).tools
        progress = []

        async def note(*_):
            progress.append(True)

        started = answer(await session.call_tool("evaluate", {"prompt": "prompt.txt", "data": "rows.jsonl"}))
        watched = answer(await session.call_tool("watch", {"id": started["id"]}, progress_callback=note))
        unknown = await session.call_tool("results", {"id": "evl_unknown"})
        invalid = await session.call_tool("results", {})
    said = {"server": field(hello, "serverInfo").name, "tools": [tool.name for tool in tools], "status": watched["status"]}
    return {**said, "errors": [field(result, "isError") for result in (unknown, invalid)]}


def answer(result):
    assert not field(result, "isError"), result
    return json.loads(result.content[0].text)


def field(result, name):
    """A field of an answer, whose Python name differs between the versions."""
    snake = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
    return getattr(result, name) if hasattr(result, name) else getattr(result, snake)


print(json.dumps(asyncio.run(main())))
