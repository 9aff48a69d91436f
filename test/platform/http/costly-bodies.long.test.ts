import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Readable } from 'node:stream';
import { javascriptProblem } from '../../../src/scorers/client/javascript.js';
import { readRows, type Format } from '../../../src/datasets/routes/rows.js';
import { listed } from '../../../src/platform/http/server/errors.js';
import { heldMs, maxHeldMs } from '../../support/held.js';
import { runs } from '../../support/runs.js';
import { evaluationRequest, graphRequest, httpOfFile, sessionRequest } from './support.js';

// Invariant: no body holds the event loop by what it makes the service compile, compare or read,
// accepted or refused. Those that are costly by their size are in event-loop.long.test.ts.

const http = httpOfFile({ checkJavascript: javascriptProblem });
const mebibyte = 1024 * 1024;

/** Patterns that cost the most to compile, each text another one. */
const patterns: ((n: number) => string)[] = [
  (n) => `${'x{0,1000}'.repeat(100)}${n}`,
  (n) => `x{0,495}${n}`,
  (n) => `${'(?:a?){20}'.repeat(20)}${n}`,
  (n) => `${'\\pL'.repeat(320)}${n}`,
  (n) => `(?i)${'\\pL'.repeat(29)}${n}`,
  (n) => `(?i)[${'\\PL'.repeat(300)}]${n}`,
  (n) => `(?i)${'[B-\\x{1E942}]'.repeat(70)}${n}`,
  (n) => `(?i)[B-\\x{1E942}][C-\\x{1E942}]${n}`,
  (n) => `${'(?i)[\\x{0}-\\x{7cf}]'.repeat(45)}${n}`,
  (n) => `${'('.repeat(450)}${n}${')'.repeat(450)}`,
  (n) => `(${Array.from({ length: 180 }, (_, at) => `b${at}`).join('|')})${n}`,
];
const pattern = fc.constantFrom(...patterns);
const many = (count: number, make: (n: number) => string, from: number) =>
  Array.from({ length: count }, (_, n) => make(from * 1_000 + n));

type Scorer = (from: number) => unknown;
const schemas = fc.constantFrom<(texts: string[]) => object>(
  (texts) => ({ patternProperties: Object.fromEntries(texts.map((text) => [text, true])) }),
  (texts) => ({ properties: Object.fromEntries(texts.map((text, n) => [n, { pattern: text }])) }),
  (texts) => ({ allOf: texts.map((text) => ({ $async: true, pattern: text })) }),
  (texts) => ({ $defs: { a: { anyOf: texts.map((text) => ({ pattern: text })) } }, items: { $ref: '#/$defs/a' } }),
  (texts) => texts.reduce<object>((inner, text) => ({ not: inner, pattern: text }), {}),
);
/** Schemas without patterns that are costly to compile, each text another one. */
const deepSchemas = fc
  .constantFrom('items', 'contains', 'propertyNames', 'not', 'additionalProperties', 'oneOf', 'allOf', 'if')
  .map(
    (keyword) => (n: number, size: number) =>
      Array.from({ length: size }).reduce<object>(
        (inner) => ({ [keyword]: keyword.endsWith('Of') ? [inner] : inner }),
        { title: String(n) },
      ),
  );
const wideSchemas = fc
  .constantFrom<(items: object[]) => object>(
    (items) => ({ oneOf: items }),
    (items) => ({ anyOf: items }),
    (items) => ({ allOf: items }),
    (items) => ({ prefixItems: items }),
    (items) => ({ properties: { ...items } }),
    (items) => ({ $defs: { ...items }, items: { $ref: '#/$defs/1' }, contains: { $ref: '#/$defs/0' } }),
  )
  .map((schema) => (n: number, size: number) => {
    return schema(Array.from({ length: size }, (_, at) => ({ type: 'object', required: [`${n}_${at}`] })));
  });
const partScorers: fc.Arbitrary<Scorer> = fc.oneof(
  fc.constant<Scorer>(() => ({ type: 'regex' })),
  fc.constantFrom('', 'i', 'ims').map((flags): Scorer => () => ({ type: 'regex', flags })),
  pattern.map((make): Scorer => (from) => ({ type: 'regex', pattern: make(from) })),
  fc
    .tuple(schemas, pattern, fc.constantFrom(1, 20, 300))
    .map(([schema, make, count]): Scorer => (from) => ({ type: 'json', schema: schema(many(count, make, from)) })),
  fc
    .tuple(fc.oneof(deepSchemas, wideSchemas), fc.constantFrom(10, 30, 60, 240, 400))
    .map(([schema, size]): Scorer => (from) => ({ type: 'json', schema: schema(from, size) })),
  fc
    .constantFrom(' ', ';', '\n', '; ')
    .map((text): Scorer => () => ({ type: 'javascript', code: `() => 1${text.repeat(49_900 / text.length)}//` })),
  fc.constantFrom('similarity', 'contains', 'numeric', 'exact', 'json').map((type): Scorer => () => ({ type })),
);
/** At most some 2 MiB: to write a longer body would hold the test itself. */
const scorers = fc.oneof(
  partScorers,
  fc
    .tuple(fc.array(partScorers, { minLength: 1, maxLength: 20 }), fc.constantFrom(1, 10, 1_000))
    .map(([parts, times]): Scorer => (from) => {
      const chars = JSON.stringify(parts.map((part) => part(from))).length;
      const length = Math.min(1_000, parts.length * times, Math.ceil((2 * mebibyte * parts.length) / chars));
      const all = Array.from({ length }, (_, n) => parts[n % parts.length]!);
      return { type: 'weighted', parts: all.map((part, n) => ({ scorer: part(from * 1_000 + n) })) };
    }),
);

