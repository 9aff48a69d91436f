import { createServer } from 'node:http';
import { expect, test } from '@jest/globals';
import { Ratchet, RatchetError } from '../../src/client/index.js';
import { listen } from '../support/loopback.js';
import { serviceOfFile } from '../support/service-of-file.js';
import { unzip } from '../support/unzip.js';
import { clientOf, evaluationOf, policy, sums } from './world.js';

// The methods of the resources against the real service, with the local model.

const on = serviceOfFile();

const messages = [
  { role: 'system' as const, content: 'Answer with the number.' },
  { role: 'user' as const, content: '{{input}}' },
];

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}

test('a session: created and awaited in one line, read, labelled, deployed, deleted', async () => {
  const client = clientOf(on.service);
  const rows = { dataset: { rows: sums(12) }, scorer: 'exact' as const, policy };
  const body = {
    policy_optimization: {
      ...rows,
      algorithm: 'gepa' as const,
      initial_prompt: { messages },
      gepa: { population_size: 2, generations: 1 },
      budget: { max_rollouts: 60 },
    },
    tags: ['client'],
  };
  const creation = client.createSession(body);
  const types = new Set<string>();
  const state = await creation.wait({ onEvent: ({ type }) => void types.add(type) });
  expect(state.status).toBe('completed');
  expect([...types]).toEqual(expect.arrayContaining(['session_started', 'rollout_completed', 'job_complete']));

  const session = await creation;
  expect(session.created).toMatchObject({ session_id: session.id, status: 'running' });
  expect(await session.results()).toMatchObject({ session_id: session.id });
  const candidates = await all(session.candidates({ limit: 1 }));
  expect(candidates.length).toBe(new Set(candidates.map(({ candidate_id }) => candidate_id)).size);
  expect(await session.candidate(candidates[0]!.candidate_id)).toMatchObject({ is_baseline: true });
  const [lever] = (await client.request('listSessionLevers', { path: { session_id: session.id } })).data;
  const path = { session_id: session.id, prompt_lever_id: lever!.lever_id };
  expect((await all(client.list('listSessionLeverVersions', { path }))).length).toBeGreaterThan(0);
  await session.update({ name: 'mine' });
  expect(await all(client.sessions.list({ name: 'mine', metadata: JSON.stringify({}) }))).toMatchObject([
    { session_id: session.id, tags: ['client'] },
  ]);

  const zip = await session.traces();
  expect(zip.bodyUsed).toBe(false);
  const files = await unzip(Buffer.from(await (await zip.blob()).arrayBuffer()));
  expect(files.length).toBeGreaterThan(12);

  const deployment = await client.createDeployment({ name: 'sums', source: { session_id: session.id } });
  expect(await deployment.wait()).toMatchObject({ status: 'ready', live: true });
  const named = client.deployments.handle('sums');
  expect((await named.chat({ messages: [{ role: 'user', content: '1 + 1' }] })).choices).toHaveLength(1);
  expect(await named.stats()).toMatchObject({ requests: 1 });
  expect((await all(client.deployments.list({ limit: 1 }))).map(({ id }) => id)).toEqual([deployment.id]);
  await expect(deployment.rollback()).rejects.toMatchObject({ status: 409, code: 'nothing_before' });
  await expect(session.delete()).rejects.toMatchObject({ status: 409, code: 'in_use' });
  await deployment.delete();
}, 120_000);

test('evaluations: pages, commands, a comparison', async () => {
  const client = clientOf(on.service);
  const made = await Promise.all([1, 2, 3].map(() => client.createEvaluation(evaluationOf(4, { tags: ['three'] }))));
  const ends = await Promise.all(made.map((each) => each.wait()));
  expect(ends.map(({ status }) => status)).toEqual(['completed', 'completed', 'completed']);
  const listed = await all(client.evaluations.list({ tag: ['three'], limit: 2 }));
  expect(listed.map(({ job_id }) => job_id).sort()).toEqual(made.map(({ id }) => id).sort());
  const runs = await all(client.runs.list({ tag: ['three'], sort: 'rollouts', limit: 2 }));
  expect(runs.map(({ job_id }) => job_id).sort()).toEqual(made.map(({ id }) => id).sort());
  expect((await client.runs.page({ tag: ['three'], limit: 1 })).totals).toMatchObject({ runs: 3, rollouts: 12 });
  const commanded = await client.runs.command({ action: 'archive', filter: { tag: 'three' }, dry_run: true });
  expect(commanded.runs.map(({ outcome }) => outcome)).toEqual(['would', 'would', 'would']);
  const [first, second] = made as [(typeof made)[number], (typeof made)[number]];
  expect((await first.results()).results).toHaveLength(4);
  expect(await client.compare(first.id, second.id)).toMatchObject({ difference: { mean: 0 } });
  await expect(first.pause()).rejects.toMatchObject({ status: 409, problem: { current_status: 'completed' } });
  const trace = (await first.results()).results[0]!.trace_id;
  expect(await first.trace(trace!)).toMatchObject({ trace_id: trace });
  const again = await second.clone({ max_concurrent: 1 });
  expect(again.id).not.toBe(second.id);
  await again.wait();
  expect(await again.delete()).toBeUndefined();
  await expect(again.get()).rejects.toBeInstanceOf(RatchetError);
});

