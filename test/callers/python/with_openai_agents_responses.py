"""The package openai-agents, with its default model, for the Responses API."""

import openai
import with_openai_agents
from agents import OpenAIResponsesModel


class Caller(with_openai_agents.Caller):
    def __init__(self, url, key, model):
        client = openai.AsyncOpenAI(base_url=url, api_key=key, timeout=60)
        self.llm = OpenAIResponsesModel(model=model, openai_client=client)
