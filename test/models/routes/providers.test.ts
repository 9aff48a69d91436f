import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { LlmStep } from '../../../src/core/graphs/graph.js';
import { graphToJson } from '../../../src/core/graphs/json.js';
import type { ModelTry } from '../../../src/models/client/providers.js';
import { setSnapshot } from '../../../src/kinds/deployment/store/deployments.js';
import { putSnapshot } from '../../../src/kinds/deployment/store/snapshots.js';
import { startFakeModel, type FakeModel } from '../../support/fakes/model.js';
import { deploymentsOfFile, question, saying } from '../../kinds/deployment/routes/support.js';
import { lateProviders } from './late-providers.js';
import { proxyOfFile } from './support.js';

// Each model call of the API goes out with the key of its organization, and is counted once.

let model: FakeModel;
const counted: ModelTry[] = [];
const keys: Record<string, string> = { default: 'sk-of-default', other: 'sk-of-other' };
const providers = lateProviders(() => [
  { OPENAI_BASE_URL: model.url, OPENAI_API_KEY: 'sk-of-the-service' },
  {
    readOwnKey: (orgId) => Promise.resolve(keys[orgId] ?? null),
    observer: { modelCall: (call) => void counted.push(call), retry: () => undefined },
  },
]);
const proxy = proxyOfFile({ providers });
const deployments = deploymentsOfFile({ providers });

beforeAll(async () => {
  model = await startFakeModel();
});
afterAll(async () => {
  await providers.close();
  await model.close();
});
beforeEach(() => {
  model.requests.length = 0;
  counted.length = 0;
});

const sentKeys = () => model.requests.map(({ headers }) => headers.authorization);
const purposes = () => counted.map(({ purpose, status }) => [purpose, status]);

/** Deploys a graph of two calls under a name. */
async function deployGraph(name: string): Promise<void> {
  const step = (id: string, input: string): LlmStep => ({
    id,
    type: 'llm',
    inputs: { given: input },
    output: { field: 'text' },
    messages: [{ role: 'user', content: `${id} {{given}}` }],
  });
  const steps = [step('plan', 'input.input'), step('write', 'plan.text')];
  const id = await deployments.deploy(name);
  await deployments.http.db.org('default', async (tx) =>
    setSnapshot(
      tx,
      id,
      await putSnapshot(tx, 'default', {
        kind: 'graph',
        graph: graphToJson({ inputs: ['input'], steps, output: 'write.text' }),
        graph_txt: '',
        policies: [{ provider: 'openai', model: 'gpt-4o-mini' }],
        lever_versions: {},
        provenance: { source: 'graph_job', job_id: 'grf_x', candidate_id: 'cand_x', reward: 1, verdict: null },
      }),
    ),
  );
}

describe.each([false, true])('with stream: %s', (stream) => {
  const body = { ...question, stream };

  test.each(['default', 'other'])('a proxied call of the organization %s', async (orgId) => {
    const job = await proxy.newSession({ orgId });
    const key = orgId === 'default' ? proxy.http.key : proxy.http.otherKey;
    const answer = await proxy.post(job, '/a', body, { authorization: `Bearer ${key}` });
    expect([answer.status, (await answer.text()) !== '']).toEqual([200, true]);
    expect(sentKeys()).toEqual([`Bearer sk-of-${orgId}`]);
    expect(counted).toEqual([
      expect.objectContaining({ provider: 'openai', model: 'gpt-4o-mini', purpose: 'policy', status: 200 }),
    ]);
    expect(counted[0]!.promptTokens).toBeGreaterThan(0);
  });

  test('a call of a deployment', async () => {
    const name = `prompt-${stream}`;
    await deployments.deploy(name);
    const other = { authorization: `Bearer ${deployments.http.otherKey}` };
    await deployments.http.call('POST', '/api/harbor/deployments', { name, source: saying('x') }, other);
    for (const headers of [{}, other]) await (await deployments.ask(name, body, headers)).text();
    expect(sentKeys()).toEqual(['Bearer sk-of-default', 'Bearer sk-of-other']);
    expect(purposes()).toEqual([
      ['deployment', 200],
      ['deployment', 200],
    ]);
  });

  test('each step of a graph, and not the graph', async () => {
    await deployGraph(`graph-${stream}`);
    await (await deployments.ask(`graph-${stream}`, body)).text();
    expect(sentKeys()).toEqual(['Bearer sk-of-default', 'Bearer sk-of-default']);
    expect(purposes()).toEqual([
      ['step', 200],
      ['step', 200],
    ]);
  });

  test('a refused call', async () => {
    model.reply(() => ({ status: 429, raw: '{}' }));
    expect((await proxy.post(await proxy.newSession(), '/a', body)).status).toBe(429);
    model.reply(() => ({}));
    expect(purposes()).toEqual([['policy', 429]]);
  });
});
