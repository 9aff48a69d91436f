import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { ask, built, deploy, readDeployment, saying } from '../../support/deployments-over-http.js';
import {
  createGraphJob,
  createSession,
  ended,
  eventsOf,
  readJob,
  type Evaluation,
  type GraphJob,
  type Session,
} from '../../support/jobs-over-http.js';
import { serviceOfFile } from '../../support/service-of-file.js';
import { graphAnswer, graphDataset } from '../../support/worlds/graph.js';
import { rowsBaseline, startRowsWorld } from '../../support/worlds/rows.js';

const on = serviceOfFile(() => startRowsWorld());
afterEach(() => on.world.reset());

let session: Session;
let dataset: object;
beforeAll(async () => {
  const gepa = { population_size: 2, generations: 12 };
  const id = await createSession(on.service, { ...on.world.job(40), gepa, budget: { max_rollouts: 300 } });
  session = await ended<Session>(on.service, id);
  dataset = { dataset_id: session.dataset!.dataset_id, input: 'question', expected: 'answer' };
}, 60_000);

const gate = (more: object = {}) => ({ dataset, scorer: 'exact', min_improvement: 0.1, preflight: false, ...more });
const winner = () => ({ session_id: session.session_id });
const policy = { provider: 'fake', model: 'policy' };

describe('a gate on the rows of a data set', () => {
  test('compares the winner with the baseline, then others with the winner, on unused rows', async () => {
    const first = await built(on.service, await deploy(on.service, { name: 'rules', source: winner(), gate: gate() }));
    expect(first).toMatchObject({ status: 'ready', live: true, error: null });
    const unused = session.split!.heldout.length;
    expect(first.gate).toMatchObject({
      seeds: unused,
      passed: true,
      dataset: { num_rows: 40, scorer: 'exact' },
      candidate: { reward: 1 },
      incumbent: { reward: 0, deployment_id: null },
      comparison: { difference: 1, seeds: unused },
    });
    // Every call is one that the live name would make: the winner, then the row.
    const evaluation = await readJob<Evaluation>(on.service, first.gate!.candidate!.job_id);
    expect(evaluation).toMatchObject({ status: 'completed', container_url: null, dataset: { num_rows: 40 } });
    const { question } = on.world.rows(40)[session.split!.heldout[0]!]!;
    const answer = await ask(on.service, 'rules', { messages: [{ role: 'user', content: question }] });
    expect(await answer.json()).toMatchObject({
      choices: [{ message: { content: expect.stringMatching(/^needs rule-/) } }],
    });
    const live = on.world.model.requests.at(-1)!.body.messages;
    const sent = on.world.policyCalls().map(({ body }) => JSON.stringify(body.messages));
    expect(sent.filter((messages) => messages === JSON.stringify(live)).length).toBeGreaterThanOrEqual(2);

    const worse = { name: 'rules', source: saying(rowsBaseline, policy), gate: gate({ seeds: '0-19' }) };
    const second = await built(on.service, await deploy(on.service, worse));
    expect(second).toMatchObject({
      status: 'failed',
      live: false,
      error_details: { code: 'gate_not_passed' },
      gate: {
        seeds: 20,
        passed: false,
        candidate: { reward: 0 },
        comparison: { difference: -1 },
        incumbent: { deployment_id: first.id, reward: 1 },
      },
    });
    const compared = await on.service.api.call<{ verdict: string; unit: string; b: { seeds: number } }>(
      'GET',
      `/api/v1/compare?a=${second.id}&b=${second.gate!.incumbent!.job_id}`,
    );
    expect([compared.verdict, compared.unit, compared.b.seeds]).toEqual(['better', 'row', 20]);
    expect(second.error).toContain('on 20 common rows');
  });

  test('gives messages the row, and without a live deployment compares with the row alone', async () => {
    const messages = [
      { role: 'system', content: 'There is rule-0. There is rule-1. There is rule-2. There is rule-3.' },
      { role: 'user', content: '{{question}}' },
    ];
    const source = { messages, policy };
    const asked = { name: 'given', source, gate: gate({ seeds: '0-7' }) };
    const done = await built(on.service, await deploy(on.service, asked));
    expect(done).toMatchObject({ status: 'ready', gate: { candidate: { reward: 1 }, incumbent: { reward: 0 } } });
    const snapshot = await on.service.api.call('GET', `/api/harbor/deployments/snapshots/${done.snapshot_id}`);
    expect(snapshot).toMatchObject({ messages: [messages[0]] });
    const incumbent = await readJob<Evaluation>(on.service, done.gate!.incumbent!.job_id);
    const events = await eventsOf(on.service, incumbent.job_id);
    expect(events.at(-1)).toMatchObject({ type: 'eval.policy.job.completed' });
  });

  test('compares an edited branch under a new name with its parent', async () => {
    const messages = [{ role: 'system', content: 'There is rule-0.' }];
    const dataset = gate({ scorer: 'exact', seeds: '0-7' });
    const parent = {
      messages: [{ role: 'system', content: 'There is rule-0. There is rule-1. There is rule-2. There is rule-3.' }],
      policy,
    };
    const first = await built(on.service, await deploy(on.service, { name: 'trunk', source: parent }));
    const source = { deployment: 'trunk@1', messages };
    const edited = await built(on.service, await deploy(on.service, { name: 'branch', source, gate: dataset }));
    expect(edited).toMatchObject({
      status: 'failed',
      error_details: { code: 'gate_not_passed' },
      source: { deployment_id: first.id },
      gate: { seeds: 8, passed: false, incumbent: { deployment_id: null } },
    });
    expect(edited.gate!.incumbent!.reward).toBeGreaterThan(edited.gate!.candidate!.reward!);
  });

  test('fails if the name serves a graph, which answers no rows', async () => {
    on.world.model.reply(({ body }) => ({ text: graphAnswer(body.messages) }));
    const graph = await createGraphJob(on.service, {
      dataset: graphDataset(12),
      policy_model: 'task',
      policy_provider: 'fake',
      rollout_budget: 60,
      preflight: false,
    });
    await ended<GraphJob>(on.service, graph);
    const first = await built(on.service, await deploy(on.service, { name: 'graph', source: { graph_job_id: graph } }));
    on.world.reset();
    const asked = { name: 'graph', source: winner(), gate: gate() };
    const second = await built(on.service, await deploy(on.service, asked));
    expect(second).toMatchObject({ status: 'failed', error_details: { code: 'gate_not_comparable' } });
    expect(await readDeployment(on.service, first.id)).toMatchObject({ status: 'ready', live: true });
    const alone = { ...asked, gate: gate({ min_improvement: undefined, min_reward: 1 }) };
    expect(await built(on.service, await deploy(on.service, alone))).toMatchObject({ status: 'ready', live: true });
  });

  test('keeps its data set', async () => {
    const rows = [{ input: 'Row 0: rule 0', expected: 'x' }];
    const asked = {
      name: 'kept',
      source: saying('Answer.', policy),
      gate: gate({ dataset: { rows }, min_improvement: -1 }),
    };
    const id = await deploy(on.service, asked);
    const { gate: seen } = await built(on.service, id);
    const { status } = await fetch(`${on.service.url}/api/v1/datasets/${seen!.dataset!.dataset_id}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${on.service.apiKey}` },
    });
    expect(status).toBe(409);
  });
});
