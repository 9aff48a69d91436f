import { beforeAll, describe, expect, test } from '@jest/globals';
import { buildApp } from '../../../src/platform/http/app.js';
import type { Db } from '../../../src/platform/db/db.js';
import { project, seedCandidates, seedRollouts } from '../../platform/http/seed.js';
import {
  createEvaluation,
  createGraphJob,
  createSession,
  evaluationRequest,
  finish,
  graphRequest,
  httpOfFile,
  sessionRequest,
} from '../../platform/http/support.js';

const url = '/api/v1/online/sessions';
const http = httpOfFile();
let ids: string[];
const list = async (query: string) => (await http.call('GET', `${url}?${query}`)).body;
const idsOf = (page: { data: { job_id: string }[] }) => page.data.map(({ job_id }) => job_id);

beforeAll(async () => {
  ids = [];
  for (let i = 0; i < 7; i += 1) ids.unshift(await createSession(http));
  // Two created at the same instant, another a day ago.
  await http.db.org('default', async (tx) => {
    const same = 'update jobs set created_at = (select created_at from jobs where id = $2) where id = $1';
    await tx.query(same, [ids[2], ids[3]]);
    await tx.query(`update jobs set created_at = now() - interval '1 day', status = 'paused' where id = $1`, [ids[6]]);
  });
  await createEvaluation(http);
});

describe('a list', () => {
  test('is newest first, of one kind, with all fields of a list', async () => {
    const page = await list('');
    expect(idsOf(page)).toEqual(ids);
    expect([page.has_more, page.next_cursor]).toEqual([false, null]);
    expect(page.data[0]).toMatchObject({
      session_id: ids[0],
      status: 'running',
      algorithm: 'gepa',
      progress: { total_generations: 2 },
    });
    const { body } = await http.call('GET', '/api/v1/offline/jobs');
    expect(body.data).toHaveLength(1);
    expect(body.data[0]).toMatchObject({ app_id: 'banking', num_seeds: 2, status: 'running' });
  });

  test.each([1, 2, 3, 6, 7])('has every session once in pages of %d, including ties', async (limit) => {
    const seen: string[] = [];
    let cursor = '';
    for (;;) {
      const page = await list(`limit=${limit}${cursor && `&cursor=${cursor}`}`);
      expect(page.data.length).toBeLessThanOrEqual(limit);
      seen.push(...idsOf(page));
      expect(page.has_more).toBe(page.next_cursor !== null);
      if (!page.has_more) break;
      cursor = page.next_cursor;
    }
    expect(seen).toEqual(ids);
  });

  test('keeps its pages when sessions are created meanwhile', async () => {
    const first = await list('limit=3');
    const late = await createSession(http);
    const rest = await list(`limit=10&cursor=${first.next_cursor}`);
    expect([...idsOf(first), ...idsOf(rest)]).toEqual(ids);
    ids.unshift(late);
  });

  test('filters by state and by time', async () => {
    expect(idsOf(await list('state=paused'))).toEqual([ids.at(-1)]);
    const hourAgo = encodeURIComponent(new Date(Date.now() - 3_600_000).toISOString());
    expect(idsOf(await list(`created_after=${hourAgo}`))).toEqual(ids.slice(0, -1));
    expect(idsOf(await list(`created_before=${hourAgo}`))).toEqual(ids.slice(-1));
    expect(idsOf(await list(`created_before=${hourAgo}&state=running`))).toEqual([]);
    // Postgres reads neither this offset nor this year.
    expect(idsOf(await list('created_after=0177-06-30T07:19:33-18:17'))).toEqual(ids);
    expect(idsOf(await list('created_before=0000-01-01T00:00:00Z'))).toEqual([]);
  });

  test('excludes a row at its own time, in either direction', async () => {
    const jobId = await createSession(http);
    const set = `update jobs set created_at = '2031-01-02T03:04:05.678901Z' where id = $1`;
    await http.db.org('default', (tx) => tx.query(set, [jobId]));
    const shown = (await http.call('GET', `${url}/${jobId}`)).body.created_at as string;
    expect(shown).toBe('2031-01-02T03:04:05.678Z');
    expect(idsOf(await list(`created_after=${shown}`))).toEqual([]);
    expect(idsOf(await list(`created_before=${shown}`))).not.toContain(jobId);
    expect(idsOf(await list('created_after=2031-01-02T03:04:05.677Z'))).toEqual([jobId]);
    expect(idsOf(await list('created_before=2031-01-02T03:04:05.679Z'))).toContain(jobId);
    await http.db.org('default', (tx) => tx.query(`update jobs set created_at = now() where id = $1`, [jobId]));
    ids.unshift(jobId);
  });

  test('accepts the parameters of the existing client', async () => {
    expect((await http.call('GET', `${url}?limit=5&kind=voyager_online&system_name=x`)).status).toBe(200);
  });

  test.each([
    'limit=0',
    'limit=1001',
    'limit=x',
    'limit=1.5',
    'limit=',
    'limit=0x10',
    'limit=1e2',
    'state=done',
    'cursor=nonsense',
    `cursor=${Buffer.from('2026-02-30T00:00:00.000000Z ses_1').toString('base64url')}`,
    'created_after=yesterday',
    'created_before=2026-01-01T00:00:00%2B24:00',
    'created_before=2026-13-01T00:00:00Z',
    'offset=3',
    'state=paused&state=running',
    'name=',
    'name=x&name=y',
    'tag=',
    'metadata=team',
    'metadata=[]',
  ])('%s is 422', async (query) => {
    const answer = await http.call('GET', `${url}?${query}`);
    expect([answer.status, answer.body.error.param]).toEqual([422, query.split('=')[0]]);
  });
});

