import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { cutErrorText } from '../../../src/clients/net/untrusted.js';
import { heldMs, maxHeldMs } from '../../support/held.js';
import { here, junk, parts, withJunk } from '../../support/junk.js';
import { runs } from '../../support/runs.js';
import { startProxy, type TestProxy } from '../../models/routes/support.js';
import { evaluationRequest, graphRequest, httpOfFile, sessionRequest } from './support.js';

// Invariant: no accepted body and no answer of a model, within the limits, holds the event loop.

const mebibyte = 1024 * 1024;
const http = httpOfFile();
let url: string;
let proxy: TestProxy;
beforeAll(async () => {
  url = await http.listen();
  proxy = await startProxy();
});
afterAll(() => proxy.close());

const session = (more: object) => ({ policy_optimization: { ...sessionRequest, ...more } });
const { dataset } = graphRequest;
const deployment = (messages: unknown) => ({ name: 'a', source: { messages, policy: sessionRequest.policy } });
const system = (content: unknown) => [{ role: 'system', content }];
const user = (content: unknown) => ({ messages: [{ role: 'user', content }] });

/** The bodies of each route that creates something, with a place for junk. */
const creates: [path: string, bytes: number, bodies: unknown[]][] = [
  [
    '/api/v1/online/sessions',
    mebibyte,
    [
      here,
      session({ env_config: here }),
      session({ initial_prompt: { messages: system(here) } }),
      session({ policy: { ...sessionRequest.policy, stop: here } }),
      session({ unknown: here }),
      session({ gepa: { ...sessionRequest.gepa, evaluation: { seeds: here } } }),
      { ...session({}), metadata: here },
    ],
  ],
  [
    '/api/v1/offline/jobs',
    mebibyte,
    [here, { ...evaluationRequest, seeds: here }, { ...evaluationRequest, env_config: here }],
  ],
  [
    '/api/graphgen/jobs',
    2 * mebibyte,
    [
      here,
      { ...graphRequest, initial_graph: here },
      ...[
        { tasks: here },
        { gold_outputs: here },
        { metadata: here },
        { tasks: [{ id: 'a', input: { question: here } }] },
      ].map((part) => ({ ...graphRequest, dataset: { ...dataset, ...part } })),
    ],
  ],
  ['/api/harbor/deployments', mebibyte, [here, deployment(here), deployment(system(here))]],
  ['/api/v1/datasets', mebibyte, [[here], [{ a: here }], here]],
  ['/api/v1/admin/keys', mebibyte, [here, { name: here, scopes: ['read'] }, { name: 'a', scopes: here }]],
  ['/api/v1/admin/orgs', mebibyte, [{ name: here }]],
];
const cases = creates.flatMap(([path, bytes, bodies]) => bodies.map((body) => ({ path, bytes, body })));

test('no body of a create holds the event loop', async () => {
  const headers = { authorization: `Bearer ${http.key}`, 'content-type': 'application/json', 'idempotency-key': '' };
  let sent = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...cases),
      fc.constantFrom(...Object.keys(junk)),
      fc.constantFrom(...parts),
      async ({ path, bytes, body }, kind, part) => {
        const text = Buffer.from(withJunk(body, kind, part * bytes));
        const ask = async () => {
          sent += 1;
          const answer = await fetch(url + path, {
            method: 'POST',
            headers: { ...headers, 'idempotency-key': `k${sent}` },
            body: text,
          });
          expect(answer.status).toBeLessThan(500);
          await answer.text();
        };
        expect(await heldMs(ask)).toBeLessThan(maxHeldMs);
      },
    ),
    { numRuns: runs(25, 200) },
  );
}, 300_000);

const chats = [here, { messages: here }, user(here), { ...user('a'), tools: here }, { ...user('a'), stop: here }];

test('no body of a model call holds the event loop', async () => {
  proxy.model.reply(() => ({ text: 'Yes' }));
  const job = await proxy.newSession();
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...chats),
      fc.constantFrom(...Object.keys(junk)),
      fc.constantFrom(...parts),
      async (chat, kind, part) => {
        const body = Buffer.from(withJunk(chat, kind, part * 10 * mebibyte));
        const ask = async () => {
          const answer = await proxy.post(job, '/a', body);
          const said = await answer.text();
          expect(answer.status < 500 ? '' : cutErrorText(said, 512)).toBe('');
        };
        expect(await heldMs(ask)).toBeLessThan(maxHeldMs);
      },
    ),
    { numRuns: runs(10, 60) },
  );
}, 300_000);

const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
const choice = { index: 0, message: { role: 'assistant', content: 'Yes' }, finish_reason: 'stop' };
const completions = [
  here,
  { error: { message: here } },
  { choices: here },
  { choices: [choice], usage, extra: here },
  { choices: [{ ...choice, message: { ...choice.message, content: here } }], usage },
  { choices: [choice], usage: here },
];

test('no whole answer of a model holds the event loop, read, recorded and passed on', async () => {
  const job = await proxy.newSession();
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...completions),
      fc.constantFrom(...Object.keys(junk)),
      fc.constantFrom(...parts),
      fc.constantFrom(200, 400, 500),
      async (completion, kind, part, status) => {
        const raw = withJunk(completion, kind, part * 8 * mebibyte);
        proxy.model.reply(() => ({ raw, status }));
        const ask = async () => {
          const answer = await proxy.post(job, '/a');
          expect([200, 400, 500, 502]).toContain(answer.status);
          await answer.text();
        };
        expect(await heldMs(ask)).toBeLessThan(maxHeldMs);
      },
    ),
    { numRuns: runs(10, 60) },
  );
}, 300_000);
