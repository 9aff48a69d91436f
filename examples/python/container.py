"""A container in plain Python 3, without packages: assigns messages to teams.

    python3 container.py --port 8901 [--key SECRET]
"""

import argparse
import hmac
import json
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PROMPT = "Classify the message. Answer with exactly one of the labels that come with it, and nothing else."
MESSAGES = {
    "north": ["My parcel has not arrived yet", "Where is my delivery?", "The courier went to the wrong door"],
    "south": ["I want to send the shoes back", "How do I return a jacket?", "Can I exchange this for a larger size?"],
    "east": ["I was billed twice for my order", "The invoice is wrong", "Which cards can I pay with?"],
}
TASKS = [(text, label) for label, texts in MESSAGES.items() for text in texts]
LABELS = sorted(MESSAGES)
INITIAL = {"messages": [{"role": "system", "content": PROMPT}]}


class ModelError(Exception):
    """A failed model call; `status` is the rollout's response status (5xx: retry)."""

    def __init__(self, message, status, retry_after=None):
        super().__init__(message)
        self.status, self.retry_after = status, retry_after


def ask(config, messages, timeout):
    """One chat completion through the rollout's inference URL."""
    body = {"model": config.get("model"), "messages": messages}
    request = urllib.request.Request(
        config["inference_url"].rstrip("/") + "/chat/completions",
        json.dumps(body).encode(),
        {"content-type": "application/json", "authorization": f"Bearer {config.get('inference_api_key', '')}"},
    )
    try:
        with urllib.request.urlopen(request, timeout=timeout) as response:
            return json.load(response)["choices"][0]["message"]["content"]
    except urllib.error.HTTPError as error:
        status = 503 if error.code in (429, 503) else 502 if error.code >= 500 else 200
        text = error.read(500).decode(errors="replace")
        raise ModelError(f"the model answered {error.code}: {text}", status, error.headers.get("retry-after"))
    except OSError as error:
        raise ModelError(f"the model could not be reached: {error}", 502)


def rollout(body):
    """Runs the task of a seed and scores the answer; details have the expected answer, for demonstrations."""
    config = body["policy"]["config"]
    text, label = TASKS[body["env"]["seed"] % len(TASKS)]
    sections = (config.get("prompt_template") or {}).get("sections") or INITIAL["messages"]
    system = "\n\n".join(section["content"] for section in sections if section["role"] == "system")
    question = f"Message: {text}\n\nLabels: {', '.join(LABELS)}"
    messages = [{"role": "system", "content": system}, {"role": "user", "content": question}]
    answer = ask(config, messages, (body.get("safety") or {}).get("max_time_s", 120)).strip()
    if answer == label:
        return 1.0, {"expected": label, "feedback": f"Correct: `{label}`."}
    feedback = f'Wrong for "{text}". Expected `{label}`, answered `{answer[:100]}`.'
    return 0.0, {"expected": label, "feedback": feedback}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    key = None

    def reply(self, status, body, retry_after=None):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        if retry_after:
            self.send_header("retry-after", retry_after)
        self.end_headers()
        self.wfile.write(data)

    def refused(self):
        if self.key is None:  # a web page may call this machine by a name of its own
            known = self.headers.get("host", "").rsplit(":", 1)[0] in ("localhost", "127.0.0.1")
            answer = 421, {"detail": "without --key, only localhost and 127.0.0.1 are answered"}
        else:
            known = hmac.compare_digest(self.headers.get("x-api-key", "").encode(), self.key.encode())
            answer = 401, {"detail": "unauthorised: X-API-Key is not the key of this container"}
        if not known:
            self.reply(*answer)
        return not known

    def do_GET(self):
        if self.refused():
            return
        routes = {"/health": {"status": "healthy"}, "/task_info": {"initial_prompt": INITIAL}}
        body = routes.get(self.path.partition("?")[0])
        self.reply(200, body) if body else self.reply(404, {"detail": f"unknown path {self.path}"})

    def do_POST(self):
        data = self.rfile.read(int(self.headers.get("content-length", 0)))
        if self.refused():
            return
        if self.path != "/rollout":
            return self.reply(404, {"detail": f"unknown path {self.path}"})
        if self.headers.get_content_type() != "application/json":  # web pages may send other types
            return self.reply(415, {"detail": "Content-Type must be application/json"})
        try:
            body = json.loads(data)
            ids = {name: body[name] for name in ("trace_correlation_id", "rollout_id")}
            reward, details = rollout(body)
            status = "success"
        except ModelError as error:
            if error.status != 200:
                return self.reply(error.status, {"detail": str(error)}, error.retry_after)
            reward, details, status = 0.0, {"feedback": str(error)}, "error"
        except (KeyError, TypeError, ValueError, IndexError) as error:
            return self.reply(422, {"detail": f"not a rollout: {error!r}"})
        reward_info = {"outcome_reward": reward, "details": details}
        self.reply(200, {**ids, "reward_info": reward_info, "success_status": status})

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=8901)
    parser.add_argument("--key")
    arguments = parser.parse_args()
    Handler.key = arguments.key
    server = ThreadingHTTPServer(("127.0.0.1", arguments.port), Handler)
    print(f"The container listens at http://127.0.0.1:{server.server_address[1]}", flush=True)
    server.serve_forever()
