"""The anthropic package."""

import anthropic
from with_openai import Look, Person, pixel

look = {"name": "look", "input_schema": Look.model_json_schema()}


class Caller:
    def __init__(self, url, key, model):
        # The client adds /v1 itself.
        self.client = anthropic.Anthropic(base_url=url.removesuffix("/v1"), api_key=key, timeout=60)
        self.model = model

    def asking(self, content, **more):
        return {"model": self.model, "max_tokens": 100, "messages": [{"role": "user", "content": content}], **more}

    def create(self, content, **more):
        return self.client.messages.create(**self.asking(content, **more))

    def final(self, content, **more):
        with self.client.messages.stream(**self.asking(content, **more)) as stream:
            return stream.get_final_message()

    def chat(self, question):
        return counted(self.create(question))

    def stream(self, question):
        return {"text": self.final(question).content[0].text}

    def stream_usage(self, question):
        return counted(self.final(question))

    def tools(self, question):
        return called(self.create(question, tools=[look]))

    def tools_stream(self, question):
        return called(self.final(question, tools=[look]))

    def schema(self, question):
        answer = self.client.messages.parse(**self.asking(question), output_format=Person)
        return {"object": answer.parsed_output.model_dump()}

    def schema_stream(self, question):
        return {"object": self.final(question, output_format=Person).parsed_output.model_dump()}

    def image(self, question):
        kind, data = pixel.removeprefix("data:").split(";base64,")
        source = {"type": "base64", "media_type": kind, "data": data}
        parts = [{"type": "text", "text": question}, {"type": "image", "source": source}]
        return {"text": self.create(parts).content[0].text}

    def abort(self, question):
        with self.client.messages.stream(**self.asking(question)) as stream:
            return {"text": next(iter(stream.text_stream))}


def counted(answer):
    tokens = answer.usage.input_tokens + answer.usage.output_tokens
    return {"text": answer.content[0].text, "tokens": tokens}


def called(answer):
    return {"calls": [[block.name, block.input] for block in answer.content if block.type == "tool_use"]}
