from __future__ import annotations

import asyncio
import inspect
import json
import time
import uuid
import zipfile
from typing import Any

import pytest
from conftest import LOCAL, PROMPT
from support.proxy import Fault

import ratchet_prompts as ratchet
from ratchet_prompts import async_client, async_jobs, jobs
from ratchet_prompts import client as sync_client
from ratchet_prompts._events import EventCursor


def test_an_evaluation_from_create_to_download(client, evaluation, tmp_path):
    job = client.evaluations.create(**evaluation, name="first", tags=["python"])
    seen = []
    state = job.wait(on_event=seen.append, timeout=60)
    assert (state["status"], state["name"], state["tags"]) == ("completed", "first", ["python"])
    assert [event["seq"] for event in seen] == list(range(1, len(seen) + 1))
    assert seen[-1]["type"] == "eval.policy.job.completed"
    results = job.results()["results"]
    assert [row["seed"] for row in results] == list(range(9))
    groups = job.rows_summary()["groups"]
    for group in ("failing", "right"):
        assert [row["group"] for row in job.rows(group=group)] == [group] * groups[group]
    assert job.rows_dataset()["num_rows"] == sum(groups.values()) == 9
    subject = results[0]["trace_id"]
    review = client.reviews.put(job.id, subject, verdict="bad_expected", corrected="c")
    assert (review["row"], review["verdict"], review["own"]) == (0, "bad_expected", True)
    assert [each["subject_id"] for each in client.reviews.list(job_id=job.id)] == [subject]
    queue = client.reviews.queue(job.id, limit=1)
    assert (queue["done"], queue["left"], len(queue["data"])) == (1, 8, 1)
    assert job.rows_dataset(corrected=True)["corrected"] == 1
    client.reviews.delete(job.id, subject)
    assert list(client.reviews.list(job_id=job.id)) == []
    job.download_traces(tmp_path / "traces.zip")
    assert len(zipfile.ZipFile(tmp_path / "traces.zip").namelist()) >= 9
    assert job.trace(results[0]["trace_id"])["seed"] == 0
    assert list(job.events(after=seen[-1]["seq"])) == []


def test_a_try_answers_a_few_rows(client, evaluation):
    tried = client.evaluations.try_rows(**{**evaluation, "seeds": "0-8"}, rows=3)
    assert len(tried["rows"]) == 3
    assert [row["error"] for row in tried["rows"]] == [None] * 3
    assert tried["job_id"] not in [job["job_id"] for job in client.evaluations.list()]


def test_a_graph_is_tried_on_rows_of_a_data_set_with_a_name(client, evaluation):
    # Rows of their own: those that another test has uploaded keep the name that they have.
    rows = [{**row, "from": "compass"} for row in evaluation["dataset"]["rows"]]
    known = client.datasets.upload(rows, name="Compass")
    dataset = {"dataset_id": known["dataset_id"], "input": "input", "expected": "label", "initial_prompt": PROMPT}
    tried = client.graphs.try_rows(
        dataset={**dataset, "verifier_config": {"mode": "exact"}},
        policy_model=LOCAL["model"],
        policy_provider=LOCAL["provider"],
        rows=3,
    )
    assert [row["error"] for row in tried["rows"]] == [None] * 3
    state = client.graphs.get(tried["job_id"])
    assert (state["status"], state["dataset"]["name"]) == ("completed", "Compass")


