import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { afterAll, afterEach, expect, test } from '@jest/globals';
import type { ActivityDeps } from '../../../activities/deps.js';
import { runRow, type RowsJob } from '../../../activities/datasets/rollout.js';
import { createScorerClient } from '../../../src/clients/scorers/client.js';
import { scorerSchema, scorerSpec } from '../../../src/contracts/scoring/scorer.js';
import type { Tx } from '../../../src/storage/db/db.js';
import { answerId } from '../../../src/storage/rollouts/answers.js';
import { listen, type Listening } from '../../support/loopback.js';

const rolloutId = 'rol_1_2';
const scorers = createScorerClient({ egress: { mode: 'dev', allowlist: [] }, javascriptOrgs: ['*'], retryBaseMs: 5 });
let server: Listening | undefined;
afterEach(() => server?.close());
afterAll(() => scorers.close());

/** Runs a row whose model has answered "Paris", within a second. */
function run(row: Record<string, unknown>, scorer: unknown) {
  const response = { choices: [{ message: { content: 'Paris' }, finish_reason: 'stop' }] };
  const answered = [{ id: answerId({ rolloutId, key: '@answer', tries: 0 }), response }];
  const query = async (_sql: string, _values: unknown, name: string) =>
    name === 'read_dataset_row' ? [{ data: row }] : answered;
  const db = { org: (_id: string, use: (tx: Tx) => unknown) => use({ query } as unknown as Tx) };
  const job: RowsJob = {
    rows: {
      ...{
        datasetId: 'ds_1',
        numRows: 1,
        placeholders: { input: 'constructor' },
        columns: ['constructor', 'toString'],
        expected: 'toString',
      },
      scorer: scorerSpec(scorerSchema.parse(scorer), 'openai'),
    },
    policy: { provider: 'openai', model: 'gpt-4o', params: {} },
    ...{ budget: null, rolloutTimeoutS: 1, answerCache: null },
  };
  const prompt = { messages: [{ role: 'user', content: '{{input}}' }], demos: [], graph: null };
  return runRow(
    { db, scorers } as unknown as ActivityDeps,
    { orgId: 'default', jobId: 'ses_1' },
    job,
    { rolloutId, attempt: 1, ordinal: 0, seed: 0, candidateId: null },
    prompt as Parameters<typeof runRow>[4],
    { signal: new AbortController().signal, concurrency: { lower: () => {} } as never, trace: null },
  );
}

test('a row without its columns inherits no value', async () => {
  const code = '(output, row, expected) => (expected === null ? 1 : 0)';
  expect(await run({ question: 'Capital of France?' }, { type: 'javascript', code })).toMatchObject({
    kind: 'reward',
    reward: 1,
    details: { output: 'Paris' },
  });
});

test('scorers of the caller get the whole row, the expected value included', async () => {
  const code =
    '(output, row, expected) => ({ reward: row.toString === expected ? 1 : 0, feedback: JSON.stringify(row) })';
  const row = { question: 'Capital of France?', toString: 'Paris' };
  expect(await run(row, { type: 'javascript', code })).toMatchObject({ reward: 1, feedback: JSON.stringify(row) });
  let sent: unknown;
  server = await listen(
    createServer(
      (request, response) =>
        void json(request).then((body) => {
          sent = body;
          response.end('{"reward": 0.5}');
        }),
    ),
  );
  await run(row, { type: 'http', url: server.url });
  expect(sent).toEqual({ output: 'Paris', row, expected: 'Paris' });
});

test('the time of a scorer is not that of the model', async () => {
  server = await listen(
    createServer((_request, response) => void setTimeout(() => response.end('{"reward": 0.5}'), 1_200)),
  );
  const scorer = { type: 'http', url: server.url, timeout: 5 };
  expect(await run({}, scorer)).toMatchObject({ kind: 'reward', reward: 0.5 });
});
