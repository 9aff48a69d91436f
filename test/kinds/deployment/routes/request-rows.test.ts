import { expect, test } from '@jest/globals';
import { datasetLines } from '../../../../src/kinds/deployment/routes/request-rows.js';
import type { StoredRequest } from '../../../../src/kinds/deployment/store/logged-requests.js';
import { ApiError } from '../../../../src/platform/http/server/errors.js';

const requestOf = (text: string, at: number): StoredRequest => ({
  deploymentId: 'dep_1',
  answerId: `chatcmpl-${at}`,
  at: new Date(0),
  outcome: 'ok',
  code: null,
  provider: 'local',
  model: 'local',
  latencyMs: 1,
  promptTokens: null,
  completionTokens: null,
  costUsd: null,
  correlationId: null,
  request: JSON.stringify({ messages: [{ role: 'user', content: text }] }),
  answer: null,
  reward: null,
  corrected: null,
  isRight: false,
  reports: 0,
  reviews: [],
});

async function* requests(...texts: string[]) {
  yield* texts.map(requestOf);
}

async function read(texts: string[], more: { limit?: number; maxBytes?: number } = {}) {
  const count = { rows: 0, bytes: 0, leftOut: 0 };
  const lines: Buffer[] = [];
  const options = { expected: 'corrected' as const, limit: 100, count, ...more };
  for await (const line of datasetLines(requests(...texts), options)) lines.push(line);
  return { text: Buffer.concat(lines).toString(), count };
}

test('the rows that fit into a data set are told where more are asked for', async () => {
  const { count } = await read(['a', 'b', 'c']);
  const error: unknown = await read(['a', 'b', 'c'], { maxBytes: count.bytes - 1 }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({
    status: 422,
    errors: [{ pointer: '/limit', message: expect.stringContaining('2 rows') }],
  });
  expect((await read(['a', 'b', 'c'], { maxBytes: count.bytes - 1, limit: 2 })).count.rows).toBe(2);
});

test('a request that is too long for a row is left out', async () => {
  const { count, text } = await read(['a', 'x'.repeat(1_000_000)]);
  expect(count).toMatchObject({ rows: 1, leftOut: 1 });
  expect(JSON.parse(text)).toEqual({ input: 'a', answer_id: 'chatcmpl-0' });
});