describe('the numbers of a list', () => {
  const cents = [0.1, 0.2, 0.3, 0.7];
  const runs = cents.map((cost, seed) => ({
    candidate: 0,
    seed,
    reward: cost / 3,
    tokens: [1, 1] as [number, number],
    cost,
    status: seed === 1 ? ('failed' as const) : ('succeeded' as const),
  }));
  const itemOf = async (path: string, id: string) =>
    (await http.call('GET', path)).body.data.find(({ job_id }: { job_id: string }) => job_id === id);
  const viewOf = async (path: string, id: string) => (await http.call('GET', `${path}/${id}`)).body;

  test('are those of the state, of an evaluation that runs and one that has ended', async () => {
    const path = '/api/v1/offline/jobs';
    const id = await createEvaluation(http, { seeds: [0, 1, 2, 3, 4] });
    expect(await itemOf(path, id)).toMatchObject({ mean_reward: null, total_cost_usd: null });
    await seedRollouts(http, id, [...runs, { candidate: 0, seed: 4, status: 'running' }]);
    for (const status of ['running', 'completed']) {
      if (status === 'completed')
        await http.db.org('default', (tx) => finish(tx, { orgId: 'default', jobId: id }, status));
      const { summary, usage, progress } = await viewOf(path, id);
      const phase =
        status === 'running' ? { name: 'rows', done: 4, total: 5, mean_reward: expect.closeTo(1.1 / 9) } : null;
      expect([progress, usage.total_cost_usd]).toEqual([{ completed: 4, total: 5, phase }, expect.closeTo(1.3)]);
      const { total_cost_usd } = usage;
      const { mean_reward } = summary;
      expect(mean_reward).toBeCloseTo(1.1 / 9);
      const item = await itemOf(path, id);
      expect(item).toMatchObject({ status, progress, total_cost_usd });
      // While it runs, in the order of the outcomes.
      expect(item.mean_reward).toEqual(status === 'running' ? expect.closeTo(mean_reward, 12) : mean_reward);
    }
  });

  test.each([
    [url, createSession],
    ['/api/graphgen/jobs', createGraphJob],
  ] as const)('are those of the state: %s', async (path, createJob) => {
    const id = await createJob(http);
    await seedCandidates(http, id, [{ status: 'evaluated', reward: 0.5, generation: 0 }]);
    await seedRollouts(http, id, runs);
    const estimate = { candidateId: 'c', reward: 0.625, low: 0, high: 1 };
    await project(http, id, { bestReward: 0.5, estimate });
    const { usage, ...state } = await viewOf(path, id);
    const { total_cost_usd } = usage;
    const shown = { total_cost_usd, estimated_reward: 0.625, best_reward: 0.5, progress: state.progress };
    expect(await itemOf(path, id)).toMatchObject(shown);
    expect(total_cost_usd).toBeCloseTo(1.3);
    await seedUnpriced(id);
    expect(await itemOf(path, id)).toMatchObject({ total_cost_usd: null });
  });

  const seedUnpriced = (id: string) =>
    http.db.org('default', (tx) => tx.query('update job_usage set unpriced = 1 where job_id = $1 and calls > 0', [id]));

  test.each([
    [url, createSession],
    ['/api/v1/offline/jobs', createEvaluation],
    ['/api/graphgen/jobs', createGraphJob],
  ] as const)('take as many statements for a page as for one item: %s', async (path, create) => {
    let statements = 0;
    const db: Db = {
      ...http.db,
      org: (orgId, work) =>
        http.db.org(orgId, (tx) =>
          work({
            ...tx,
            query: (...query) => {
              statements += 1;
              return tx.query(...query);
            },
          }),
        ),
    };
    const app = await buildApp({ ...http.deps, db });
    const count = async (limit: number) => {
      statements = 0;
      const headers = { authorization: `Bearer ${http.key}` };
      const answer = await app.inject({ url: `${path}?limit=${limit}`, headers });
      return { statements, items: answer.json().data.length as number };
    };
    await create(http);
    await create(http);
    await count(1); // looks up the key
    const [one, page] = [await count(1), await count(100)];
    await app.close();
    expect(page.items).toBeGreaterThan(one.items);
    expect(page.statements).toBe(one.statements);
  });
});

