import { beforeEach, describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { daysLeft } from '../../../../src/core/retirements/lookup.js';
import { deployments as base } from '../../../support/jobs-over-http.js';
import { ensureBootstrapKey } from '../../../../src/access/store/keys.js';
import {
  createEvaluation,
  createGraphJob,
  createSession,
  finish,
  secretKey,
  type Answer,
} from '../../../platform/http/support.js';
import { deploymentsOfFile } from '../../../kinds/deployment/routes/support.js';

const it = deploymentsOfFile();
const url = '/api/v1/models/retirements';
const openai = (model: string) => ({ provider: 'openai', model });
const [retired, retiring, staying] = [openai('gpt-4'), openai('gpt-4.1-mini'), openai('gpt-6-luna')];
const messages = [{ role: 'system', content: 'x' }];

interface Row {
  kind: string;
  id: string;
  name: string | null;
  live: boolean;
  role: string;
  model: string;
}
const read = async (query = '') => (await it.http.call('GET', `${url}${query}`)).body;
/** What is told of some resources, in order. */
const told = (body: { retirements: Row[] }, ...ids: string[]) =>
  body.retirements
    .filter(({ id }) => ids.includes(id))
    .map(({ kind, id, live, role, model }) => [kind, ids.indexOf(id), live, role, model]);

const fallen = { fallbacks: { models: [retiring] } };
let count = 0;
async function deploy(policy: object, more: object = {}): Promise<string> {
  const { status, body } = await it.create({ name: `r-${(count += 1)}`, source: { messages, policy }, ...more });
  expect(status).toBe(201);
  return body.id as string;
}

beforeEach(() => it.model.list((_, response) => response.writeHead(200).end('{"data":[]}')));

describe('what names a model with a known end', () => {
  test('is each live deployment and its fallbacks, the first end first', async () => {
    const fallbacks = { models: [staying, retired] };
    const [first, second, third] = [
      await deploy(retiring),
      await deploy(staying, { fallbacks }),
      await deploy(staying),
    ];
    const body = await read();
    expect(told(body, first, second, third)).toEqual([
      ['deployment', 1, true, 'fallback', 'gpt-4'],
      ['deployment', 0, true, 'policy', 'gpt-4.1-mini'],
    ]);
    expect(body.retirements.find(({ id }: Row) => id === first)).toEqual({
      kind: 'deployment',
      id: first,
      name: expect.stringMatching(/^r-/),
      live: true,
      role: 'policy',
      ...retiring,
      shutdown_date: '2027-01-14',
      days_left: daysLeft('2027-01-14', Date.now()),
      replacement: 'gpt-6-luna',
      source: 'developers.openai.com/api/docs/deprecations',
      as_of: '2026-11-27',
    });
    expect(body).toMatchObject({ complete: true });
  });

  test('is each model of the judge of a name, and of the parts of its scorer', async () => {
    const rubric = (model: object) => ({ type: 'rubric', criteria: '- polite (1): Is it polite?', ...model });
    const parts = [retired, staying, retiring].map((model) => ({ scorer: rubric(model) }));
    const [one, several] = [
      await deploy(staying, { judge: { scorer: rubric(retired) } }),
      await deploy(staying, { judge: { scorer: { type: 'weighted', parts } } }),
    ];
    const body = await read();
    expect(told(body, one)).toEqual([['deployment', 0, true, 'judge', 'gpt-4']]);
    expect(told(body, several)).toEqual([
      ['deployment', 0, true, 'judge', 'gpt-4'],
      ['deployment', 0, true, 'judge', 'gpt-4.1-mini'],
    ]);
    await it.http.call('PATCH', `${base}/${one}`, { judge: null });
    expect(told(await read(), one)).toEqual([]);
  });

  test('is each open job, and no closed one', async () => {
    const { http } = it;
    const session = await createSession(http, { policy: staying, proposer: retired });
    const evaluation = await createEvaluation(http, { policy: retired });
    const graph = await createGraphJob(http, { policy_model: 'gpt-4' });
    const jobs = [session, evaluation, graph];
    expect(told(await read(), ...jobs).sort()).toEqual(
      [
        ['evaluation', 1, false, 'policy', 'gpt-4'],
        ['graph', 2, false, 'policy', 'gpt-4'],
        ['graph', 2, false, 'proposer', 'gpt-4'],
        ['session', 0, false, 'proposer', 'gpt-4'],
      ].sort(),
    );
    for (const jobId of jobs)
      await http.db.org('default', (tx) => finish(tx, { orgId: 'default', jobId }, 'completed'));
    expect(told(await read(), ...jobs)).toEqual([]);
  });

  test('is a version that does not serve its name with all', async () => {
    const source = { messages, policy: retired };
    const [{ body: old }, { body: live }] = [
      await it.create({ name: 'twice', source }),
      await it.create({ name: 'twice', source: { messages, policy: staying } }),
    ];
    expect(told(await read(), old.id, live.id)).toEqual([]);
    expect(told(await read('?all=true'), old.id, live.id)).toEqual([['deployment', 0, false, 'policy', 'gpt-4']]);
    await it.http.call('DELETE', `${base}/${old.id}`);
    expect(told(await read('?all=true'), old.id, live.id)).toEqual([]);
  });

  test('is bounded by days, those that have ended included', async () => {
    const ids = [await deploy(openai('gpt-5.1')), await deploy(retired)];
    const left = daysLeft('2027-04-01', Date.now());
    expect(told(await read('?within_days=0'), ...ids)).toHaveLength(left <= 0 ? 2 : 1);
    expect(told(await read(`?within_days=${Math.max(left, 0)}`), ...ids)).toHaveLength(2);
    expect((await it.http.call('GET', `${url}?within_days=-1`)).status).toBe(422);
    expect((await it.http.call('GET', `${url}?soon=1`)).status).toBe(422);
  });

  test("is nothing of another organization's", async () => {
    await deploy(retired);
    const { body } = await it.http.call('GET', url, undefined, { authorization: `Bearer ${it.http.otherKey}` });
    expect(body).toEqual({ retirements: [], unknown_providers: [], complete: true });
  });
});

describe('a provider', () => {
  /** An organization whose lists nobody has read. */
  async function organization(): Promise<(method: 'GET' | 'POST', path: string, body?: object) => Promise<Answer>> {
    const key = `key-${randomUUID()}`;
    await ensureBootstrapKey(it.http.db, secretKey, `org-${randomUUID()}`, key);
    return (method, path, body) => it.http.call(method, path, body, { authorization: `Bearer ${key}` });
  }

  test('that no page of the table and no list tells of is named', async () => {
    await it.http.call('PUT', '/api/v1/admin/provider-keys/together', { api_key: 'sk-own' });
    await deploy(staying, { fallbacks: { models: [{ provider: 'together', model: 'm' }] } });
    const reason = 'no page of it is in the table';
    expect((await read()).unknown_providers).toEqual([{ provider: 'together', reason }]);
  });

  test('gives ends in its list, which precede the table', async () => {
    const call = await organization();
    const policy = openai('own-model');
    const { body } = await call('POST', base, { name: 'listed', source: { messages, policy }, ...fallen });
    it.model.list((_, response) =>
      response.end(
        JSON.stringify({
          data: [
            { id: 'own-model', shutdown_date: '2100-01-02' },
            { id: 'gpt-4.1-mini', shutdown_date: '2100-01-01' },
            { id: 'unused', shutdown_date: '2026-01-01' },
          ],
        }),
      ),
    );
    const { retirements, unknown_providers: unknown } = (await call('GET', url)).body;
    const source = 'the list of models of openai';
    expect(retirements).toMatchObject([
      { id: body.id, ...retiring, shutdown_date: '2100-01-01', replacement: 'gpt-6-luna', source },
      { id: body.id, ...policy, shutdown_date: '2100-01-02', replacement: null, source },
    ]);
    expect(unknown).toEqual([]);
  });

  test('whose list cannot be read has the ends of the table', async () => {
    const call = await organization();
    await call('POST', base, { name: 'unlisted', source: { messages, policy: staying }, ...fallen });
    it.model.list((_, response) => response.writeHead(500).end());
    const { retirements, unknown_providers: unknown } = (await call('GET', url)).body;
    expect(retirements).toMatchObject([{ ...retiring, shutdown_date: '2027-01-14' }]);
    expect(unknown).toEqual([{ provider: 'openai', reason: expect.stringContaining('500') }]);
  });
});

describe('a deployment shows', () => {
  const shown = async (id: string) => {
    const view = await it.status(id);
    const list = await it.http.call('GET', `${base}?limit=100`);
    const row = list.body.deployments.find((one: { id: string }) => one.id === id);
    expect(row.retires).toEqual(view.body.retires);
    return view.body.retires;
  };

  test('the first of its ends', async () => {
    expect(await shown(await deploy(staying))).toBeNull();
    expect(await shown(await deploy(retiring))).toEqual({
      ...retiring,
      shutdown_date: '2027-01-14',
      replacement: 'gpt-6-luna',
    });
    const id = await deploy(retiring, { fallbacks: { models: [retired] } });
    expect(await shown(id)).toMatchObject({ model: 'gpt-4' });
    await it.http.call('PATCH', `${base}/${id}`, { fallbacks: null });
    expect(await shown(id)).toMatchObject({ model: 'gpt-4.1-mini' });
    const judged = await deploy(staying, {
      judge: { scorer: { type: 'rubric', criteria: '- polite (1): Is it polite?', ...retired } },
    });
    expect(await shown(judged)).toMatchObject({ model: 'gpt-4' });
  });

  test('one before it is built', async () => {
    it.held = true;
    expect(await shown(await deploy(retired))).toMatchObject({ model: 'gpt-4', shutdown_date: '2026-10-23' });
  });
});

test('a create warns of its models, fallbacks and judges, each once', async () => {
  const { body } = await it.create({
    name: 'warned',
    source: { messages, policy: retired },
    fallbacks: { models: [retired, staying] },
    judge: { scorer: { type: 'rubric', criteria: '- polite (1): Is it polite?', ...retiring } },
  });
  expect(body.warnings).toEqual([
    'Model gpt-4 of openai retired on 2026-10-23; the vendor names gpt-5.6-sol.',
    expect.stringContaining('gpt-4.1-mini'),
  ]);
});
