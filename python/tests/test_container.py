"""What test/container/container.test.ts demands of `ratchet-prompts-client/container`, of the one in Python."""

from __future__ import annotations

import asyncio
import socket
import threading
from concurrent.futures import Future, ThreadPoolExecutor, TimeoutError
from typing import Any, Dict, Iterator, List

import httpx
import pytest
from conftest import LOCAL, PROMPT, ROWS
from support.model import FakeModel

import ratchet_prompts as ratchet
from ratchet_prompts._container import server

WORDS = [{"word": "a"}, {"word": "b"}, {"word": "c"}]


@pytest.fixture
def model() -> Iterator[FakeModel]:
    with FakeModel(lambda body: body["messages"][-1]["content"].upper()) as model:
        yield model


class Shouting:
    """A container that has the model repeat a word in capitals, in one of its forms."""

    def __init__(self, form: str) -> None:
        self.runs = 0
        self.form = form

        def rollout(task, model, prompt):
            self.runs += 1
            answer = model([{"role": "system", "content": prompt}, {"role": "user", "content": task["word"]}])
            return float(answer == task["word"].upper()), f"said {answer}"

        async def awaited(task, model, prompt):
            self.runs += 1
            answer = await model([{"role": "system", "content": prompt}, {"role": "user", "content": task["word"]}])
            return {"reward": answer == task["word"].upper(), "feedback": f"said {answer}", "details": {"n": 1}}

        self.function = awaited if "async" in form else rollout

    def start(self, function: Any = None, **options: Any) -> Any:
        made = ratchet.container(**{"tasks": WORDS, "prompt": "Shout.", **options})(function or self.function)
        return made.start() if "asgi" not in self.form else Asgi(made.asgi())


class Asgi:
    """The app in uvicorn's place: httpx calls it, mounted below a path."""

    def __init__(self, app: Any) -> None:
        self.app = app
        self.url = "http://localhost"

    def __enter__(self) -> Asgi:
        return self

    def __exit__(self, *_: object) -> None:
        pass


@pytest.fixture(params=["sync", "async", "asgi", "asgi async"])
def shouting(request: Any) -> Shouting:
    return Shouting(request.param)


def body(model: FakeModel, changes: Dict[str, Any] = {}, **config: Any) -> Dict[str, Any]:  # noqa: B006
    policy = {"model": "m", "provider": "fake", "temperature": 0.5}
    address = {"inference_url": model.url, "inference_api_key": "rip_x"}
    return {
        "trace_correlation_id": "rol_1",
        "rollout_id": "rol_1",
        "env": {"env_name": None, "seed": 1, "config": {}},
        "policy": {"policy_name": "m", "config": {**policy, **address, **config}},
        "safety": {"max_time_s": 30},
        **changes,
    }


def call(running: Any, method: str, path: str, **given: Any) -> httpx.Response:
    if not isinstance(running, Asgi):
        return httpx.request(method, running.url + path, timeout=30, **given)

    async def ask() -> httpx.Response:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(running.app)) as client:
            return await client.request(method, running.url + path, **given)

    return asyncio.run(ask())


def post(running: Any, sent: Any, key: str = "", **headers: str) -> httpx.Response:
    given = {"idempotency-key": key} if key else {}
    return call(running, "POST", "/rollout", json=sent, headers={**given, **headers})


def test_runs_the_task_of_the_seed_with_the_model_of_the_policy(shouting, model):
    with shouting.start() as running:
        answer = post(running, body(model))
    assert answer.status_code == 200
    details = {"feedback": "said B", **({"n": 1} if "async" in shouting.form else {})}
    assert answer.json() == {
        "trace_correlation_id": "rol_1",
        "rollout_id": "rol_1",
        "reward_info": {"outcome_reward": 1.0, "details": details},
        "success_status": "success",
        "inference_url": model.url,
    }
    (asked,) = model.requests
    assert (asked["path"], asked["headers"]["authorization"]) == ("/chat/completions", "Bearer rip_x")
    assert asked["body"] == {
        "model": "m",
        "temperature": 0.5,
        "messages": [{"role": "system", "content": "Shout."}, {"role": "user", "content": "b"}],
    }


def test_health_info_and_task_info(shouting):
    with shouting.start(prompt={"plan": "Plan.", "answer": "Answer."}) as running:
        assert call(running, "GET", "/health").json() == {"status": "healthy"}
        info = call(running, "GET", "/task_info?seed=1").json()
        assert info["dataset"] == {"num_tasks": 3}
        assert info["initial_prompt"]["messages"][1] == {"role": "system", "name": "answer", "content": "Answer."}
        assert call(running, "GET", "/nothing").status_code == 404
        assert call(running, "DELETE", "/rollout").status_code == 404