def test_a_session_with_commands_rewards_and_its_prompt(client):
    session = client.sessions.create(
        algorithm="gepa",
        rollouts="caller",
        policy=LOCAL,
        initial_prompt={"messages": [{"role": "system", "content": PROMPT}]},
        gepa={"population_size": 1, "generations": 1, "evaluation": {"seeds": "0-2"}},
        name="live",
    )
    assert session.get()["name"] == "live"
    assert session.pause()["status"] == "paused"
    assert session.resume()["status"] == "running"
    assert session.prompt()["messages"][0]["content"] == PROMPT
    call = {"messages": [{"role": "user", "content": "Message: hi\n\nLabels: a, b"}]}
    client.request("POST", f"/api/gepa/v1/{session.id}/mine/chat/completions", json=call)
    assert session.reward(1, feedback="good", correlation_id="mine")["reward"] == 1
    with pytest.raises(ratchet.WaitTimeout):
        session.wait(timeout=0.3)
    assert session.reward(stop=True)["status"] == "completed"
    assert session.wait(timeout=20)["stopped_by"] == "reward_stop"
    assert session.results()["stopped_by"] == "reward_stop"
    with pytest.raises(ratchet.RatchetError) as refused:
        session.pause()
    assert (refused.value.status, refused.value.code) == (409, "invalid_state")


def test_a_failed_job_raises_with_its_state(client, evaluation):
    job = client.evaluations.create(**{**evaluation, "scorer": {"type": "http", "url": "http://127.0.0.1:9/"}})
    with pytest.raises(ratchet.JobFailed) as failed:
        job.wait(timeout=60)
    assert failed.value.job_id == job.id and failed.value.job["status"] == "failed"


def test_errors_have_pointers_codes_and_ids(client, evaluation):
    with pytest.raises(ratchet.RatchetError) as refused:
        client.evaluations.create(**{**evaluation, "scorer": "exactly"}, max_concurrent=0)
    error = refused.value
    assert (error.status, error.code) == (422, "validation_failed")
    assert {"/scorer", "/max_concurrent"} <= {fault["pointer"] for fault in error.errors}
    assert error.request_id
    with pytest.raises(ratchet.RatchetError) as missing:
        client.sessions.get("ses_../x")
    assert missing.value.status == 404
    with pytest.raises(ratchet.RatchetError) as unknown, ratchet.Client(api_key="x" * 40) as stranger:
        list(stranger.sessions.list())
    assert unknown.value.status == 401


def test_no_key_of_this_machine_goes_to_another(monkeypatch, tmp_path):
    monkeypatch.delenv("RATCHET_API_KEY")
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".ratchet").mkdir()
    with pytest.raises(ratchet.ConfigurationError):
        ratchet.Client("http://127.0.0.1:8787")
    (tmp_path / ".ratchet" / "api-key").write_text("kept\n")
    ratchet.Client("http://localhost:8787").close()
    with pytest.raises(ratchet.ConfigurationError):
        ratchet.Client("https://ratchet.example.com")


def test_a_lost_answer_makes_no_second_job(faulty, proxy, evaluation):
    name = f"once-{uuid.uuid4()}"
    proxy.faults += [Fault(lose_answer=True), Fault(status=503, headers={"retry-after": "0"}), Fault(cut_after=5)]
    job = faulty.evaluations.create(**evaluation, name=name)
    assert [listed["job_id"] for listed in faulty.evaluations.list(name=name)] == [job.id]
    keys = {request["headers"]["idempotency-key"] for request in proxy.requests[:4]}
    assert len(keys) == 1
    proxy.faults += [Fault(lose_answer=True)]
    job.wait(timeout=60)
    proxy.faults += [Fault(lose_answer=True)]
    job.delete()
    with pytest.raises(ratchet.RatchetError) as gone:
        job.get()
    assert gone.value.status == 404


def test_what_must_not_be_repeated_is_not(faulty, proxy):
    proxy.faults += [Fault(lose_answer=True)]
    with pytest.raises(ratchet.ServiceUnreachable):
        faulty.request("POST", "/api/v1/admin/keys", json={"name": "k", "scopes": ["read"], "expires_at": None})
    assert len(proxy.requests) == 1
    proxy.faults += [Fault(status=429, headers={"retry-after": "40000"})]
    with pytest.raises(ratchet.RatchetError) as limited:
        list(faulty.sessions.list())
    assert (limited.value.status, limited.value.retry_after) == (429, 40000)
    proxy.faults += [Fault(status=503, headers={"x-should-retry": "false"})]
    with pytest.raises(ratchet.RatchetError):
        list(faulty.sessions.list())
    assert len(proxy.requests) == 3


