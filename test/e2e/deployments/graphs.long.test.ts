import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { containersOfEachTest } from '../../support/fakes/containers-of-each-test.js';
import { ask, built, deploy } from '../../support/deployments-over-http.js';
import { answers } from '../../support/fakes/container.js';
import { gate } from '../../support/gate.js';
import { startGraphWorld, type GraphWorld } from '../../support/worlds/graph.js';
import { createGraphJob, deployments, ended, pathOf, type GraphJob } from '../../support/jobs-over-http.js';
import { range } from '../../support/range.js';
import { startTestService, type TestService } from '../../support/service.js';
import { until } from '../../support/until.js';

let service: TestService;
let world: GraphWorld;
let job: string;
beforeAll(async () => {
  world = await startGraphWorld();
  service = await startTestService(world.env);
  job = await createGraphJob(service, world.job(12, { rollout_budget: 150 }));
  expect(await ended<GraphJob>(service, job)).toMatchObject({ status: 'completed' });
}, 120_000);
afterAll(async () => {
  await service.stop();
  await world.close();
}, 60_000);

const container = containersOfEachTest();
const input = (item: number) => JSON.stringify({ question: `What is item ${item}?` });
const asking = (content: string, more: object = {}) => ({ messages: [{ role: 'user', content }], ...more });
interface Completion {
  choices: { message: { content: string } }[];
  usage: { total_tokens: number };
}

test('the graph of a graph job is frozen, answers with its output, and streams its last step', async () => {
  const { best_candidate, best_reward, verdict } = await service.api.call<
    GraphJob & { best_candidate: { candidate_id: string } }
  >('GET', pathOf(job));
  const id = await deploy(service, { name: 'rules', source: { graph_job_id: job } });
  const deployment = await built(service, id);
  expect(deployment).toMatchObject({ status: 'ready', source: { graph_job_id: job, session_id: null } });
  const snapshot = await service.api.call<{ graph_txt: string }>(
    'GET',
    `${deployments}/snapshots/${deployment.snapshot_id}`,
  );
  expect(snapshot).toMatchObject({
    kind: 'graph',
    policies: [{ model: 'task', provider: 'fake' }],
    provenance: {
      source: 'graph_job',
      job_id: job,
      candidate_id: best_candidate.candidate_id,
      reward: best_reward,
      verdict,
    },
  });
  const text = await fetch(`${service.url}${pathOf(job)}/graph.txt`, {
    headers: { authorization: `Bearer ${service.apiKey}` },
  });
  expect(snapshot.graph_txt).toBe(await text.text());

  const whole = await ask(service, 'rules', asking(input(4)));
  expect([whole.status, whole.headers.get('x-ratchet-deployment-id')]).toEqual([200, id]);
  const { choices, usage } = (await whole.json()) as Completion;
  expect(choices[0]!.message.content).toBe('rule-1');
  expect(usage.total_tokens).toBeGreaterThan(0);

  const held = gate();
  world.model.reply((request) => ({
    ...world.answer(request),
    ...(request.body.stream && { hold: held.opened, holdAfter: 2 }),
  }));
  const streamed = await ask(service, 'rules', asking(input(5), { stream: true }), { path: '/v1/chat/completions' });
  const reader = streamed.body!.pipeThrough(new TextDecoderStream()).getReader();
  let said = (await reader.read()).value!;
  while (!said.includes('rule-2')) said += (await reader.read()).value!;
  held.open();
  for (let part = await reader.read(); !part.done; part = await reader.read()) said += part.value;
  expect(said).not.toContain('"usage":{');
  expect(said.trimEnd().endsWith('data: [DONE]')).toBe(true);
  world.reset();

  // A graph with one input takes its plain text; a JSON input needs every field.
  const plain = await ask(service, 'rules', asking('What is item 4?'));
  expect(((await plain.json()) as Completion).choices[0]!.message.content).toBe('rule-1');
  world.reset();
  const refused = await ask(service, 'rules', asking('{"item":"4"}'));
  expect([refused.status, await refused.json()]).toMatchObject([
    400,
    { error: { code: 'graph_input_invalid', message: expect.stringContaining('question') } },
  ]);
  expect(world.model.requests).toHaveLength(0);
  const stats = await until('all are counted', async () => {
    const seen = await service.api.call<{ requests: number }>('GET', `${deployments}/${id}/stats`);
    return seen.requests === 4 && seen;
  });
  // The price of the model is unknown; refused calls cost nothing.
  expect(stats).toMatchObject({ errors: 1, usage: { requests_without_cost: 3 } });
});

test('its gate has the graph answer the container, and buys each answer once', async () => {
  world.reset();
  const box = await container({
    behave: () =>
      answers.askModel(
        ({ seed }) => ({ system: 'the container’s own', user: input(seed) }),
        (text, { seed }) => ({ reward: text === `rule-${seed % 3}` ? 1 : 0 }),
      ),
  });
  const id = await deploy(service, {
    name: 'gated-graph',
    source: { graph_job_id: job },
    gate: { container_url: box.url, seeds: range(0, 9), min_improvement: 0.2 },
  });
  const deployment = await built(service, id);
  expect(deployment).toMatchObject({ status: 'ready', error: null, gate: { passed: true, candidate: { reward: 1 } } });
  expect(deployment.gate!.incumbent!.reward).toBeLessThan(1);
  expect(deployment.gate!.incumbent!.deployment_id).toBeNull();
  const calls = await service.query<{ provider: string; model: string; n: number }>(
    'select provider, model, count(*)::int as n from model_calls where job_id = $1 group by 1, 2',
    [deployment.gate!.candidate!.job_id],
  );
  expect(calls).toEqual([{ provider: 'graph', model: deployment.snapshot_id, n: 9 }]);
});

test('its gate needs no more connections than the pool has, at any number of calls', async () => {
  world.reset();
  const all = gate();
  let waiting = 0;
  const warm = () => Promise.all(range(0, 60).map(() => service.api.call('GET', deployments)));
  const asks = answers.askModel(
    ({ seed }) => ({ system: '', user: input(seed) }),
    () => ({ reward: 1 }),
  );
  const box = await container({
    behave: () => {
      waiting += 1;
      // With all connections already open, no call gets a new one.
      if (waiting === 60) void warm().then(() => all.open());
      return answers.held(all.opened, asks);
    },
  });
  // A graph that the proxy has not read yet.
  const { candidates } = await service.api.call<{ candidates: { candidate_id: string; is_baseline: boolean }[] }>(
    'GET',
    pathOf(job),
  );
  const { best_candidate } = await service.api.call<{ best_candidate: { candidate_id: string } }>('GET', pathOf(job));
  const fresh = candidates.find(
    (candidate) => !candidate.is_baseline && candidate.candidate_id !== best_candidate.candidate_id,
  )!;
  const id = await deploy(service, {
    name: 'many-at-once',
    source: { graph_job_id: job, candidate_id: fresh.candidate_id },
    gate: { container_url: box.url, seeds: range(0, 60), min_reward: 1, max_concurrent: 60 },
  });
  expect(await built(service, id)).toMatchObject({ status: 'ready', gate: { candidate: { reward: 1 } } });
  // No call was refused for lack of a connection and sent again.
  expect(box.ledger).toHaveLength(60);
});