def test_prompts_of_the_request_in_order_without_demonstrations(shouting, model):
    seen: List[Any] = []

    def rollout(task, prompt, prompts, context):
        seen.append((prompt, prompts, context.seed, context.env_name))
        return 1

    sections = [
        {"role": "system", "content": "second", "order": 1, "name": "answer"},
        {"role": "user", "content": "shown", "order": 2, "demo": True},
        {"role": "user", "content": "", "order": 3},
        {"role": "system", "content": "first", "order": 0},
    ]
    with shouting.start(rollout, prompt={"plan": "Plan.", "answer": "Answer."}) as running:
        post(running, body(model))
        post(running, body(model, {"env": {"seed": -1, "env_name": "e"}}, prompt_template={"sections": sections}))
    assert seen[0] == ("Plan.\n\nAnswer.", {"plan": "Plan.", "answer": "Answer."}, 1, None)
    prompts = {"plan": "Plan.", "answer": "second", "system": "first", "user": ""}
    assert seen[1] == ("first\n\nsecond", prompts, -1, "e")


@pytest.mark.parametrize(
    "upstream, answered, after",
    [(429, 503, "7"), (529, 503, "7"), (500, 502, None), (408, 502, None), (400, 200, None), (501, 200, None)],
)
def test_a_failed_model_call_is_tried_again_or_fails_the_rollout(shouting, model, upstream, answered, after):
    model.answer = lambda _: upstream
    with shouting.start() as running:
        answer = post(running, body(model), key="k")
        assert (answer.status_code, answer.headers.get("retry-after")) == (answered, after)
        if answered == 200:
            assert answer.json()["success_status"] == "error"
        model.answer = lambda _: "B"
        # An answer of 5xx is forgotten, any other is kept.
        status = post(running, body(model), key="k").json()["success_status"]
        assert status == ("error" if answered == 200 else "success")


def test_a_broken_answer_is_asked_for_once_more_as_a_retry(shouting, model):
    model.answer = lambda _: None
    with shouting.start() as running:
        assert post(running, body(model)).status_code == 502
        assert [asked["headers"].get("x-ratchet-retry") for asked in model.requests] == [None, "true"]
        assert post(running, body(model, inference_url="http://127.0.0.1:9")).status_code == 502
        answers = iter([None, "B"])
        model.answer = lambda _: next(answers)
        assert post(running, body(model)).json()["reward_info"]["outcome_reward"] == 1


@pytest.mark.parametrize("returned", [float("nan"), "many", (1, 2, 3), None])
def test_a_reward_that_is_none_fails_the_rollout(shouting, model, returned):
    with shouting.start(lambda task: returned) as running:
        answer = post(running, body(model)).json()
    assert answer["success_status"] == "error" and "returned" in answer["reward_info"]["details"]["feedback"]


def test_an_exception_is_the_feedback(shouting, model):
    def broken(task):
        raise TimeoutError("mine")

    with shouting.start(broken) as running:
        answer = post(running, body(model)).json()
    assert answer["success_status"] == "error"
    assert answer["reward_info"]["details"]["feedback"] == answer["status_detail"] == "TimeoutError: mine"


def test_a_rollout_that_takes_too_long_is_a_time_out(shouting, model):
    ended = threading.Event()

    def slow(task, context):
        context.stopped.wait(30)
        ended.set()
        return 1

    with shouting.start(slow) as running:
        answer = post(running, body(model, {"safety": {"max_time_s": 0.05}})).json()
        assert answer["success_status"] == "timeout"
        assert ended.wait(10)


def test_the_same_key_runs_once(shouting, model):
    with shouting.start() as running:
        answers = [post(running, body(model), key="same").content for _ in range(3)]
        assert len(set(answers)) == 1 and shouting.runs == 1
        post(running, body(model), key="other")
        post(running, body(model))
        assert shouting.runs == 3


def test_copies_that_meet_run_once():
    entered, go = threading.Event(), threading.Event()
    runs: List[int] = []

    @ratchet.container(tasks=[1], prompt="p")
    def slow(task):
        runs.append(task)
        entered.set()
        go.wait(30)
        return 1

    with FakeModel(lambda _: "") as model, slow.start() as running:
        answers: List[Any] = []

        def ask() -> None:
            answers.append(post(running, body(model), key="k"))

        copies = [threading.Thread(target=ask) for _ in range(3)]
        for copy in copies:
            copy.start()
        assert entered.wait(10)
        go.set()
        for copy in copies:
            copy.join()
    assert [answer.status_code for answer in answers] == [200] * 3 and runs == [1]


