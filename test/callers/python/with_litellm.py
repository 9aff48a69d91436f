"""The package litellm, with its providers `openai` and `hosted_vllm`."""

import json
import os

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
import litellm  # noqa: E402
from with_openai import Person, pixel  # noqa: E402

litellm.suppress_debug_info = True
function = {"name": "look", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}
tools = [{"type": "function", "function": function}]


class Caller:
    def __init__(self, url, key, model):
        self.service = {"api_base": url, "api_key": key, "timeout": 60}
        self.model = model

    def create(self, content, provider="openai", **more):
        messages = [{"role": "user", "content": content}]
        return litellm.completion(f"{provider}/{self.model}", messages, **self.service, max_retries=2, **more)

    def chat(self, question):
        answer = self.create(question)
        return {"text": answer.choices[0].message.content, "tokens": answer.usage.total_tokens}

    def stream(self, question):
        return {"text": "".join(chunk.choices[0].delta.content or "" for chunk in self.create(question, stream=True))}

    def stream_usage(self, question):
        chunks = list(self.create(question, "hosted_vllm", stream=True, stream_options={"include_usage": True}))
        text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
        return {"text": text, "tokens": next(chunk.usage.total_tokens for chunk in chunks if getattr(chunk, "usage", None))}

    def tools(self, question):
        return called(self.create(question, tools=tools))

    def tools_stream(self, question):
        return called(litellm.stream_chunk_builder(list(self.create(question, tools=tools, stream=True))))

    def schema(self, question):
        return {"object": json.loads(self.create(question, response_format=Person).choices[0].message.content)}

    def image(self, question):
        parts = [{"type": "text", "text": question}, {"type": "image_url", "image_url": {"url": pixel}}]
        return {"text": self.create(parts).choices[0].message.content}

    def abort(self, question):
        stream = self.create(question, stream=True)
        text = next(piece for piece in (chunk.choices[0].delta.content for chunk in stream) if piece)
        stream.completion_stream.close()
        return {"text": text}

    def embed(self, question):
        return {"vectors": len(litellm.embedding(f"openai/{self.model}", [question], max_retries=0, **self.service).data)}


def called(answer):
    calls = answer.choices[0].message.tool_calls
    return {"calls": [[call.function.name, json.loads(call.function.arguments)] for call in calls]}
