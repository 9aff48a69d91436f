"""The package langchain-openai."""

from langchain_core.messages import HumanMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from with_openai import Person, pixel


@tool
def look(city: str) -> str:
    """Looks at a city."""
    return city


class Caller:
    def __init__(self, url, key, model):
        self.service = {"base_url": url, "api_key": key, "model": model}
        self.llm = ChatOpenAI(**self.service, max_retries=2, timeout=60)

    def chat(self, question):
        answer = self.llm.invoke(question)
        return {"text": answer.content, "tokens": answer.usage_metadata["total_tokens"]}

    def stream(self, question):
        return {"text": "".join(chunk.content for chunk in self.llm.stream(question))}

    def stream_usage(self, question):
        answer = joined(self.llm.stream(question, stream_usage=True))
        return {"text": answer.content, "tokens": answer.usage_metadata["total_tokens"]}

    def tools(self, question):
        return called(self.llm.bind_tools([look]).invoke(question))

    def tools_stream(self, question):
        return called(joined(self.llm.bind_tools([look]).stream(question)))

    def schema(self, question):
        methods = ("json_schema", "function_calling", "json_mode")
        people = [self.llm.with_structured_output(Person, method=method).invoke(question) for method in methods]
        return {"object": same([person.model_dump() for person in people])}

    def image(self, question):
        parts = [{"type": "text", "text": question}, {"type": "image_url", "image_url": {"url": pixel}}]
        return {"text": self.llm.invoke([HumanMessage(content=parts)]).content}

    def abort(self, question):
        stream = self.llm.stream(question)
        text = next(chunk.content for chunk in stream if chunk.content)
        stream.close()
        return {"text": text}

    def embed(self, question):
        # Else it asks a server of OpenAI for a tokenizer.
        return {"vectors": len(OpenAIEmbeddings(**self.service, check_embedding_ctx_length=False).embed_documents([question]))}


def joined(chunks):
    first, *others = chunks
    return sum(others, first)


def called(answer):
    return {"calls": [[call["name"], call["args"]] for call in answer.tool_calls]}


def same(values):
    assert all(value == values[0] for value in values), values
    return values[0]
