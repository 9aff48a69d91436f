import { expect, test } from '@jest/globals';
import type { z } from 'zod';
import type { traceSchema } from '../../../src/rollouts/contract/trace.js';
import { candidateId, rolloutId } from '../../../src/core/jobs/ids.js';
import type { CollectedSpan } from '../../support/fakes/collector.js';
import { openTraces } from '../../support/otlp.js';
import { seedCandidates, seedRollouts } from '../../platform/http/seed.js';
import { createEvaluation, createSession, httpOfFile } from '../../platform/http/support.js';

// The spans of an archive beside its JSON; test/e2e/traces.test.ts has them beside the live ones.

const http = httpOfFile();
type Trace = z.output<typeof traceSchema>;

/** The archive of a job with candidates in two generations, beside its JSON traces. */
async function archive() {
  const id = await createSession(http);
  await seedCandidates(http, id, [
    { status: 'evaluated', generation: 0 },
    { status: 'evaluated', generation: 1, parents: [0] },
  ]);
  await seedRollouts(http, id, [
    { candidate: 0, seed: 7, status: 'succeeded', reward: 0.5, tokens: [10, 2], cost: 0.25 },
    { candidate: 0, seed: 3, status: 'failed', error: 'The container answered 500.', tokens: [1, 1], cost: null },
    { candidate: 1, seed: 7, status: 'succeeded', reward: 1, tokens: [9, 1], cost: 0.5, generation: 1 },
    { candidate: 1, seed: 3, status: 'running', tokens: [1, 1], generation: 1 },
  ]);
  // As a claim by a runner.
  await http.db.org('default', (tx) =>
    tx.query(
      `update rollouts set attempt = 1, started_at = started_at - interval '2 s' where job_id = $1 and status <> 'queued'`,
      [id],
    ),
  );
  const { raw } = await http.call('GET', `/api/v1/online/sessions/${id}/traces`);
  const opened = await openTraces(raw);
  return { id, ...opened, traces: opened.json.map(({ text }) => JSON.parse(text) as Trace) };
}

test('each ended rollout has a file with its span and those of its model calls', async () => {
  const { id, names, files, traces } = await archive();
  const of = (n: number) => `${rolloutId(id, n)}.json`;
  expect(names).toEqual([...[0, 1, 2].flatMap((n) => [of(n), `otlp/${of(n)}`]), of(3), 'otlp/job.json']);
  for (const trace of traces.slice(0, 3)) {
    const [rollout, ...calls] = files.get(`otlp/${trace.trace_id}.json`)!;
    expect(rollout).toMatchObject({
      name: 'rollout',
      kind: 1,
      status: trace.status === 'failed' ? 2 : 0,
      startMs: Date.parse(trace.started_at!),
      endMs: Date.parse(trace.completed_at!),
      attributes: {
        'ratchet.job.id': id,
        'ratchet.rollout.id': trace.trace_id,
        'ratchet.seed': trace.seed,
        'ratchet.candidate.id': trace.candidate_id,
        'ratchet.generation': trace.generation,
        ...(trace.reward !== null && { 'ratchet.reward': trace.reward }),
        ...(trace.error_code !== null && { 'error.type': trace.error_code }),
      },
    });
    expect(calls).toHaveLength(trace.calls.length);
    for (const [at, call] of trace.calls.entries()) {
      const endMs = Date.parse(call.created_at);
      expect(calls[at]).toMatchObject({
        name: `chat ${call.model}`,
        parentId: rollout!.spanId,
        kind: 3,
        status: 0,
        startMs: endMs - call.latency_ms!,
        endMs,
        resource: { 'service.name': 'ratchet' },
      });
      expect(calls[at]!.attributes).toEqual({
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': call.provider,
        'gen_ai.request.model': call.model,
        'ratchet.purpose': 'rollout',
        'ratchet.call.id': call.call_id,
        'gen_ai.usage.input_tokens': call.prompt_tokens,
        'gen_ai.usage.output_tokens': call.completion_tokens,
        ...(call.cost_usd !== null && { 'ratchet.cost_usd': call.cost_usd }),
        'gen_ai.input.messages': `[{"role":"user","parts":[{"type":"text","content":"seed ${trace.seed}"}]}]`,
        'gen_ai.output.messages': '[{"role":"assistant","parts":[{"type":"text","content":"yes"}]}]',
      });
    }
  }
});

test('the spans of all files are one tree below the job', async () => {
  const { id, files, spans } = await archive();
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  expect(byId.size).toBe(spans.length);
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
  expect(spans[0]!.traceId).toMatch(/^[0-9a-f]{32}$/);
  const pathOf = (span: CollectedSpan): string[] =>
    span.parentId === '' ? [span.name] : [span.name, ...pathOf(byId.get(span.parentId)!)];
  const paths = (file: string) => files.get(file)!.map(pathOf);
  expect(paths(`otlp/${rolloutId(id, 2)}.json`)).toEqual([
    ['rollout', 'candidate 1', 'generation 1', 'session'],
    ['chat m', 'rollout', 'candidate 1', 'generation 1', 'session'],
  ]);
  expect(files.get('otlp/job.json')!.map(({ name }) => name)).toEqual([
    'generation 0',
    'candidate 0',
    'generation 1',
    'candidate 1',
    'session',
  ]);
  const top = files.get('otlp/job.json')!.at(-1)!;
  // It runs: its span ends with the last rollout that has ended.
  expect(top.attributes).toMatchObject({ 'ratchet.job.id': id, 'ratchet.job.kind': 'session' });
  expect(top.endMs).toBe(Math.max(...spans.filter(({ name }) => name === 'rollout').map(({ endMs }) => endMs)));
  for (const span of spans.filter(({ name }) => name !== 'chat m' && name !== 'session')) {
    const parent = byId.get(span.parentId)!;
    expect(span.startMs).toBeGreaterThanOrEqual(parent.startMs);
    expect(span.endMs).toBeLessThanOrEqual(parent.endMs);
  }
  const candidate = spans.find(({ name }) => name === 'candidate 1')!;
  expect(candidate.attributes['ratchet.candidate.id']).toBe(candidateId(id, 1));
});

test('before the first rollout there is the span of the job', async () => {
  const { raw } = await http.call('GET', `/api/v1/offline/jobs/${await createEvaluation(http)}/traces`);
  const { names, spans } = await openTraces(raw);
  expect(names).toEqual(['otlp/job.json']);
  expect(spans).toMatchObject([{ name: 'evaluation', parentId: '', kind: 1 }]);
});
