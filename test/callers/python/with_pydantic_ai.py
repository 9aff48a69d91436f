"""The package pydantic-ai-slim."""

import asyncio

from pydantic_ai import Agent, BinaryContent, NativeOutput
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from with_openai import Person


class Caller:
    def __init__(self, url, key, model):
        self.llm = OpenAIChatModel(model, provider=OpenAIProvider(base_url=url, api_key=key))

    def chat(self, question):
        answer = Agent(self.llm).run_sync(question)
        usage = answer.usage() if callable(answer.usage) else answer.usage
        return {"text": answer.output, "tokens": usage.total_tokens}

    def stream(self, question):
        async def read():
            async with Agent(self.llm).run_stream(question) as answer:
                return {"text": [text async for text in answer.stream_text(debounce_by=None)][-1]}

        return asyncio.run(read())

    def stream_usage(self, question):
        async def read():
            async with Agent(self.llm).run_stream(question) as answer:
                text = await answer.get_output()
                usage = answer.usage() if callable(answer.usage) else answer.usage
                return {"text": text, "tokens": usage.total_tokens}

        return asyncio.run(read())

    def tools(self, question):
        agent, calls = self.looking()
        text = agent.run_sync(question).output
        # It calls the tools in threads of their own.
        return {"calls": sorted(calls, key=str), "text": text}

    def tools_stream(self, question):
        async def read():
            agent, calls = self.looking()
            async with agent.run_stream(question) as answer:
                text = await answer.get_output()
                return {"calls": sorted(calls, key=str), "text": text}

        return asyncio.run(read())

    def schema(self, question):
        people = [Agent(self.llm, output_type=kind).run_sync(question).output for kind in (Person, NativeOutput(Person))]
        assert people[0] == people[1], people
        return {"object": people[0].model_dump()}

    def image(self, question):
        pixel = BinaryContent(b"\x89PNG\r\n\x1a\n", media_type="image/png")
        return {"text": Agent(self.llm).run_sync([question, pixel]).output}

    def abort(self, question):
        async def read():
            async with Agent(self.llm).run_stream(question) as answer:
                async for text in answer.stream_text(debounce_by=None):
                    return {"text": text}

        return asyncio.run(read())

    def looking(self):
        agent, calls = Agent(self.llm), []

        @agent.tool_plain
        def look(city: str) -> str:
            calls.append(["look", {"city": city}])
            return city

        return agent, calls