/** Expected values of rows. */
const values = fc.oneof(
  pattern,
  fc.constantFrom<(n: number) => unknown>(
    (n) => `${'word '.repeat(180)}${n}`,
    (n) => `${'\u0301'.repeat(900)}${n}`,
    (n) => `${'1,'.repeat(450)}${n}`,
    (n) => ({ [`a${n}`]: n }),
  ),
);

const { policy } = sessionRequest;
type Body = (dataset: object, scorer: unknown) => unknown;
const routes: [path: string, body: Body][] = [
  [
    '/api/v1/offline/jobs?dry_run=true',
    (dataset, scorer) => ({
      app_id: 'a',
      policy,
      dataset,
      scorer,
      candidate: { messages: [{ role: 'user', content: '{{input}}' }] },
    }),
  ],
  ['/api/v1/offline/jobs', (dataset, scorer) => ({ app_id: 'a', policy, dataset, scorer })],
  [
    '/api/v1/online/sessions?dry_run=true',
    (dataset, scorer) => ({ policy_optimization: { algorithm: 'gepa', policy, dataset, scorer } }),
  ],
  [
    '/api/v1/online/sessions',
    (dataset, scorer) => ({
      policy_optimization: {
        algorithm: 'gepa',
        policy,
        dataset,
        scorer,
        gepa: { population_size: 1, generations: 2 },
        initial_prompt: { messages: [{ role: 'user', content: '{{input}}' }] },
      },
    }),
  ],
  [
    '/api/harbor/deployments',
    (dataset, scorer) => ({
      name: 'a',
      source: { messages: [{ role: 'user', content: '{{input}}' }], policy },
      gate: { dataset, scorer, min_reward: 0.5 },
    }),
  ],
  ['/api/graphgen/jobs', (_dataset, scorer) => ({ ...graphRequest, dataset: { ...graphRequest.dataset, scorer } })],
  ['/api/v1/offline/jobs', (_dataset, scorer) => ({ ...evaluationRequest, scorer })],
];

test('no scorer and no expected value of a create holds the event loop', async () => {
  let tries = 0;
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...routes), scorers, values, async ([path, body], scorer, value) => {
      const send = async () => {
        tries += 1;
        const from = tries;
        const row = (n: number) => ({ input: 'a', expected: value(from * 1_000 + n) });
        const rows = Array.from({ length: 800 }, (_, n) => row(n));
        const text = JSON.stringify(body({ rows }, scorer(from)));
        const { status } = await http.call('POST', path, text, { 'idempotency-key': `costly-${from}` });
        expect(status).toBeLessThan(500);
      };
      expect(await heldMs(send)).toBeLessThan(maxHeldMs);
    }),
    { numRuns: runs(10, 300) },
  );
}, 600_000);

const lines = (count: number, line: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => line(n)).join('\n');
const files: [format: Format, text: () => string][] = [
  ['csv', () => `${Array.from({ length: 120_000 }, (_, n) => `c${n}`).join()}\n`],
  ['csv', () => `${'a,'.repeat(400_000)}b\n`],
  ['csv', () => `a,b\n${lines(60_000, (n) => `${n},"x${n}"`)}`],
  ['csv', () => `a,b\n${lines(60_000, () => '1')}`],
  ['csv', () => `a\n"${'""'.repeat(400_000)}"`],
  ['csv', () => `a\r${'b\r'.repeat(450_000)}`],
  ['csv', () => `a,b\n${lines(10, () => '1,'.repeat(49_000))}`],
  ['csv', () => `a\n${'\n'.repeat(900_000)}`],
  ['jsonl', () => `{"a":"${'x'.repeat(900_000)}"}`],
  ['jsonl', () => 'x'.repeat(900_000)],
  ['jsonl', () => lines(100_000, (n) => `{"a":${n}}`)],
  ['jsonl', () => lines(100_000, (n) => `{"a${n}":1}`)],
  ['jsonl', () => '\n'.repeat(900_000)],
  ['jsonl', () => `{"a":${'['.repeat(400_000)}`],
  ['json', () => `[${lines(50_000, (n) => `{"a":${n}}`).replaceAll('\n', ',')}]`],
  ['json', () => `[${'['.repeat(400_000)}`],
  ['json', () => `[${','.repeat(400_000)}`],
];
const types: Record<Format, string> = { csv: 'text/csv', json: 'application/json', jsonl: 'application/jsonl' };

test('no upload holds the event loop, whatever the chunks that it comes in', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...files),
      fc.constantFrom(1, 7, 1_000, 65_536, mebibyte),
      async ([format, text], size) => {
        const bytes = Buffer.from(text()).subarray(0, size < 1_000 ? 300_000 : mebibyte);
        const chunks = function* () {
          for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
        };
        const readAll = async () => {
          let faults = 0;
          for await (const row of readRows(format, Readable.from(chunks())))
            if ('fault' in row && (faults += 1) === listed) return;
        };
        expect(await heldMs(readAll)).toBeLessThan(maxHeldMs);
        if (size < 1_000) return;
        const send = async () => {
          const answer = await http.app.inject({
            method: 'POST',
            url: '/api/v1/datasets',
            payload: Readable.from(chunks()),
            headers: { authorization: `Bearer ${http.key}`, 'content-type': types[format] },
          });
          expect(answer.statusCode).toBeLessThan(500);
        };
        expect(await heldMs(send)).toBeLessThan(maxHeldMs);
      },
    ),
    { numRuns: runs(6, 60) },
  );
}, 600_000);