describe('the creator of a job', () => {
  const source = { messages: [{ role: 'system', content: 'x' }], policy: { model: 'local', provider: 'local' } };

  test.each<[path: string, body: object, stateOf: (id: string) => string]>([
    [url, { policy_optimization: sessionRequest }, (id) => `${url}/${id}`],
    ['/api/v1/offline/jobs', evaluationRequest, (id) => `/api/v1/offline/jobs/${id}`],
    ['/api/graphgen/jobs', graphRequest, (id) => `/api/graphgen/jobs/${id}`],
    ['/api/harbor/deployments', { name: 'of-a-key', source }, (id) => `/api/harbor/deployments/${id}/status`],
  ])('is the key that made it: %s', async (path, body, stateOf) => {
    const { body: key } = await http.call('POST', '/api/v1/admin/keys', { name: 'ci', scopes: ['read', 'write'] });
    const as = { authorization: `Bearer ${key.key}` };
    const made = await http.call('POST', path, body, as);
    expect(made.status).toBe(201);
    await http.call('POST', path, body);
    const id = made.body.job_id ?? made.body.id;
    const by = { key_id: key.key_id, key_name: 'ci' };
    expect((await http.call('GET', stateOf(id))).body.created_by).toEqual(by);
    const of = async (creator: string) => {
      const { body } = await http.call('GET', `${path}?created_by=${creator}`);
      return (body.data ?? body.deployments) as { job_id?: string; id: string; created_by: object }[];
    };
    expect((await of(key.key_id)).map((job) => [job.job_id ?? job.id, job.created_by])).toEqual([[id, by]]);
    expect(await of('nobody')).toEqual([]);
    const others = await of('bootstrap_default');
    expect(others.length).toBeGreaterThan(0);
    expect(others.every(({ created_by }) => 'key_id' in created_by && created_by.key_id !== key.key_id)).toBe(true);
  });
});
