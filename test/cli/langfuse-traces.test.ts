import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Trace } from '../../src/client/index.js';
import { langfuseBatches } from '../../src/cli/export/langfuse-traces.js';

const at = '2026-01-02T03:04:05.006Z';

function traceOf(n: number, contents: string[], reward: number | null = 1): Trace {
  const id = `rol_${n}`;
  return {
    trace_id: id,
    rollout_id: id,
    correlation_id: id,
    job_id: 'evl_1',
    rollout_idx: n,
    source: 'service',
    candidate_id: null,
    seed: n,
    stage: 'evaluation',
    generation: null,
    status: 'succeeded',
    reward,
    feedback: 'well',
    details: { a: 1 },
    error: null,
    error_code: null,
    resent: 0,
    latency_ms: 9,
    created_at: at,
    started_at: at,
    completed_at: at,
    usage: { prompt_tokens: 2, completion_tokens: 1, total_tokens: 3, total_cost_usd: 0.5 },
    calls: contents.map((content, index) => ({
      call_id: `call_${n}_${index}`,
      provider: 'openai',
      model: 'm',
      stream: false,
      http_status: index === 0 ? 200 : 429,
      request: { model: 'm', temperature: 0.5, messages: [{ role: 'user', content }] },
      response: index === 0 ? { choices: [{ message: { role: 'assistant', content: 'yes' } }] } : { error: 'no' },
      prompt_tokens: 2,
      completion_tokens: 1,
      cost_usd: 0.5,
      cost_source: 'table',
      latency_ms: 6,
      cached_from: null,
      created_at: at,
    })),
  };
}

async function exported(traces: Trace[]) {
  const omitted: string[] = [];
  const lines: string[] = [];
  const source = (async function* () {
    yield* traces;
  })();
  for await (const line of langfuseBatches(source, (id) => omitted.push(id))) lines.push(line);
  const events = lines.flatMap((line) => (JSON.parse(line) as { batch: Event[] }).batch);
  return { lines, events, omitted };
}
interface Event {
  id: string;
  type: string;
  body: Record<string, unknown>;
}

test('a rollout is a trace, its calls are generations, its reward is a score', async () => {
  const { lines, events } = await exported([traceOf(1, ['hello', 'again'], 0.25)]);
  expect(lines).toHaveLength(1);
  expect(events).toMatchObject([
    {
      type: 'trace-create',
      timestamp: at,
      body: {
        id: 'rol_1',
        sessionId: 'evl_1',
        timestamp: at,
        output: { role: 'assistant', content: 'yes' },
        metadata: { seed: 1, candidate_id: null, details: { a: 1 } },
      },
    },
    {
      type: 'generation-create',
      body: {
        id: 'call_1_0',
        traceId: 'rol_1',
        model: 'm',
        modelParameters: { temperature: 0.5 },
        level: 'DEFAULT',
        startTime: '2026-01-02T03:04:05.000Z',
        endTime: at,
        input: [{ role: 'user', content: 'hello' }],
        usageDetails: { input: 2, output: 1, total: 3 },
        costDetails: { total: 0.5 },
      },
    },
    { type: 'generation-create', body: { id: 'call_1_1', level: 'ERROR', output: { error: 'no' } } },
    {
      type: 'score-create',
      body: { id: 'rol_1-reward', traceId: 'rol_1', name: 'reward', value: 0.25, dataType: 'NUMERIC', comment: 'well' },
    },
  ]);
});

test('every body is below the limit, has every event once, and is equal the next time', async () => {
  const size = fc.oneof(fc.nat(2_000), fc.nat(1_300_000), fc.constant(4_000_000));
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(size, { maxLength: 3 }), { maxLength: 6 }), async (sizes) => {
      // Two bytes each in UTF-8.
      const traces = sizes.map((calls, n) =>
        traceOf(
          n,
          calls.map((length) => 'é'.repeat(length)),
        ),
      );
      const { lines, events, omitted } = await exported(traces);
      for (const line of lines) expect(Buffer.byteLength(line)).toBeLessThan(3_500_000);
      const ids = events.map(({ body }) => body['id']);
      expect(ids).toEqual(
        traces.flatMap(({ trace_id, calls }) => [
          trace_id,
          ...calls.map(({ call_id }) => call_id),
          `${trace_id}-reward`,
        ]),
      );
      expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
      const without = events.filter(({ type, body }) => type === 'generation-create' && body['input'] === undefined);
      expect(without.map(({ body }) => body['id'])).toEqual(omitted.filter((id) => id.startsWith('call_')));
      expect((await exported(traces)).lines).toEqual(lines);
    }),
    { numRuns: 15 },
  );
}, 60_000);
