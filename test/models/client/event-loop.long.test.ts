import { afterAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { createProviders } from '../../../src/models/client/providers.js';
import { openAnswer } from '../../../src/models/client/answers/read-answer.js';
import { readStream } from '../../../src/models/client/answers/streamed-text.js';
import { heldMs, maxHeldMs } from '../../support/held.js';
import { runs } from '../../support/runs.js';

const { signal } = new AbortController();
const providers = createProviders({});
afterAll(() => providers.close());

const forms: Record<string, (text: string) => string> = {
  task: (text) => `Message: ${text}\n\nLabels: k1, k2`,
  labels: (text) => `Message: x\n\nLabels: ${text}`,
  passage: (text) => `The a of b is c. The c of d is e. ${text}`,
  plain: (text) => text,
};
const pieces = ['a', 'x ', 'k1, ', '"', '```\n', '{{`"', '{"a":[', '<text>', '> ', 'The a of b is c. '];
const localBody = fc.record({
  form: fc.constantFrom(...Object.keys(forms)),
  piece: fc.constantFrom(...pieces),
  length: fc.constantFrom(10, 10_000, 600_000),
  stream: fc.boolean(),
});

test('no request of the provider "local" holds the event loop', async () => {
  await providers.send('local', { messages: [{ role: 'user', content: 'the thread starts' }] }, signal);
  await fc.assert(
    fc.asyncProperty(localBody, async ({ form, piece, length, stream }) => {
      const content = forms[form]!(piece.repeat(Math.ceil(length / piece.length)));
      const ask = async () => {
        const answer = await providers.send('local', { stream, messages: [{ role: 'user', content }] }, signal);
        if (stream && answer.status === 200) await readStream(answer.stream(), () => undefined);
        else await answer.read();
      };
      expect(await heldMs(ask)).toBeLessThan(maxHeldMs);
    }),
    { numRuns: runs(10, 150) },
  );
});

const deltas: Record<string, (at: number) => string> = {
  text: () => '{"content":"x"}',
  'tool calls': (at) => `{"tool_calls":[{"index":${at},"function":{"arguments":"{"}}]}`,
  'tool calls at once': (at) =>
    `{"tool_calls":[${Array.from({ length: 500 }, (_, n) => `{"index":${at + n}}`).join(',')}]}`,
  'wide objects': (at) => `{${Array.from({ length: 200 }, (_, n) => `"x${at}_${n}":1`).join(',')}}`,
  nesting: () => `{"x":${'['.repeat(5_000)}${']'.repeat(5_000)}}`,
};
const stream = fc.record({
  kinds: fc.array(fc.constantFrom(...Object.keys(deltas)), { minLength: 1, maxLength: 3 }),
  total: fc.constantFrom(1_000, 2_000_000),
  read: fc.constantFrom(100, 65_536),
});

test("no model's stream holds the event loop", async () => {
  await fc.assert(
    fc.asyncProperty(stream, async ({ kinds, total, read }) => {
      let text = '';
      for (let at = 0; text.length < total; at += 1) {
        const delta = deltas[kinds[at % kinds.length]!]!(at);
        text += `data: {"choices":[{"index":0,"delta":${delta},"finish_reason":"stop"}]}\n\n`;
      }
      const bytes = Buffer.from(`${text}data: [DONE]\n\n`);
      // As from a socket: each read is a turn of the event loop.
      const reads = async function* () {
        for (let at = 0; at < bytes.length; at += read) {
          yield bytes.subarray(at, at + read);
          await nextTurn();
        }
      };
      expect(await heldMs(() => readStream(reads(), () => undefined))).toBeLessThan(maxHeldMs);
    }),
    { numRuns: runs(10, 150) },
  );
}, 300_000);

const long = 1_000_000;
const error = (message: string) => JSON.stringify({ error: { message } });
const wholes: [name: string, status: number, body: string][] = [
  ['lines', 200, `{}${'\n'.repeat(long)}x`],
  ['lines with braces', 200, `{${'}'.repeat(long)}\nx`],
  ['a list', 200, `[${' '.repeat(long)}x`],
  ['a wait', 429, error(`try again in 1${'s'.repeat(long)}.`)],
  ['digits', 429, error(`try again in ${'1'.repeat(long)}`)],
  ['escapes', 400, error('\\'.repeat(long))],
];

test.each(wholes)('no whole answer holds the event loop: %s', async (_name, status, body) => {
  const answer = {
    status,
    contentType: 'application/json',
    retryAfter: null,
    read: () => Promise.resolve(Buffer.from(body)),
    stream: () => Readable.from([]),
  };
  const open = () => openAnswer(answer, true).catch(() => undefined);
  expect(await heldMs(open)).toBeLessThan(maxHeldMs);
});
