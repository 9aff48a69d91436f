"""The package instructor, with each of its modes."""

import instructor
import openai
from with_openai import Person

modes = [instructor.Mode[name] for name in ("TOOLS", "TOOLS_STRICT", "JSON", "JSON_SCHEMA", "MD_JSON")]


class Caller:
    def __init__(self, url, key, model):
        self.openai = openai.OpenAI(base_url=url, api_key=key, timeout=60)
        self.model = model

    def asking(self, question):
        return {"model": self.model, "messages": [{"role": "user", "content": question}]}

    def create(self, question, mode=instructor.Mode.TOOLS):
        client = instructor.from_openai(self.openai, mode=mode)
        return client.chat.completions.create(**self.asking(question), response_model=Person, max_retries=1)

    def chat(self, question):
        """What holds for a person too: its errors are those of a chat."""
        answer, whole = instructor.from_openai(self.openai).chat.completions.create_with_completion(
            **self.asking(question), response_model=Person, max_retries=1
        )
        assert answer.model_dump() == {"name": "Ann", "age": 41}, answer
        return {"tokens": whole.usage.total_tokens}

    def schema(self, question):
        people = [self.create(question, mode).model_dump() for mode in modes]
        assert all(person == people[0] for person in people), people
        return {"object": people[0]}

    def schema_stream(self, question):
        client = instructor.from_openai(self.openai)
        *_, last = client.chat.completions.create_partial(**self.asking(question), response_model=Person)
        return {"object": last.model_dump()}
