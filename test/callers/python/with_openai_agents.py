"""The package openai-agents, with its model for chat completions."""

import asyncio

import openai
from agents import Agent, ModelSettings, OpenAIChatCompletionsModel, Runner, function_tool, set_tracing_disabled
from with_openai import Person, pixel

set_tracing_disabled(True)


class Caller:
    def __init__(self, url, key, model):
        client = openai.AsyncOpenAI(base_url=url, api_key=key, timeout=60)
        self.llm = OpenAIChatCompletionsModel(model=model, openai_client=client)

    def agent(self, **more):
        return Agent(name="caller", model=self.llm, **more)

    def chat(self, question):
        answer = run(self.agent(), question)
        return {"text": answer.final_output, "tokens": answer.context_wrapper.usage.total_tokens}

    def stream(self, question):
        return {"text": asyncio.run(streamed(self.agent(), question)).final_output}

    def stream_usage(self, question):
        answer = asyncio.run(streamed(self.agent(model_settings=ModelSettings(include_usage=True)), question))
        return {"text": answer.final_output, "tokens": answer.context_wrapper.usage.total_tokens}

    def tools(self, question):
        calls, look = looking()
        return {"text": run(self.agent(tools=[look]), question).final_output, "calls": calls}

    def tools_stream(self, question):
        calls, look = looking()
        return {"text": asyncio.run(streamed(self.agent(tools=[look]), question)).final_output, "calls": calls}

    def schema(self, question):
        return {"object": run(self.agent(output_type=Person), question).final_output.model_dump()}

    def image(self, question):
        parts = [{"type": "input_text", "text": question}, {"type": "input_image", "image_url": pixel}]
        return {"text": run(self.agent(), [{"role": "user", "content": parts}]).final_output}


def run(agent, question):
    return asyncio.run(Runner.run(agent, question))


async def streamed(agent, question):
    answer = Runner.run_streamed(agent, question)
    async for _ in answer.stream_events():
        pass
    return answer


def looking():
    calls = []

    @function_tool
    def look(city: str) -> str:
        calls.append(["look", {"city": city}])
        return city

    return calls, look
