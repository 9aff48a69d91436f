"""The openai package, with its Responses API."""

import openai
from with_openai import Look, Person, pixel

look = {
    "type": "function",
    "name": "look",
    "parameters": {**Look.model_json_schema(), "additionalProperties": False},
    "strict": True,
}


class Caller:
    def __init__(self, url, key, model):
        self.client = openai.OpenAI(base_url=url, api_key=key, timeout=60)
        self.model = model

    def create(self, question, **more):
        return self.client.responses.create(model=self.model, input=question, **more)

    def final(self, question, **more):
        with self.client.responses.stream(model=self.model, input=question, **more) as stream:
            return stream.get_final_response()

    def chat(self, question):
        answer = self.create(question)
        return {"text": answer.output_text, "tokens": answer.usage.total_tokens}

    def stream(self, question):
        return {"text": self.final(question).output_text}

    def stream_usage(self, question):
        answer = self.final(question)
        return {"text": answer.output_text, "tokens": answer.usage.total_tokens}

    def tools(self, question):
        return called(self.create(question, tools=[look]))

    def tools_stream(self, question):
        return called(self.final(question, tools=[look]))

    def schema(self, question):
        answer = self.client.responses.parse(model=self.model, input=question, text_format=Person)
        return {"object": answer.output_parsed.model_dump()}

    def schema_stream(self, question):
        return {"object": self.final(question, text_format=Person).output_parsed.model_dump()}

    def image(self, question):
        parts = [{"type": "input_text", "text": question}, {"type": "input_image", "image_url": pixel}]
        return {"text": self.create([{"role": "user", "content": parts}]).output_text}

    def abort(self, question):
        with self.create(question, stream=True) as stream:
            return {"text": next(event.delta for event in stream if event.type == "response.output_text.delta")}


def called(answer):
    calls = [item for item in answer.output if item.type == "function_call"]
    return {"calls": [[call.name, Look.model_validate_json(call.arguments).model_dump()] for call in calls]}
