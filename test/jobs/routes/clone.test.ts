import { describe, expect, test } from '@jest/globals';
import { jobKinds, kindOf } from '../../../src/core/jobs/kinds.js';
import { readSecret } from '../../../src/access/store/secrets.js';
import { mergePatch } from '../../../src/util/merge-patch.js';
import {
  createEvaluation,
  createGraphJob,
  createSession,
  httpOfFile,
  secretKey,
  sessionRequest,
} from '../../platform/http/support.js';

const http = httpOfFile();
const pathOf = (id: string) => `${jobKinds[kindOf(id)!].path}/${id}`;
const clone = (id: string, patch?: object, headers: Record<string, string> = {}) =>
  http.call('POST', `${pathOf(id)}/clone`, patch, headers);
const jobOf = async (id: string) =>
  (await http.db.org('default', (tx) => tx.query('select * from jobs where id = $1', [id])))[0]!;

describe('a clone', () => {
  test.each([
    ['a session', createSession],
    ['an evaluation', createEvaluation],
    ['a graph job', createGraphJob],
  ])('of %s is a new job with the same request', async (_, create) => {
    const id = await create(http);
    const { status, headers, body } = await clone(id);
    expect(status).toBe(201);
    expect(body.job_id).not.toBe(id);
    expect(headers['location']).toBe(pathOf(body.job_id));
    expect(http.commander.started).toContain(body.job_id);
    const [before, after] = [await jobOf(id), await jobOf(body.job_id)];
    expect(after['spec']).toEqual(before['spec']);
    expect(after['request']).toEqual(before['request']);
    const again = await clone(body.job_id, {}, { 'idempotency-key': `again ${id}`.replaceAll(' ', '-') });
    const replayed = await clone(body.job_id, {}, { 'idempotency-key': `again-${id}` });
    expect(replayed.body).toEqual(again.body);
  });

  test('takes the tasks of a graph job with it', async () => {
    const id = await createGraphJob(http);
    const { body } = await clone(id, { rollout_budget: 90 });
    const tasksOf = (jobId: string) =>
      http.db.org('default', (tx) =>
        tx.query('select task_index, task_id, input, gold from graph_tasks where job_id = $1 order by 1', [jobId]),
      );
    expect(await tasksOf(body.job_id)).toEqual(await tasksOf(id));
    expect(body.max_rollouts).toBe(90);
  });

  test('merges a patch: objects field by field, null removes, labels are those of now', async () => {
    const id = await createSession(http, { budget: { max_rollouts: 90 }, patience: 3, max_concurrent: 7 });
    await http.call('PATCH', pathOf(id), { name: 'first', tags: ['a'], metadata: { by: 'me' }, notes: 'Seen.' });
    const patch = { policy_optimization: { budget: { max_cost_usd: 2 }, patience: null }, tags: ['b'] };
    const { body } = await clone(id, patch);
    const { spec, name, tags, metadata, notes } = await jobOf(body.session_id);
    expect([name, tags, metadata, notes]).toEqual(['first', ['b'], { by: 'me' }, 'Seen.']);
    const { body: bare } = await clone(id, { notes: null });
    expect((await jobOf(bare.session_id))['notes']).toBeNull();
    expect(spec).toMatchObject({
      maxConcurrent: 7,
      search: { maxRollouts: 90, patience: null },
      budget: { maxCostUsd: 2 },
    });
  });

  test('is refused as a create is, by the fields of the merged request', async () => {
    const id = await createSession(http);
    const { status, body } = await clone(id, { policy_optimization: { gepa: { generations: 0 }, budgit: {} } });
    expect(status).toBe(422);
    expect(body.errors.map(({ pointer }: { pointer: string }) => pointer).sort()).toEqual([
      '/policy_optimization/budgit',
      '/policy_optimization/gepa/generations',
    ]);
    const missing = await clone(id, { policy_optimization: { policy: null } });
    expect(missing.body.errors[0]).toMatchObject({ pointer: '/policy_optimization/policy' });
  });

  test('copies a key while the job runs, for the same origin; else it is given again, or null', async () => {
    const id = await createSession(http, { container_api_key: 'top-secret' });
    const { request } = await jobOf(id);
    expect(JSON.stringify(request)).not.toContain('top-secret');
    const { origin } = new URL(sessionRequest.container_url);
    const keyOf = (jobId: string) =>
      http.db.org('default', (tx) =>
        readSecret(tx, secretKey, { orgId: 'default', jobId, name: 'container_api_key', origin }),
      );
    const { body: patched } = await clone(id, { policy_optimization: { patience: 4 } });
    expect(await keyOf(patched.session_id)).toBe('top-secret');
    const pointer = '/policy_optimization/container_api_key';
    const elsewhere = await clone(id, { policy_optimization: { container_url: 'http://127.0.0.1:9999/other' } });
    expect(elsewhere.body.errors).toMatchObject([{ pointer }]);
    await http.db.org('default', (tx) => tx.query('delete from secrets where job_id = $1', [id]));
    expect((await clone(id)).body.errors).toMatchObject([{ pointer }]);
    const hasKey = async (key: string | null) => {
      const { body } = await clone(id, { policy_optimization: { container_api_key: key } });
      const { spec } = await jobOf(body.session_id);
      return (spec as { container: { hasApiKey: boolean } }).container.hasApiKey;
    };
    expect(await hasKey('another')).toBe(true);
    expect(await hasKey(null)).toBe(false);
  });

  test('names inline rows by their data set', async () => {
    const { container_url: _, gepa: __, ...rest } = sessionRequest;
    const rows = Array.from({ length: 12 }, (_, row) => ({ input: `q${row}`, expected: 'x' }));
    const { body: made } = await http.call('POST', jobKinds.session.path, {
      policy_optimization: {
        ...rest,
        dataset: { rows },
        scorer: 'exact',
        gepa: { population_size: 1, generations: 1 },
        initial_prompt: { messages: [{ role: 'system', content: 'Answer.' }] },
      },
    });
    const { request } = await jobOf(made.session_id);
    expect(request).toMatchObject({ policy_optimization: { dataset: { dataset_id: expect.stringMatching(/^ds_/) } } });
    expect(JSON.stringify(request)).not.toContain('q11');
    expect((await clone(made.session_id)).status).toBe(201);
  });

  test('of another kind or organization is 404; of a job without a request 409', async () => {
    const id = await createSession(http);
    expect((await http.call('POST', `${jobKinds.evaluation.path}/${id}/clone`)).status).toBe(404);
    await http.db.org('default', (tx) => tx.query('update jobs set request = null where id = $1', [id]));
    expect(await clone(id)).toMatchObject({ status: 409, body: { code: 'not_cloneable' } });
  });
});

// The examples of RFC 7396, appendix A.
test.each([
  [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
  [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
  [{ a: 'b' }, { a: null }, {}],
  [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
  [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
  [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
  [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
  [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
  [
    ['a', 'b'],
    ['c', 'd'],
    ['c', 'd'],
  ],
  [{ a: 'b' }, ['c'], ['c']],
  [{ a: 'foo' }, null, null],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [[1, 2], { a: 'b', c: null }, { a: 'b' }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
])('merges %j and %j to %j', (target, patch, merged) => {
  expect(mergePatch(target, patch)).toEqual(merged);
});