@pytest.mark.parametrize(
    ("encoding", "cuts"),
    [
        ("identity", [0, 1, 40, 300, 301]),
        ("identity", [700, 5, 2000, 9]),
        ("identity", [60] * 8),
        ("gzip", [0, 1, 40, 300]),
    ],
)
def test_events_come_once_and_in_order_over_cuts(faulty, proxy, client, evaluation, encoding, cuts):
    proxy.encoding = encoding
    job = client.evaluations.create(**evaluation)
    job.wait(timeout=60)
    whole = list(job.events())
    proxy.faults += [*(Fault(cut_after=cut) for cut in (*cuts, 1500)), Fault(status=503), Fault(status=502)]
    assert list(faulty.evaluations.handle(job.id).events()) == whole
    resumed = [int(request["headers"]["last-event-id"]) for request in proxy.requests]
    assert len(resumed) > len(cuts) and resumed == sorted(resumed) and resumed[-1] > 0

    async def read() -> Any:
        proxy.faults += [Fault(cut_after=cut) for cut in cuts]
        async with ratchet.AsyncClient(proxy.url) as other:
            return [event async for event in other.evaluations.handle(job.id).events()]

    assert asyncio.run(read()) == whole


def test_an_event_that_comes_again_is_left_out():
    cursor = EventCursor("/events", "http://127.0.0.1", after=1)
    frames = [f'id: {n}\nevent: paused\ndata: {{"seq": {n}, "type": "paused"}}\n\n'.encode() for n in (1, 2, 2, 3, 1)]
    assert [event["seq"] for frame in frames for event in cursor.feed(frame)] == [2, 3]


def test_lists_go_on_over_pages(client, evaluation):
    tag = f"t{uuid.uuid4().hex[:8]}"
    made = [client.evaluations.create(**evaluation, tags=[tag]).id for _ in range(5)]
    assert [job["job_id"] for job in client.evaluations.list(tag=tag, limit=2)] == made[::-1]
    for number in range(3):
        source = {"messages": [{"role": "system", "content": PROMPT}], "policy": LOCAL}
        client.deployments.create(name=f"d-{tag}-{number}", source=source, tags=[tag]).wait(timeout=60)
    assert len({d["id"] for d in client.deployments.list(tag=tag, limit=2)}) == 3


