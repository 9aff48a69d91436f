import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Writable } from 'node:stream';
import { pino } from 'pino';
import type { TracedCall } from '../../src/models/client/traced-call.js';
import { hideKeys } from '../../src/clients/net/untrusted.js';
import { startTracing } from '../../src/tracing/otel.js';
import { jobSpan, rolloutSpan, traceparentOf } from '../../src/tracing/spans.js';
import type { Tracing } from '../../src/tracing/tracing.js';
import { startFakeCollector, type FakeCollector } from '../support/fakes/collector.js';
import { until } from '../support/until.js';

const caller = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331' };
const traceparent = (flags: string) => `00-${caller.traceId}-${caller.spanId}-${flags}`;
const call: TracedCall = {
  provider: 'google',
  purpose: 'policy',
  startedAt: Date.now() - 50,
  error: null,
  request: {
    model: 'gemini',
    temperature: 0.5,
    max_tokens: 99,
    messages: [
      { role: 'system', content: 'The secret question.' },
      { role: 'user', content: [{ type: 'text', text: 'My key is sk-canary-1234.' }] },
    ],
  },
  answer: { id: 'chatcmpl-1', model: 'gemini-2', finishReason: 'stop', text: 'The secret answer.' },
  cost: { promptTokens: 12, completionTokens: 3, costUsd: 0.25, costSource: 'table' },
};

let collector: FakeCollector;
const running: Tracing[] = [];
const logged: Record<string, unknown>[] = [];
const before = { ...process.env };
const log = pino(
  new Writable({
    write: (line: Buffer, _, done) => (logged.push(JSON.parse(line.toString()) as Record<string, unknown>), done()),
  }),
);

beforeEach(async () => {
  collector = await startFakeCollector();
  process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = collector.url;
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((tracing) => tracing.stop()));
  await collector.close();
  process.env = { ...before };
  logged.length = 0;
});

function start({ captureContent = false, env = {} }: { captureContent?: boolean; env?: Record<string, string> } = {}) {
  Object.assign(process.env, env);
  const addressOf = (provider: string) => (provider === 'google' ? { host: 'models.test', port: 443 } : null);
  const tracing = startTracing({ captureContent, hide: hideKeys, addressOf, version: '1.2.3', log });
  running.push(tracing);
  return tracing;
}

