"""The openai package, 1.40 and later."""

import openai
from pydantic import BaseModel


class Look(BaseModel):
    city: str


class Person(BaseModel):
    name: str
    age: int


pixel = "data:image/png;base64,iVBORw0KGgo="


class Caller:
    def __init__(self, url, key, model):
        self.client = openai.OpenAI(base_url=url, api_key=key, timeout=60)
        self.model = model
        # Older versions have its helpers apart.
        completions = self.client.chat.completions
        self.helpers = completions if hasattr(completions, "parse") else self.client.beta.chat.completions

    def asking(self, content, **more):
        return {"model": self.model, "messages": [{"role": "user", "content": content}], **more}

    def create(self, content, **more):
        return self.client.chat.completions.create(**self.asking(content, **more))

    def chat(self, question):
        answer = self.create(question)
        return {"text": answer.choices[0].message.content, "tokens": answer.usage.total_tokens}

    def stream(self, question):
        return {"text": "".join(chunk.choices[0].delta.content or "" for chunk in self.create(question, stream=True))}

    def stream_usage(self, question):
        chunks = list(self.create(question, stream=True, stream_options={"include_usage": True}))
        text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
        return {"text": text, "tokens": [chunk.usage.total_tokens for chunk in chunks if chunk.usage][-1]}

    def tools(self, question):
        return called(self.create(question, tools=[openai.pydantic_function_tool(Look, name="look")]))

    def tools_stream(self, question):
        tools = [openai.pydantic_function_tool(Look, name="look")]
        with self.helpers.stream(**self.asking(question, tools=tools)) as stream:
            return called(stream.get_final_completion())

    def schema(self, question):
        answer = self.helpers.parse(**self.asking(question, response_format=Person))
        return {"object": answer.choices[0].message.parsed.model_dump()}

    def schema_stream(self, question):
        with self.helpers.stream(**self.asking(question, response_format=Person)) as stream:
            return {"object": stream.get_final_completion().choices[0].message.parsed.model_dump()}

    def image(self, question):
        parts = [{"type": "text", "text": question}, {"type": "image_url", "image_url": {"url": pixel}}]
        return {"text": self.create(parts).choices[0].message.content}

    def abort(self, question):
        with self.create(question, stream=True) as stream:
            return {"text": next(piece for piece in (chunk.choices[0].delta.content for chunk in stream) if piece)}

    def embed(self, question):
        return {"vectors": len(self.client.embeddings.create(model=self.model, input=question).data)}

    def respond(self, question):
        return {"text": self.client.responses.create(model=self.model, input=question).output_text}

    def complete(self, question):
        return {"text": self.client.completions.create(model=self.model, prompt=question).choices[0].text}

    def models(self, _question):
        return {"models": sorted(model.id for model in self.client.models.list())}


if not hasattr(openai.OpenAI, "responses"):
    del Caller.respond


def called(answer):
    calls = [call.function for call in answer.choices[0].message.tool_calls]
    return {"calls": [[call.name, Look.model_validate_json(call.arguments).model_dump()] for call in calls]}