def test_data_sets_of_rows_files_and_frames_are_the_same(client, tmp_path):
    pandas = pytest.importorskip("pandas")
    rows = [{"n": 1, "text": "a"}, {"n": None, "text": "ä\u2028b"}]
    (tmp_path / "rows.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    given = [rows, tmp_path / "rows.jsonl", pandas.DataFrame(rows).astype({"n": "Int64"})]
    ids = {client.datasets.upload(data)["dataset_id"] for data in given}
    assert len(ids) == 1
    dataset = ids.pop()
    assert [row["data"] for row in client.datasets.rows(dataset)] == rows
    assert [client.datasets.get(dataset)[field] for field in ("num_rows", "name", "jobs")] == [2, "rows.jsonl", 0]
    assert client.datasets.rename(dataset, "Letters")["name"] == "Letters"
    client.datasets.delete(dataset)
    for wrong in (tmp_path / "rows.txt", tmp_path / "none.csv", {"a": 1}, ["a"]):
        with pytest.raises(ratchet.ConfigurationError):
            client.datasets.upload(wrong)


def test_compare_and_deployment(client, evaluation):
    a, b = (client.evaluations.create(**evaluation) for _ in range(2))
    a.wait(timeout=60), b.wait(timeout=60)
    runs = {run["job_id"]: run for run in client.runs.list(kind="evaluation", sort="-reward", limit=1)}
    assert runs[a.id]["comparable_key"] == runs[b.id]["comparable_key"]
    touched = client.runs.command("tag", job_ids=[a.id], tag="kept", dry_run=True)["runs"]
    assert [run["outcome"] for run in touched] == ["would"]
    compared = client.compare(a.id, b.id)
    assert (compared["verdict"], compared["tied"]) == ("inconclusive", 9)
    source = {"messages": [{"role": "system", "content": PROMPT}], "policy": LOCAL}
    deployment = client.deployments.create(name="python-client", source=source)
    assert deployment.wait(timeout=60)["live"] is True
    answer = client.deployments.handle("python-client").chat(
        [{"role": "user", "content": "Message: hi\n\nLabels: a, b"}], temperature=0
    )
    assert answer["choices"][0]["message"]["content"] in ("a", "b")
    report = {"answer_id": answer["id"], "reward": True, "corrected": "a"}
    first, again = (client.deployments.handle("python-client").feedback(**report) for _ in range(2))
    assert (first["deployment_id"], first["duplicate"], again["duplicate"]) == (deployment.id, False, True)
    assert [row["id"] for row in deployment.list_feedback()] == [first["id"]]
    stats = deployment.stats()
    assert (stats["requests"], stats["metrics"]["reward"]["mean"]) == (1, 1)
    assert [hour["requests"] for hour in deployment.history(per="minute")["data"]] == [1]
    assert deployment.failures()["data"] == []
    assert deployment.get()["retires"] is None
    health = client.health()
    assert (health["state"], health["service"]["ready"]) == ("ok", True)
    retirements = client.retirements(within_days=0, all=True)
    assert (retirements["retirements"], retirements["complete"]) == ([], True)


def test_a_rollout_and_a_migration(client, evaluation):
    source = {"messages": [{"role": "system", "content": PROMPT}], "policy": LOCAL}
    first = client.deployments.create(name="python-rollout", source=source)
    first.wait(timeout=60)
    steps = {"until": "decided", "steps": [1, 100]}
    second = client.deployments.create(name="python-rollout", source=source, rollout=steps)
    deadline = time.monotonic() + 60
    while second.get()["status"] != "rolling_out":
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert (second.rollout()["status"], second.rollout()["percent"]) == ("running", 1)
    name = client.deployments.handle("python-rollout")
    assert name.decide_rollout("pause")["status"] == "paused"
    assert second.decide_rollout("resume")["status"] == "running"
    assert name.decide_rollout("promote", reason="A trial.")["reason"] == "Promoted by hand: A trial."
    assert second.wait(timeout=60)["live"] is True
    assert next(second.changes())["reason"] == "A trial."

    rows = [{**row, "input": f"{row['input']} ({n})"} for n in range(3) for row in evaluation["dataset"]["rows"]]
    migration = name.migrate(
        {**LOCAL, "temperature": 0.5},
        dataset={"rows": rows, "expected": "label"},
        scorer="exact",
        max_loss=0.9,
        optimize="never",
    )
    found = migration.wait(timeout=60)
    assert (found["verdict"], found["same_prompt"]["rows"]) == ("no_worse", 27)
    assert [row["job_id"] for row in client.migrations.list(limit=1)] == [migration.id]
    assert client.migrations.handle(migration.id).get()["deployment"] == second.id
    with pytest.raises(ratchet.RatchetError) as refused:
        migration.cancel()
    assert refused.value.code == "invalid_state"


def test_a_checkup_its_approval_and_a_schedule(client, evaluation):
    source = {"messages": [{"role": "system", "content": PROMPT}], "policy": LOCAL}
    client.deployments.create(name="python-checked", source=source).wait(timeout=60)
    named = client.deployments.handle("python-checked")
    dataset = client.datasets.upload(evaluation["dataset"]["rows"])
    rows = {"dataset": {"dataset_id": dataset["dataset_id"], "expected": "label"}, "scorer": "exact"}
    checkup = named.check_up(rows=rows, traffic=None, max_change=0.5)
    state = checkup.wait(timeout=60)
    assert (state["status"], state["verdict"], state["rows"]["rows"]) == ("completed", "first", 9)
    assert client.checkups.handle(checkup.id).get()["checkup_number"] is None
    assert [each["job_id"] for each in client.checkups.list(name="python-checked")] == [checkup.id]
    with pytest.raises(ratchet.RatchetError) as refused:
        checkup.decide(True)
    assert refused.value.code == "not_awaiting_approval"
    with pytest.raises(ratchet.RatchetError) as refused:
        named.improve(scorer="exact")
    assert refused.value.code == "too_few_requests"

    schedule = named.schedule(every="1d", checkup={"rows": rows, "traffic": None, "max_change": 0.5})
    assert schedule.update(paused=True)["next_run_at"] is None
    run = schedule.run()
    for _ in range(300):
        run = next(each for each in schedule.get()["last_runs"] if each["run_id"] == run["run_id"])
        if run["outcome"] is not None:
            break
        time.sleep(0.1)
    assert run["outcome"] == "started"
    again = client.checkups.handle(run["job_id"]).wait(timeout=60)
    assert (again["verdict"], again["checkup_number"]) == ("same", 1)
    assert [each["schedule_id"] for each in named.schedules()] == [schedule.id]
    assert schedule.id in [each["schedule_id"] for each in client.schedules.list()]
    schedule.delete()
    assert list(named.schedules()) == []


def test_the_async_client_does_the_same(evaluation, tmp_path):
    async def run() -> None:
        async with ratchet.AsyncClient() as client:
            (tmp_path / "rows.csv").write_text("input,expected\nhi,hi\n")
            assert (await client.datasets.upload(tmp_path / "rows.csv"))["num_rows"] == 1
            job = await client.evaluations.create(**evaluation)
            with pytest.raises(ratchet.WaitTimeout):
                await job.wait(timeout=0.001)
            assert (await job.wait(timeout=60))["status"] == "completed"
            await job.download_traces(tmp_path / "traces.zip")
            newest = [each["job_id"] async for each in client.evaluations.list(limit=1)]
            assert newest[0] == job.id
            with pytest.raises(ratchet.RatchetError):
                await client.sessions.get("ses_1")
            source = {"messages": [{"role": "system", "content": PROMPT}], "policy": LOCAL}
            named = await client.deployments.create(name="python-async", source=source)
            await named.wait(timeout=60)
            rows = {"dataset": evaluation["dataset"], "scorer": "exact"}
            checkup = await named.check_up(rows=rows, traffic=None)
            assert (await checkup.wait(timeout=60))["verdict"] == "first"
            schedule = await named.schedule(every="1d", checkup={"rows": rows, "traffic": None})
            assert (await schedule.get())["every"] == "1d"
            assert [each["schedule_id"] async for each in named.schedules()] == [schedule.id]
            await schedule.delete()

    asyncio.run(run())
    assert zipfile.is_zipfile(tmp_path / "traces.zip")


def test_both_clients_have_the_same_methods():
    def surface(module: Any, prefix: str) -> Any:
        classes = {name[len(prefix) :]: kind for name, kind in vars(module).items() if inspect.isclass(kind)}
        return {
            f"{name}.{method}": [str(p).replace(prefix, "") for p in inspect.signature(function).parameters.values()]
            for name, kind in classes.items()
            if kind.__module__ == module.__name__
            for method, function in vars(kind).items()
            if inspect.isfunction(function) and not method.startswith("_")
        }

    assert surface(sync_client, "") == surface(async_client, "Async")
    assert surface(jobs, "") == surface(async_jobs, "Async")


@pytest.mark.parametrize(
    ("field", "arguments"),
    [
        ("api_key", {"api_key": "sk-\u201cx\u201d"}),
        ("api_key", {"api_key": "sk\n-x"}),
        ("url", {"url": "http://[::1"}),
        ("url", {"url": "http://"}),
        ("url", {"url": "http://a\u0000b"}),
    ],
)
def test_what_no_header_and_no_url_takes_is_named(field, arguments):
    with pytest.raises(ratchet.ConfigurationError, match=f"^{field}: "):
        ratchet.Client(**{"url": "http://127.0.0.1:1", "api_key": "sk-x", **arguments})
