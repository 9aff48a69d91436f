import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { answers, startFakeContainer } from '../../support/fakes/container.js';
import { startReceiver, type Receiver } from '../../support/fakes/receiver.js';
import { createEvaluation, createSession, ended, pathOf, type Evaluation } from '../../support/jobs-over-http.js';
import { serviceOfFile } from '../../support/service-of-file.js';
import { until } from '../../support/until.js';
import { startRowsWorld } from '../../support/worlds/rows.js';

// After DELETE no table has a row with the job's id, and the rows of other jobs are unchanged.

const on = serviceOfFile(async () => {
  const rows = await startRowsWorld();
  rows.reset();
  const container = await startFakeContainer({ behave: () => answers.reward(1) });
  return {
    rows,
    container,
    env: rows.env,
    close: async () => {
      await rows.close();
      await container.close();
    },
  };
});
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver.close());

/** Rows that contain a text, by table, without the audit log: its entries outlive their jobs. */
async function rowsWith(text: string): Promise<[table: string, row: string][]> {
  const tables = await on.service.query<{ name: string }>(
    `select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE' and table_name <> 'audit_log'`,
  );
  const found: [string, string][] = [];
  for (const { name } of tables) {
    const sql = `select x::text as row from "${name}" x where x::text like $1`;
    const rows = await on.service.query<{ row: string }>(sql, [`%${text}%`]);
    found.push(...rows.map(({ row }): [string, string] => [name, row]));
  }
  return found.sort();
}
const tablesWith = async (text: string) => new Set((await rowsWith(text)).map(([table]) => table));

async function remove(id: string): Promise<number> {
  const { url, apiKey } = on.service;
  const headers = { authorization: `Bearer ${apiKey}` };
  return (await fetch(`${url}${pathOf(id)}`, { method: 'DELETE', headers })).status;
}

const gepa = { population_size: 2, generations: 2, minibatch_size: 3 };
const policy = { model: 'local', provider: 'local' };

test('a session and an evaluation with its webhook', async () => {
  const session = { ...on.world.rows.job(24), gepa, budget: { max_rollouts: 60 } };
  const [id, other] = [await createSession(on.service, session), await createSession(on.service, session)];
  receiver.answer(...Array.from({ length: 9 }, () => 500));
  const scored = { container_url: on.world.container.url, seeds: [0, 1], policy, webhook_url: receiver.url };
  const evaluation = await createEvaluation(on.service, scored);
  for (const job of [id, other, evaluation]) expect((await ended(on.service, job)).status).toBe('completed');
  await until('an attempt is made', () => Promise.resolve(receiver.requests.length > 0));
  expect(await tablesWith(id)).toEqual(
    new Set([
      'candidates',
      'events',
      'idempotency_keys',
      'job_controls',
      'job_usage',
      'jobs',
      'model_calls',
      'rollouts',
      'search_states',
      'sensor_frames',
    ]),
  );
  expect([...(await tablesWith(evaluation))]).toEqual(expect.arrayContaining(['rollouts', 'webhooks']));

  const before = await rowsWith(other);
  expect([await remove(id), await remove(evaluation)]).toEqual([204, 204]);
  expect([await rowsWith(id), await rowsWith(evaluation)]).toEqual([[], []]);
  expect(await rowsWith(other)).toEqual(before);
  expect((await ended<Evaluation>(on.service, other)).status).toBe('completed');
  expect(await remove(id)).toBe(404);
});
