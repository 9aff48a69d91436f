import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { createServer } from 'node:http';
import { openCostBudget } from '../../../src/jobs/store/cost-budget.js';
import { ask } from '../../support/deployments-over-http.js';
import { unlimited } from '../../support/job.js';
import { listen, type Listening } from '../../support/loopback.js';
import { deploymentsOfFile } from '../../kinds/deployment/routes/support.js';
import { lateProviders } from './late-providers.js';
import { proxyOfFile } from './support.js';

// Invariant: a model call parses its request once and serializes it once, for provider and record.

/** Answers without reading the request, so that all parsing here is that of the service. */
let model: Listening;
let answer: { type: string; body: string };
beforeAll(async () => {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': answer.type }).end(answer.body);
  });
  model = await listen(server);
});
afterAll(async () => {
  await providers.close();
  await model.close();
});

const providers = lateProviders(() => [{ OPENAI_BASE_URL: `${model.url}/v1`, OPENAI_API_KEY: 'key' }]);
const proxy = proxyOfFile({ providers });
const deployments = deploymentsOfFile({ providers });
beforeAll(() => deployments.deploy('parsed'));

// Postgres stores neither as it is, and JSON escapes both.
const [asked, answered] = ['the question \u0001', 'the answer \\ud83d\\ude00'];
const bodyOf = (stream: boolean) => JSON.stringify({ stream, messages: [{ role: 'user', content: asked }] });
const choice = `"index":0,"finish_reason":"stop"`;
const whole = `{"id":"a","choices":[{${choice},"message":{"role":"assistant","content":"${answered}"}}]}`;
const streamed = `data: {"id":"a","choices":[{${choice},"delta":{"content":"${answered}"}}]}\n\ndata: [DONE]\n\n`;

/** How often `work` parses and serializes JSON with the question, and with the answer. */
async function countsOf(work: () => Promise<Response>) {
  const parse = jest.spyOn(JSON, 'parse');
  const stringify = jest.spyOn(JSON, 'stringify');
  try {
    const response = await work();
    expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('the answer')]);
    const texts = {
      parsed: parse.mock.calls.map(([text]) => text),
      // Strings alone are those of the canonical form that the request's hash needs.
      serialized: stringify.mock.calls.flatMap(([value], at) =>
        typeof value === 'object' ? String(stringify.mock.results[at]!.value) : [],
      ),
    };
    const having = (all: string[], part: string) => all.filter((text) => text.includes(part)).length;
    return {
      request: [having(texts.parsed, 'the question'), having(texts.serialized, 'the question')],
      answer: [having(texts.parsed, 'the answer'), having(texts.serialized, 'the answer')],
    };
  } finally {
    parse.mockRestore();
    stringify.mockRestore();
  }
}

const calls: Record<string, (body: string) => Promise<() => Promise<Response>>> = {
  'a proxied call': async (body) => {
    const job = await proxy.newSession();
    return () => proxy.post(job, '/a', Buffer.from(body));
  },
  'a proxied call with a cost budget': async (body) => {
    const job = await proxy.newSession({ spec: { budget: { ...unlimited, maxCostUsd: 1 } } });
    await proxy.http.db.org(job.orgId, (tx) => openCostBudget(tx, job, 1));
    const rollout = await proxy.newRollout(job, 0, 0);
    return () => proxy.post(job, `/${rollout}`, Buffer.from(body));
  },
  'a call of a deployment': (body) =>
    Promise.resolve(() => ask({ url: deployments.url, apiKey: deployments.http.key }, 'parsed', body)),
};

test.each(Object.keys(calls))('%s, whole', async (name) => {
  answer = { type: 'application/json', body: whole };
  const call = await calls[name]!(bodyOf(false));
  const isRecorded = name !== 'a call of a deployment';
  // A pair of surrogates is escaped in the answer, so that its record is written anew.
  expect(await countsOf(call)).toEqual({ request: [1, 1], answer: [1, isRecorded ? 1 : 0] });
});

test.each(Object.keys(calls))('%s, streamed', async (name) => {
  answer = { type: 'text/event-stream', body: streamed };
  const call = await calls[name]!(bodyOf(true));
  const isRecorded = name !== 'a call of a deployment';
  // Once to give it OpenAI's form, once to fold what is delivered.
  expect(await countsOf(call)).toEqual({ request: [1, 1], answer: [2, isRecorded ? 1 : 0] });
});
