import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { afterAll, afterEach, describe, expect, test } from '@jest/globals';
import type { ActivityDeps } from '../../../activities/deps.js';
import { runRow, type RowRollout, type RowsJob } from '../../../activities/datasets/rollout.js';
import { createScorerClient } from '../../../src/scorers/client/client.js';
import { scorerSchema, scorerSpec } from '../../../src/scorers/index.js';
import type { Tx } from '../../../src/platform/db/db.js';
import { answerId } from '../../../src/rollouts/store/answers.js';
import { listen, type Listening } from '../../support/loopback.js';

const rolloutId = 'rol_1_2';
const scorers = createScorerClient({ egress: { mode: 'dev', allowlist: [] }, javascriptOrgs: ['*'], retryBaseMs: 5 });
let server: Listening | undefined;
afterEach(() => server?.close());
afterAll(() => scorers.close());

/** Runs a row whose model has answered, within a second. */
function run(row: Record<string, unknown>, scorer: unknown, message: object = { content: 'Paris' }, finish = 'stop') {
  const response = { choices: [{ message, finish_reason: finish }] };
  const answered = [{ id: answerId({ rolloutId, key: '@answer', tries: 0 }), response }];
  const query = async (_sql: string, _values: unknown, name: string) =>
    name === 'read_dataset_row' ? [{ data: row }] : answered;
  const db = { org: (_id: string, use: (tx: Tx) => unknown) => use({ query } as unknown as Tx) };
  const job: RowsJob = {
    rows: {
      datasetId: 'ds_1',
      numRows: 1,
      placeholders: { input: 'constructor' },
      columns: ['constructor', 'toString'],
      expected: 'toString',
      scorer: scorerSpec(scorerSchema.parse(scorer), 'openai'),
    },
    policy: { provider: 'openai', model: 'gpt-4o', params: { max_tokens: 9 } },
    budget: null,
    rolloutTimeoutS: 1,
    answerCache: null,
  };
  const prompt = { messages: [{ role: 'user', content: '{{input}}' }], demos: [], graph: null };
  return runRow({
    deps: { db, scorers } as unknown as ActivityDeps,
    job: { orgId: 'default', jobId: 'ses_1' },
    spec: job,
    claim: { rolloutId, attempt: 1, ordinal: 0, seed: 0, candidateId: null },
    prompt: prompt as RowRollout['prompt'],
    control: { signal: new AbortController().signal, concurrency: { lower: () => {} } as never },
    trace: null,
  });
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

describe('an answer without a text', () => {
  const empty = (reward: number) => ({ type: 'javascript', code: `() => ({ reward: ${reward}, feedback: 'Wrong.' })` });

  test.each<[string, object, string, string, RegExp]>([
    ['cut', { content: '' }, 'length', 'length', /limit of 9 tokens/],
    ['cut, in another name', { content: null }, 'MAX_TOKENS', 'length', /limit of 9 tokens/],
    ['cut while it reasons', { content: '', reasoning_content: 'Hm' }, 'length', 'length', /thoughts.*9 tokens/],
    ['thoughts of its own', { content: '<think>Hm' }, 'length', 'length', /thoughts.*9 tokens/],
    ['filtered', { content: '' }, 'content_filter', 'content_filter', /content filter/],
    ['refused', { content: null, refusal: 'I cannot.' }, 'stop', 'refusal', /refused: I cannot\.$/],
    ['thoughts only', { content: '<think>Hm</think>' }, 'stop', 'thoughts', /thoughts only/],
    ['nothing', { content: ' \n' }, 'stop', 'nothing', /empty answer.*"stop"/],
    ['a call of a tool', { content: null, tool_calls: [{}] }, 'tool_calls', 'nothing', /"tool_calls"/],
  ])('%s: has its reason in front of the feedback', async (_, message, finish, reason, words) => {
    const outcome = await run({}, empty(0), message, finish);
    expect(outcome).toMatchObject({ kind: 'reward', reward: 0, empty: reason });
    const [first, second] = (outcome as { feedback: string }).feedback.split('\n');
    expect(first).toMatch(words);
    expect(second).toBe('Wrong.');
  });

  test('that is right is not counted', async () => {
    expect(await run({}, empty(1), { content: '' }, 'stop')).not.toHaveProperty('empty');
  });

  test('is told from a text that was cut', async () => {
    const outcome = await run({}, empty(0), { content: 'Par' }, 'length');
    expect(outcome).not.toHaveProperty('empty');
    expect(outcome).toMatchObject({ feedback: expect.stringMatching(/cut off at the limit of 9 tokens.*\nWrong\./) });
  });
});
