import { describe, expect, test } from '@jest/globals';
import type { Db, Tx } from '../../../src/platform/db/db.js';
import { claimCallerRollout } from '../../../src/rollouts/store/calls.js';
import { candidateId, rolloutId } from '../../../src/core/jobs/ids.js';
import { openTraces } from '../../support/otlp.js';
import { unzip } from '../../support/unzip.js';
import { seedCandidates, seedRollouts } from '../../platform/http/seed.js';
import { createEvaluation, createSession, httpOfFile, startHttp, type TestHttp } from '../../platform/http/support.js';

const jobs = '/api/v1/offline/jobs';
const http = httpOfFile();

describe("an evaluation's archive", () => {
  test('has one trace for each begun rollout, verbatim', async () => {
    const id = await createEvaluation(http);
    await seedRollouts(http, id, [
      { candidate: 0, seed: 7, status: 'succeeded', reward: 1, tokens: [10, 2], cost: 0.5 },
      { candidate: 0, seed: 3, status: 'failed', error: 'The container answered 500.' },
      { candidate: 0, seed: 4, status: 'running' },
      { candidate: 0, seed: 5, status: 'queued' },
      { candidate: 0, seed: 6, status: 'cancelled' },
    ]);
    const { status, headers, raw } = await http.call('GET', `${jobs}/${id}/traces`);
    expect([status, headers['content-type']]).toEqual([200, 'application/zip']);
    expect(headers['content-disposition']).toBe(`attachment; filename="${id}-traces.zip"`);
    const { json: entries } = await openTraces(raw);
    expect(entries.map(({ name }) => name)).toEqual([0, 1, 2].map((n) => `${rolloutId(id, n)}.json`));
    const trace = JSON.parse(entries[0]!.text);
    expect(trace).toEqual({
      trace_id: rolloutId(id, 0),
      rollout_id: rolloutId(id, 0),
      correlation_id: rolloutId(id, 0),
      job_id: id,
      rollout_idx: 0,
      source: 'service',
      candidate_id: null,
      seed: 7,
      stage: 'evaluation',
      generation: 0,
      status: 'succeeded',
      reward: 1,
      feedback: null,
      details: null,
      error: null,
      error_code: null,
      resent: 0,
      latency_ms: 12.5,
      created_at: expect.any(String),
      started_at: expect.any(String),
      completed_at: expect.any(String),
      usage: { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12, total_cost_usd: 0.5 },
      calls: [
        {
          call_id: `call_${rolloutId(id, 0)}`,
          provider: 'local',
          model: 'm',
          stream: false,
          http_status: 200,
          request: { messages: [{ role: 'user', content: 'seed 7' }] },
          response: { choices: [{ message: { content: 'yes' } }] },
          prompt_tokens: 10,
          completion_tokens: 2,
          cost_usd: 0.5,
          cost_source: 'table',
          latency_ms: 5,
          cached_from: null,
          created_at: expect.any(String),
        },
      ],
    });
    expect(JSON.parse(entries[1]!.text)).toMatchObject({
      status: 'failed',
      error: 'The container answered 500.',
      error_code: 'container_error',
      calls: [],
    });
    const single = await http.call('GET', `${jobs}/${id}/traces/${rolloutId(id, 0)}`);
    expect(single.body).toEqual(trace);
    expect((await http.call('GET', `${jobs}/${id}/traces/rol_none`)).status).toBe(404);
  });

  test('of many rollouts is sorted by name, byte for byte repeatable, with a fixed date', async () => {
    const id = await createEvaluation(http);
    await seedRollouts(
      http,
      id,
      Array.from({ length: 120 }, (_, seed) => ({
        candidate: 0,
        seed,
        status: 'succeeded' as const,
        reward: 1,
        tokens: [1, 1] as [number, number],
      })),
    );
    const first = await http.call('GET', `${jobs}/${id}/traces`);
    const second = await http.call('GET', `${jobs}/${id}/traces`);
    expect(first.raw.equals(second.raw)).toBe(true);
    const entries = await unzip(first.raw);
    const { json } = await openTraces(first.raw);
    const names = json.map(({ name }) => name);
    expect(names).toHaveLength(120);
    expect(names).toEqual([...names].sort());
    expect(new Set(entries.map(({ date }) => date))).toEqual(new Set(['Tue Jan 01 1980']));
    expect(json.every(({ text }) => JSON.parse(text).calls.length === 1)).toBe(true);
  });

  /** A server that calls `onPage` at every read of a page of rollouts. */
  function watched(onPage: () => void): Promise<TestHttp> {
    const { db, secretKey } = http.deps;
    const query = (tx: Tx, text: string, values?: unknown[]) => {
      if (text.includes('collate')) onPage();
      return tx.query(text, values);
    };
    const org: Db['org'] = (orgId, work) =>
      db.org(orgId, (tx) => work({ query: (text, values) => query(tx, text, values) as never }));
    return startHttp({ secretKey, db: { ...db, org } });
  }

  test('breaks off when the database fails, instead of ending as if complete', async () => {
    const id = await createEvaluation(http);
    const rollouts = Array.from({ length: 150 }, (_, seed) => ({ candidate: 0, seed, status: 'succeeded' as const }));
    await seedRollouts(http, id, rollouts);
    let failsAt = 1;
    let pages = 0;
    const failing = await watched(() => {
      pages += 1;
      if (pages >= failsAt) throw new Error('the database is gone');
    });
    const base = await failing.listen();
    const download = () => fetch(`${base}${jobs}/${id}/traces`, { headers: { authorization: `Bearer ${http.key}` } });
    const beforeTheFirstByte = await download();
    expect([beforeTheFirstByte.status, await beforeTheFirstByte.json()]).toMatchObject([500, { code: 'internal' }]);
    [pages, failsAt] = [0, 2];
    const later = await download();
    expect(later.status).toBe(200);
    await expect(later.arrayBuffer()).rejects.toThrow();
    await failing.close();
  });

  test('stops reading when its reader disconnects', async () => {
    const id = await createEvaluation(http);
    // 3,000 rollouts with 10 kB each that do not compress: far more than a connection buffers.
    await http.db.org('default', (tx) =>
      tx.query(
        `insert into rollouts (id, org_id, job_id, idx, source, ordinal, seed, status, feedback)
         select 'rol_' || $1 || '_' || n, 'default', $1, n, 'service', n, n, 'succeeded',
                (select string_agg(md5(n::text || i::text), '') from generate_series(1, 320) i)
           from generate_series(1, 3000) as n`,
        [id],
      ),
    );
    let pages = 0;
    const leaving = await watched(() => (pages += 1));
    const base = await leaving.listen();
    const abort = new AbortController();
    const headers = { authorization: `Bearer ${http.key}` };
    const response = await fetch(`${base}${jobs}/${id}/traces`, { headers, signal: abort.signal });
    await response.body!.getReader().read();
    abort.abort();
    // Closing waits for all answers in flight.
    await leaving.close();
    expect(pages).toBeLessThan(30);
  });
});