test('data sets: rows, files by name, pages of rows', async () => {
  const { datasets } = clientOf(on.service);
  const rows = sums(5);
  const { dataset_id } = await datasets.upload(rows);
  const lines = rows.map((row) => JSON.stringify(row)).join('\n');
  const file = new File([lines], 'rows.jsonl');
  const csv = new Blob([`input,expected\n${rows.map(({ input, expected }) => `${input},${expected}`).join('\n')}`]);
  expect(await datasets.upload(file)).toMatchObject({ dataset_id, name: 'rows.jsonl' });
  expect((await datasets.upload(lines, { type: 'application/jsonl' })).dataset_id).toBe(dataset_id);
  expect((await datasets.upload(csv, { type: 'text/csv' })).dataset_id).toBe(dataset_id);
  await expect(async () => datasets.upload(csv)).rejects.toThrow(TypeError);
  expect((await all(datasets.rows(dataset_id, { limit: 2 }))).map(({ data }) => data)).toEqual(rows);
  expect((await all(datasets.list())).map((each) => each.dataset_id)).toContain(dataset_id);
  expect(await datasets.get(dataset_id)).toMatchObject({ num_rows: 5 });
  expect(await datasets.rename(dataset_id, null)).toMatchObject({ name: null });
  await datasets.delete(dataset_id);
});

test('access: organizations, keys, limits, provider keys, audit log', async () => {
  const client = clientOf(on.service);
  const { org_id } = await client.orgs.create({ name: 'Acme' });
  const { key, key_id } = await client.keys.create({ name: 'reader', scopes: ['read'] }, { org_id });
  const reader = new Ratchet({ url: on.service.url, apiKey: key });
  expect(await all(reader.sessions.list())).toEqual([]);
  await expect(reader.orgs.limits()).rejects.toMatchObject({ status: 403, problem: { required_scope: 'admin' } });
  await client.keys.setLimits(key_id, { requests_per_minute: 600 }, { org_id });
  expect(await client.keys.limits(key_id, { org_id })).toMatchObject({ limits: { requests_per_minute: 600 } });
  await client.orgs.setLimits({ open_jobs: 5 }, { org_id });
  expect(await client.orgs.limits({ org_id })).toMatchObject({ limits: { open_jobs: 5 } });
  const rotated = await client.keys.rotate(key_id, { grace_seconds: 0 }, { org_id });
  await client.keys.revoke(rotated.key_id, { org_id });
  expect(await all(client.keys.list({ org_id, limit: 1 }))).toHaveLength(2);
  await client.providerKeys.set('openai', 'sk-test-12345678');
  expect((await client.providerKeys.list()).data).toMatchObject([{ provider: 'openai' }]);
  await client.providerKeys.delete('openai');
  const actions = (await all(client.orgs.auditLog({ limit: 2 }))).map(({ action }) => action);
  expect(actions.length).toBeGreaterThan(5);
  await client.orgs.delete(org_id, 'Acme');
  expect(await client.webhookSecret()).toMatchObject({ secret: expect.stringMatching(/^whsec_/) });
  expect((await client.providers()).providers.map(({ name }) => name)).toContain('local');
});

test('a graph job is started later and cancelled', async () => {
  const client = clientOf(on.service);
  const tasks = sums(12).map(({ input }, n) => ({ id: `t${n}`, input: { question: input } }));
  const job = await client.createGraph({
    dataset: {
      initial_prompt: 'Answer.',
      tasks,
      verifier_config: { mode: 'exact' },
      gold_outputs: tasks.map(({ id }) => ({ task_id: id, output: 'x' })),
    },
    policy_model: 'local',
    policy_provider: 'local',
    rollout_budget: 60,
    auto_start: false,
  });
  await expect(job.text()).rejects.toMatchObject({ status: 409 });
  await job.start();
  await job.cancel();
  expect(await job.wait()).toMatchObject({ status: 'cancelled' });
  await expect(job.candidate('cand_none')).rejects.toMatchObject({ status: 404 });
  expect((await all(client.graphs.list())).map(({ job_id }) => job_id)).toEqual([job.id]);
});

test('url and key come from the environment, options before it', async () => {
  const seen: string[] = [];
  const { url, close } = await listen(
    createServer(({ headers }, response) => {
      seen.push(String(headers.authorization));
      response.end('{}');
    }),
  );
  const before = { ...process.env };
  try {
    Object.assign(process.env, { RATCHET_URL: url, RATCHET_API_KEY: 'from-environment' });
    await new Ratchet().providers();
    await new Ratchet({ apiKey: 'given' }).providers();
  } finally {
    process.env = before;
    await close();
  }
  expect(seen).toEqual(['Bearer from-environment', 'Bearer given']);
});
