"""The package llama-index-llms-openai-like."""

from llama_index.core.llms import ChatMessage, ImageBlock, TextBlock
from llama_index.core.tools import FunctionTool
from llama_index.llms.openai_like import OpenAILike
from with_openai import Person


def look(city: str) -> str:
    """Looks at a city."""
    return city


class Caller:
    def __init__(self, url, key, model):
        service = {"api_base": url, "api_key": key, "model": model, "timeout": 60}
        # It sends a temperature always, which the steps of a graph have on their own.
        if model.endswith("-graph"):
            service["additional_kwargs"] = {"temperature": None}
        self.llm = OpenAILike(**service, is_chat_model=True, is_function_calling_model=True, context_window=8000)
        self.structured = OpenAILike(**service, is_chat_model=True, should_use_structured_outputs=True)

    def chat(self, question):
        answer = self.llm.chat([ChatMessage(role="user", content=question)])
        return {"text": answer.message.content, "tokens": answer.raw.usage.total_tokens}

    def stream(self, question):
        pieces = list(self.llm.stream_chat([ChatMessage(role="user", content=question)]))
        assert "".join(piece.delta or "" for piece in pieces) == pieces[-1].message.content
        return {"text": pieces[-1].message.content}

    def tools(self, question):
        return self.called(self.llm.chat_with_tools([FunctionTool.from_defaults(fn=look)], user_msg=question, allow_parallel_tool_calls=True))

    def tools_stream(self, question):
        tools = [FunctionTool.from_defaults(fn=look)]
        *_, last = self.llm.stream_chat_with_tools(tools, user_msg=question, allow_parallel_tool_calls=True)
        return self.called(last)

    def schema(self, question):
        return {"object": self.structured.as_structured_llm(Person).complete(question).raw.model_dump()}

    def image(self, question):
        blocks = [TextBlock(text=question), ImageBlock(image=b"\x89PNG\r\n\x1a\n", image_mimetype="image/png")]
        return {"text": self.llm.chat([ChatMessage(role="user", blocks=blocks)]).message.content}

    def abort(self, question):
        stream = self.llm.stream_chat([ChatMessage(role="user", content=question)])
        text = next(piece.delta for piece in stream if piece.delta)
        stream.close()
        return {"text": text}

    def called(self, answer):
        calls = self.llm.get_tool_calls_from_response(answer)
        return {"calls": [[call.tool_name, call.tool_kwargs] for call in calls]}
