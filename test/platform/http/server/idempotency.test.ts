import { beforeEach, describe, expect, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { claimForCreate } from '../../../../src/access/store/idempotency.js';
import { TemporalUnavailableError } from '../../../../src/platform/temporal/errors.js';
import { canonicalJson } from '../../../../src/util/json.js';
import { createSession, evaluationRequest, sessionRequest, httpOfFile } from '../support.js';

const sessions = '/api/v1/online/sessions';
const request = { policy_optimization: sessionRequest };
const http = httpOfFile();
let keys = 0;
let key: string;

beforeEach(() => {
  key = `key-${(keys += 1)}`;
  http.commander.sent = [];
  http.commander.onSend = (job, kind, commandId) => http.commander.decide(job, kind, commandId);
});

const post = (url: string, body?: unknown, headers: Record<string, string> = {}) =>
  http.call('POST', url, body, { 'idempotency-key': key, ...headers });
const countJobs = async () =>
  (await http.db.org('default', (tx) => tx.query<{ n: number }>('select count(*) as n from jobs')))[0]!.n;

describe('creates', () => {
  test.each([
    [sessions, request],
    ['/api/v1/offline/jobs', evaluationRequest],
  ])('%s: the same key and body get the first answer again, and one job', async (url, body) => {
    const before = await countJobs();
    const first = await post(url, body);
    const again = await post(url, body);
    expect([first.status, first.headers['idempotency-replayed']]).toEqual([201, undefined]);
    expect([again.status, again.headers['idempotency-replayed']]).toEqual([201, 'true']);
    expect(again.body).toEqual(first.body);
    expect(again.headers['location']).toBe(first.headers['location']);
    expect(await countJobs()).toBe(before + 1);
  });

  test('stores no hash of the body that can be computed without the secret key', async () => {
    await post(sessions, request);
    const [row] = await http.db.org('default', (tx) =>
      tx.query<{ fingerprint: Buffer }>('select fingerprint from idempotency_keys where key = $1', [key]),
    );
    const bare = createHash('sha256')
      .update(`POST ${sessions}\n${canonicalJson(request)}`)
      .digest();
    expect(row!.fingerprint).toHaveLength(bare.length);
    expect(row!.fingerprint.equals(bare)).toBe(false);
  });

  test('ignores the order of fields in the body', async () => {
    const first = await post(sessions, { policy_optimization: sessionRequest, metadata: { a: 1, b: 2 } });
    const again = await post(sessions, { metadata: { b: 2, a: 1 }, policy_optimization: sessionRequest });
    expect(again.body.session_id).toBe(first.body.session_id);
  });

  test('refuses another body or another path with 422', async () => {
    await post(sessions, request);
    const other = await post(sessions, { policy_optimization: { ...sessionRequest, rng_seed: 1 } });
    expect([other.status, other.body.code]).toEqual([422, 'idempotency_key_reused']);
    expect((await post('/api/v1/offline/jobs', evaluationRequest)).body.code).toBe('idempotency_key_reused');
  });

  test('concurrent duplicates create one job; each answer is that job or 409', async () => {
    const before = await countJobs();
    const answers = await Promise.all(Array.from({ length: 20 }, () => post(sessions, request)));
    const created = new Set(answers.filter(({ status }) => status === 201).map(({ body }) => body.session_id));
    expect(created.size).toBe(1);
    for (const { status, body } of answers) expect(status === 201 || body.code === 'request_in_flight').toBe(true);
    expect(await countJobs()).toBe(before + 1);
    expect((await post(sessions, request)).body.session_id).toBe([...created][0]);
  });

  test('answers 409 until the first create commits, and frees the key if it fails', async () => {
    const died = http.db.org('default', async (tx) => {
      await claimForCreate(tx, { orgId: 'default', key, fingerprint: Buffer.from('x') });
      const meanwhile = await post(sessions, request);
      expect([meanwhile.status, meanwhile.body.code]).toEqual([409, 'request_in_flight']);
      throw new Error('the process dies');
    });
    await expect(died).rejects.toThrow('dies');
    expect((await post(sessions, request)).status).toBe(201);
  });

  test('a refused create frees its key', async () => {
    expect((await post(sessions, { policy_optimization: {} })).status).toBe(422);
    expect((await post(sessions, request)).status).toBe(201);
  });

  test('each organization has its own keys', async () => {
    const first = await post(sessions, request);
    const other = await post(sessions, request, { authorization: `Bearer ${http.otherKey}` });
    expect(other.status).toBe(201);
    expect(other.body.session_id).not.toBe(first.body.session_id);
  });

  test('a key expires after 24 hours', async () => {
    const first = await post(sessions, request);
    const age = (hours: number) =>
      http.db.org('default', (tx) =>
        tx.query(`update idempotency_keys set created_at = now() - $2 * interval '1 hour' where key = $1`, [
          key,
          hours,
        ]),
      );
    await age(23.9);
    expect((await post(sessions, request)).body.session_id).toBe(first.body.session_id);
    await age(24.1);
    const second = await post(sessions, request);
    expect(second.body.session_id).not.toBe(first.body.session_id);
  });

  test.each(['', 'with space', 'x'.repeat(256), 'ümlaut'])('refuses the key %j with 422', async (bad) => {
    const answer = await post(sessions, request, { 'idempotency-key': bad });
    expect([answer.status, answer.body.errors[0].pointer]).toEqual([422, '/idempotency-key']);
  });
});

describe('every other POST', () => {
  test('runs once; its answer is replayed, including a refusal', async () => {
    const id = await createSession(http);
    const first = await post(`${sessions}/${id}/pause`, {});
    await http.call('POST', `${sessions}/${id}/resume`);
    const again = await post(`${sessions}/${id}/pause`, {});
    expect([again.status, again.body, again.headers['idempotency-replayed']]).toEqual([200, first.body, 'true']);
    expect((await http.call('GET', `${sessions}/${id}`)).body.status).toBe('running');

    key += '-refused';
    await http.call('POST', `${sessions}/${id}/reward`, { reward: 1, rollout_id: 'r' });
    const refused = await post(`${sessions}/${id}/reward`, { reward: 2, rollout_id: 'r' });
    const refusedAgain = await post(`${sessions}/${id}/reward`, { reward: 2, rollout_id: 'r' });
    expect([refused.status, refusedAgain.status, refusedAgain.body]).toEqual([409, 409, refused.body]);
    expect(refusedAgain.headers['content-type']).toContain('application/problem+json');
  });

  test('answers 409 while the first is in progress; an abandoned one may be repeated after a minute', async () => {
    const id = await createSession(http);
    let release!: () => void;
    const held = new Promise<void>((resolve) => (release = resolve));
    const arrived = new Promise<void>((resolve) => {
      http.commander.onSend = async (job, kind, commandId) => {
        resolve();
        await held;
        await http.commander.decide(job, kind, commandId);
      };
    });
    const first = post(`${sessions}/${id}/pause`, {});
    await arrived;
    const second = await post(`${sessions}/${id}/pause`, {});
    expect([second.status, second.body.code]).toEqual([409, 'request_in_flight']);
    release();
    expect((await first).status).toBe(200);

    await http.db.org('default', (tx) =>
      tx.query(
        `update idempotency_keys set status = null, response = null, created_at = now() - interval '61 seconds' where key = $1`,
        [key],
      ),
    );
    const retried = await post(`${sessions}/${id}/pause`, {});
    expect([retried.status, retried.headers['idempotency-replayed']]).toEqual([200, undefined]);
  });

  test('does not store "not now": the same key may retry', async () => {
    const id = await createSession(http);
    http.commander.onSend = () => Promise.reject(new TemporalUnavailableError('away'));
    expect((await post(`${sessions}/${id}/pause`, {})).status).toBe(503);
    http.commander.onSend = (job, kind, commandId) => http.commander.decide(job, kind, commandId);
    const again = await post(`${sessions}/${id}/pause`, {});
    expect([again.status, again.headers['idempotency-replayed']]).toEqual([200, undefined]);
  });

  test('stores nothing for an unknown path', async () => {
    expect((await post('/api/no/such/path', {})).status).toBe(404);
    const rows = await http.db.org('default', (tx) => tx.query('select 1 from idempotency_keys where key = $1', [key]));
    expect(rows).toEqual([]);
  });

  test('other methods ignore the header', async () => {
    const id = await createSession(http);
    const headers = { 'idempotency-key': key };
    await http.call('PATCH', `${sessions}/${id}`, { state: 'paused' }, headers);
    await http.call('PATCH', `${sessions}/${id}`, { state: 'running' }, headers);
    expect((await http.call('GET', `${sessions}/${id}`)).body.status).toBe('running');
  });
});