def test_a_caller_that_goes_away_stops_the_rollout(model):
    entered, stopped = threading.Event(), threading.Event()

    @ratchet.container(tasks=[1], prompt="p")
    def slow(task, context):
        entered.set()
        if context.stopped.wait(30):
            stopped.set()
        return 1

    with slow.start() as running:
        sent = httpx.Request("POST", f"{running.url}/rollout", json=body(model))
        host, port = running.url[len("http://") :].split(":")
        with socket.create_connection((host, int(port))) as connection:
            head = "".join(f"{name}: {value}\r\n" for name, value in sent.headers.items())
            connection.sendall(f"POST /rollout HTTP/1.1\r\n{head}\r\n".encode() + sent.content)
            assert entered.wait(10)
        assert stopped.wait(10)


def test_a_proxy_of_the_environment_is_not_for_this_machine(model, monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    sent = body(model)
    for form in ("sync", "async"):
        with Shouting(form).start() as running, httpx.Client(trust_env=False) as caller:
            answer = caller.post(f"{running.url}/rollout", json=sent)
        assert answer.json()["success_status"] == "success"
    with ratchet.Client(max_retries=0) as client:
        list(client.sessions.list(limit=1))


def test_a_connection_that_outlives_its_server_gets_503(model, capfd):
    running = ratchet.container(tasks=[1], prompt="p")(lambda task: 1).start()
    with httpx.Client() as caller:
        assert caller.get(f"{running.url}/health").status_code == 200
        running.close()
        running.close()
        assert caller.get(f"{running.url}/health").status_code == 503
        with pytest.raises(httpx.ConnectError):
            caller.get(f"{running.url}/health")
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    "changes, status",
    [
        ({"env": {"seed": "x"}}, 422),
        ({"env": {"seed": True}}, 422),
        ({"rollout_id": None, "trace_correlation_id": None}, 422),
        ({"policy": {"config": {"inference_url": "file:///etc"}}}, 422),
        ({"safety": {"max_time_s": 0}}, 422),
        ({"policy": None}, 422),
    ],
)
def test_what_is_no_rollout_is_422(shouting, model, changes, status):
    with shouting.start() as running:
        assert post(running, body(model, changes)).status_code == status


def test_a_page_of_another_origin_gets_nowhere(shouting, model):
    with shouting.start() as running:
        plain = call(running, "POST", "/rollout", content=b"{}", headers={"content-type": "text/plain"})
        assert plain.status_code == 415
        assert call(running, "GET", "/health", headers={"host": "evil.example"}).status_code == 421
        broken = call(running, "POST", "/rollout", content=b"{", headers={"content-type": "application/json"})
        assert broken.status_code == 400
    assert shouting.runs == 0


def test_a_key_is_required_where_one_is_set(model):
    made = ratchet.container(tasks=[1], prompt="p")(lambda task: 1)
    with made.start(key="secret") as running:
        assert post(running, body(model)).status_code == 401
        wrong = post(running, body(model), **{"x-api-key": "secrets"})
        assert wrong.status_code == 401 and "unauthorised" in wrong.json()["detail"]
        assert post(running, body(model), **{"x-api-key": "secret"}).status_code == 200
    for host, key in (("0.0.0.0", None), ("127.0.0.1", "")):
        with pytest.raises(ratchet.ConfigurationError):
            made.start(host, key=key)


def test_wrong_functions_are_named_at_once():
    with pytest.raises(TypeError, match="not modell"):
        ratchet.container(tasks=[1], prompt="p")(lambda task, modell: 1)
    for wrong in ({"tasks": [], "prompt": "p"}, {"tasks": [1], "prompt": {}}):
        with pytest.raises(ratchet.ConfigurationError):
            ratchet.container(**wrong)(lambda task: 1)


def test_tasks_of_a_function_or_a_frame(model):
    pandas = pytest.importorskip("pandas")
    for tasks, expected in ((lambda seed: {"n": seed}, 7), (pandas.DataFrame([{"n": 5}, {"n": 6}]), 6)):
        made = ratchet.container(tasks=tasks, prompt="p")(lambda task: task["n"])
        with made.start() as running:
            answer = post(running, body(model, {"env": {"seed": 7}})).json()
        assert answer["reward_info"]["outcome_reward"] == expected