describe("a session's traces", () => {
  test('name their candidate, including the caller’s own traffic', async () => {
    const id = await createSession(http);
    await seedCandidates(http, id, [{ status: 'evaluated', generation: 0 }]);
    await seedRollouts(http, id, [{ candidate: 0, seed: 1, status: 'succeeded', reward: 1, tokens: [1, 1], cost: 0 }]);
    const own = await http.db.org('default', (tx) =>
      claimCallerRollout(
        tx,
        { orgId: 'default', jobId: id },
        { correlationId: 'mine', candidateId: candidateId(id, 0) },
      ),
    );
    const base = `/api/v1/online/sessions/${id}/traces`;
    const { body } = await http.call('GET', `${base}/${rolloutId(id, 0)}`);
    expect(body).toMatchObject({ session_id: id, job_id: id, candidate_id: candidateId(id, 0), source: 'service' });
    for (const name of ['mine', own.id]) {
      expect((await http.call('GET', `${base}/${name}`)).body).toMatchObject({
        trace_id: own.id,
        source: 'caller',
        status: 'open',
      });
    }
    const { json } = await openTraces((await http.call('GET', base)).raw);
    expect(json.map(({ name }) => name)).toEqual([`${rolloutId(id, 0)}.json`, `${own.id}.json`]);
  });
});