describe('a new job', () => {
  test('begins a trace, or continues that of its caller', () => {
    const tracing = start();
    const own = tracing.begin(null);
    expect(own).toEqual({ traceId: expect.stringMatching(/^[0-9a-f]{32}$/), parentId: null, sampled: true });
    expect(tracing.begin(null).traceId).not.toBe(own.traceId);
    expect(tracing.begin(traceparent('01'))).toEqual({
      traceId: caller.traceId,
      parentId: caller.spanId,
      sampled: true,
    });
  });

  test.each(['', 'nonsense', `00-${'0'.repeat(32)}-${caller.spanId}-01`, `ff-${caller.traceId}-${caller.spanId}-01`])(
    'ignores the header %j',
    (header) => {
      expect(start().begin(header)).toMatchObject({ parentId: null, sampled: true });
    },
  );

  test('takes the decision of its caller, or that of OTEL_TRACES_SAMPLER', () => {
    expect(start().begin(traceparent('00'))).toMatchObject({ traceId: caller.traceId, sampled: false });
    expect(start({ env: { OTEL_TRACES_SAMPLER: 'always_off' } }).begin(null).sampled).toBe(false);
    const env = { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.5' };
    const decisions = Array.from({ length: 64 }, () => start({ env }).begin(null).sampled);
    expect(new Set(decisions).size).toBe(2);
  });
});

describe('a model call', () => {
  const parent = { ...caller, traceFlags: 1 };

  test('has the attributes of the GenAI conventions, and no content', async () => {
    const tracing = start({ env: { OTEL_SERVICE_NAME: 'prompts', OTEL_RESOURCE_ATTRIBUTES: 'team=search' } });
    tracing.callsOf(parent)!(call);
    await tracing.stop();
    const [span] = collector.spans;
    expect(span).toMatchObject({
      traceId: caller.traceId,
      parentId: caller.spanId,
      name: 'chat gemini',
      kind: 3,
      status: 0,
    });
    expect(span!.startMs).toBe(call.startedAt);
    expect(span!.attributes).toEqual({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'gcp.gemini',
      'gen_ai.request.model': 'gemini',
      'gen_ai.request.temperature': 0.5,
      'gen_ai.request.max_tokens': 99,
      'gen_ai.response.model': 'gemini-2',
      'gen_ai.response.id': 'chatcmpl-1',
      'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.usage.input_tokens': 12,
      'gen_ai.usage.output_tokens': 3,
      'server.address': 'models.test',
      'server.port': 443,
      'ratchet.purpose': 'policy',
      'ratchet.cost_usd': 0.25,
    });
    expect(span!.resource).toMatchObject({ 'service.name': 'prompts', 'service.version': '1.2.3', team: 'search' });
    expect(collector.bodies.join()).not.toContain('secret');
  });

  test('has its content with the switch, without keys', async () => {
    const tracing = start({ captureContent: true });
    tracing.callsOf(parent)!(call);
    await tracing.stop();
    const { attributes } = collector.spans[0]!;
    expect(JSON.parse(attributes['gen_ai.input.messages'] as string)).toMatchObject([
      { role: 'system', parts: [{ type: 'text', content: 'The secret question.' }] },
      { role: 'user', parts: [{ type: 'text', content: expect.stringContaining('My key is') }] },
    ]);
    expect(JSON.parse(attributes['gen_ai.output.messages'] as string)).toEqual([
      { role: 'assistant', parts: [{ type: 'text', content: 'The secret answer.' }], finish_reason: 'stop' },
    ]);
    expect(collector.bodies.join()).not.toContain('canary');
  });

  test('has an error type where it failed', async () => {
    const tracing = start();
    tracing.callsOf(parent)!({ ...call, error: '429', answer: null });
    await tracing.stop();
    expect(collector.spans[0]).toMatchObject({ status: 2, attributes: { 'error.type': '429' } });
  });

  test('of a job that is not sampled has no span, whatever the sampler says now', async () => {
    const tracing = start({ env: { OTEL_TRACES_SAMPLER: 'always_on' } });
    expect(tracing.callsOf({ ...caller, traceFlags: 0 })).toBeNull();
    const of = { ...caller, traceFlags: 0 };
    const request = { method: 'POST', route: '/x', startedAt: Date.now(), traceparent: null, of, attributes: {} };
    const span = tracing.request(request);
    expect(span.calls).toBeNull();
    span.end(200);
    await tracing.stop();
    expect(collector.spans).toEqual([]);
  });
});

describe('a request', () => {
  const route = '/api/:id/chat/completions';
  const about = { method: 'POST', route, startedAt: Date.now() - 20, attributes: { 'ratchet.job.id': 'ses_1' } };
  const job = { traceId: 'a'.repeat(32), parentId: null, sampled: true };
  const rollout = rolloutSpan(job, 'rol_1');

  test('continues its caller, with the model calls below it', async () => {
    const tracing = start();
    const request = tracing.request({ ...about, traceparent: traceparent('01'), of: null });
    request.calls!(call);
    request.end(502);
    await tracing.stop();
    const [model, server] = collector.spans;
    expect(server).toMatchObject({
      traceId: caller.traceId,
      parentId: caller.spanId,
      name: `POST ${route}`,
      kind: 2,
      status: 2,
      attributes: { 'http.response.status_code': 502, 'error.type': '502', 'ratchet.job.id': 'ses_1' },
    });
    expect(model).toMatchObject({ traceId: caller.traceId, parentId: server!.spanId });
  });

  test.each<[string, string | null, string]>([
    ['no header', null, rollout.spanId],
    ['the header of another trace', traceparent('01'), rollout.spanId],
    ['the header of its rollout', traceparentOf(rollout), rollout.spanId],
    ['the header of a span below, not sampled there', `00-${job.traceId}-${caller.spanId}-00`, caller.spanId],
  ])('of a rollout belongs to its job: %s', async (_, header, parentId) => {
    const tracing = start();
    tracing.request({ ...about, traceparent: header, of: rollout }).end(200);
    await tracing.stop();
    expect(collector.spans).toMatchObject([{ traceId: job.traceId, parentId, status: 0 }]);
  });
});

describe('a collector', () => {
  const job = { traceId: 'b'.repeat(32), parentId: caller.spanId, sampled: true, jobId: 'ses_1', run: 1 };
  const ended = {
    name: 'session',
    context: jobSpan(job),
    parentId: job.parentId,
    startMs: 1_000,
    endMs: 2_500,
    error: 'timeout',
    attributes: { 'ratchet.job.id': 'ses_1' },
  };

  test('gets spans with the ids that the record gives them', async () => {
    await start().send([ended]);
    expect(collector.spans).toMatchObject([
      {
        traceId: job.traceId,
        spanId: jobSpan(job).spanId,
        parentId: caller.spanId,
        kind: 1,
        status: 2,
        startMs: 1_000,
        endMs: 2_500,
        attributes: { 'error.type': 'timeout', 'ratchet.job.id': 'ses_1' },
      },
    ]);
  });

  test('that refuses is logged once, and again after a success', async () => {
    const tracing = start();
    collector.answer(400);
    await expect(tracing.send([ended])).rejects.toThrow();
    await expect(tracing.send([ended])).rejects.toThrow();
    expect(logged).toHaveLength(1);
    collector.answer(200);
    await tracing.send([ended]);
    collector.answer(400);
    await expect(tracing.send([ended])).rejects.toThrow();
    expect(logged).toHaveLength(2);
  });

  test('that is away is logged once, and holds up nobody', async () => {
    await collector.close();
    const tracing = start({ env: { OTEL_EXPORTER_OTLP_TIMEOUT: '300', OTEL_BSP_SCHEDULE_DELAY: '20' } });
    tracing.callsOf({ ...caller, traceFlags: 1 })!(call);
    await until('the failure is logged', () => logged.length > 0);
    tracing.callsOf({ ...caller, traceFlags: 1 })!(call);
    await tracing.stop();
    expect(logged).toHaveLength(1);
  });
});