def test_a_slow_function_of_tasks_holds_nobody_up(model):
    started, passed = threading.Event(), threading.Event()

    def tasks(seed):
        if seed == 1:
            passed.set()
            return True
        started.set()
        return passed.wait(5)

    made = ratchet.container(tasks=tasks, prompt="p")(lambda task: float(task))
    with made.start() as running, ThreadPoolExecutor() as pool:
        slow = pool.submit(post, running, body(model, {"env": {"seed": 0}}))
        assert started.wait(5)
        assert post(running, body(model)).is_success
        assert slow.result().json()["reward_info"]["outcome_reward"] == 1


def test_a_callable_object_is_a_function_like_others(shouting, model):
    class Rollout:
        def __call__(self, task, model, prompt):
            return shouting.function(task, model, prompt)

    class Awaited:
        async def __call__(self, task, model, prompt):
            return await shouting.function(task, model, prompt)

    with shouting.start((Awaited if "async" in shouting.form else Rollout)()) as running:
        assert post(running, body(model)).json()["reward_info"]["outcome_reward"] == 1


@pytest.mark.parametrize("details", [{"f1": float("nan")}, {(1, 2): 3}, {"text": "\ud800"}])
def test_details_that_are_no_json_fail_the_rollout_for_good(model, details):
    made = ratchet.container(tasks=[1], prompt="p")(lambda task: ratchet.Score(1, details=details))
    with made.start() as running:
        answer = post(running, body(model), key="k")
    assert (answer.status_code, answer.json()["success_status"]) == (200, "error")


def test_an_answer_that_is_ready_between_two_looks_is_no_error(model, monkeypatch):
    wait_for = Future.result

    def ready_just_after(self, timeout=None):
        try:
            return wait_for(self, timeout)
        except TimeoutError:
            wait_for(self)
            raise

    monkeypatch.setattr(server, "LOOK_S", 0)
    monkeypatch.setattr(Future, "result", ready_just_after)
    with ratchet.container(tasks=[1], prompt="p")(lambda task: 1).start() as running:
        assert post(running, body(model)).status_code == 200


@pytest.mark.parametrize(
    ("peer", "status"),
    [
        (("127.0.0.1", 1), 200),
        (("::1", 1), 200),
        (("::ffff:127.0.0.1", 1), 200),
        (("203.0.113.7", 1), 403),
        (None, 403),
    ],
)
def test_an_app_without_a_key_answers_callers_of_this_machine_only(peer, status):
    made = ratchet.container(tasks=[1], prompt="p")(lambda task: 1)

    async def ask(app: Any, **headers: str) -> int:
        transport = httpx.ASGITransport(app, client=peer)
        async with httpx.AsyncClient(transport=transport) as http:
            return (await http.get("http://localhost/health", headers=headers)).status_code

    assert asyncio.run(ask(made.asgi())) == status
    assert asyncio.run(ask(made.asgi(key="k"), **{"x-api-key": "k"})) == 200


def test_mounts_in_fastapi(model):
    fastapi = pytest.importorskip("fastapi")
    app = fastapi.FastAPI()
    made = ratchet.container(tasks=WORDS, prompt="p")(lambda task: 1)
    app.mount("/scoring", made.asgi(key="k"))
    app.mount("/", made.asgi())
    running = Asgi(app)
    assert call(running, "GET", "/scoring/health").status_code == 401
    assert call(running, "GET", "/scoring/health", headers={"x-api-key": "k"}).json() == {"status": "healthy"}
    assert post(running, body(model)).json()["success_status"] == "success"


def test_a_session_of_the_service_runs_on_it(client):
    labels = ", ".join(sorted({row["label"] for row in ROWS}))

    @ratchet.container(tasks=ROWS, prompt=PROMPT)
    async def queues(task, model, prompt):
        user = f"Message: {task['text']}\n\nLabels: {labels}"
        answer = await model([{"role": "system", "content": prompt}, {"role": "user", "content": user}])
        is_right = answer.strip() == task["label"]
        return float(is_right), "Correct." if is_right else f"Expected `{task['label']}`, answered `{answer}`."

    with queues.start(key="a key") as running:
        session = client.sessions.create(
            algorithm="gepa",
            container_url=running.url,
            container_api_key="a key",
            policy=LOCAL,
            gepa={"population_size": 2, "generations": 2, "evaluation": {"seeds": "0-8"}},
        )
        state = session.wait(timeout=120)
    assert state["status"] == "completed"
    assert session.results()["best_reward"] > session.results()["history"][0]["best_reward"]
    assert {candidate["is_baseline"] for candidate in session.candidates()} == {True, False}
