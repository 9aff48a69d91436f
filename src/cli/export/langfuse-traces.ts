/** Rollouts as bodies of Langfuse's `POST /api/public/ingestion`. */
import { createHash } from 'node:crypto';
import type { Trace } from '../../client/index.js';

/** Langfuse's limit of a body is 3.5 MB. */
const maxBytes = 3_400_000;

type Call = Trace['calls'][number];
interface Event {
  type: 'trace-create' | 'generation-create' | 'score-create';
  timestamp: string;
  body: { id: string; input?: unknown; output?: unknown; metadata?: object } & Record<string, unknown>;
}

/**
 * The bodies, each a line. The same trace has the same ids, so a repeated import updates it.
 * `onOmitted`: a content was too large for a body.
 */
export async function* langfuseBatches(
  traces: AsyncIterable<Trace>,
  onOmitted: (id: string, bytes: number) => void,
): AsyncGenerator<string> {
  let batch: string[] = [];
  let bytes = 0;
  for await (const trace of traces) {
    for (const event of eventsOf(trace)) {
      const whole = lineOf(event);
      const size = Buffer.byteLength(whole);
      if (size > maxBytes) onOmitted(event.body.id, size);
      const line = size > maxBytes ? lineOf(withoutContent(event)) : whole;
      const added = Buffer.byteLength(line) + 1;
      if (batch.length > 0 && bytes + added > maxBytes) {
        yield `{"batch":[${batch.join(',')}]}\n`;
        [batch, bytes] = [[], 0];
      }
      batch.push(line);
      bytes += added;
    }
  }
  if (batch.length > 0) yield `{"batch":[${batch.join(',')}]}\n`;
}

/** Langfuse skips an event whose id it knows; one that has changed has another. */
function lineOf(event: Event): string {
  const id = createHash('sha256').update(JSON.stringify(event)).digest('hex').slice(0, 32);
  return JSON.stringify({ id, ...event });
}

function withoutContent({ body, ...event }: Event): Event {
  const { id, traceId, name, timestamp, startTime, endTime, model, usageDetails, costDetails, level } = body;
  const kept = { id, traceId, name, timestamp, startTime, endTime, model, usageDetails, costDetails, level };
  return { ...event, body: { ...kept, metadata: { omitted: 'too large for a request to Langfuse' } } };
}

function* eventsOf(trace: Trace): Generator<Event> {
  const { trace_id: id, job_id, created_at, completed_at, reward, feedback } = trace;
  const { calls, usage: _, details, ...metadata } = trace;
  const answered = calls.findLast(({ http_status }) => http_status < 300);
  yield {
    type: 'trace-create',
    timestamp: created_at,
    body: {
      id,
      sessionId: job_id,
      name: 'rollout',
      timestamp: trace.started_at ?? created_at,
      input: calls[0] && inputOf(calls[0]),
      output: answered && outputOf(answered),
      metadata: { ...metadata, details },
      tags: [trace.stage, trace.candidate_id, trace.status].filter((tag) => tag !== null),
    },
  };
  for (const call of calls) yield generation(trace, call);
  if (reward === null) return;
  yield {
    type: 'score-create',
    timestamp: completed_at ?? created_at,
    body: {
      id: `${id}-reward`,
      traceId: id,
      name: 'reward',
      value: reward,
      dataType: 'NUMERIC',
      ...(feedback !== null && { comment: feedback }),
    },
  };
}

function generation({ trace_id: traceId }: Trace, call: Call): Event {
  const { call_id: id, created_at: endTime, provider, cost_usd: cost, cost_source, cached_from, step } = call;
  const { prompt_tokens: input, completion_tokens: output } = call;
  const hasFailed = call.http_status >= 300;
  return {
    type: 'generation-create',
    timestamp: endTime,
    body: {
      id,
      traceId,
      name: step ?? 'chat',
      model: call.model,
      modelParameters: parametersOf(call),
      startTime: new Date(Date.parse(endTime) - (call.latency_ms ?? 0)).toISOString(),
      endTime,
      input: inputOf(call),
      output: outputOf(call),
      ...(input !== null && output !== null && { usageDetails: { input, output, total: input + output } }),
      ...(cost !== null && { costDetails: { total: cost } }),
      level: hasFailed ? 'ERROR' : 'DEFAULT',
      ...(hasFailed && { statusMessage: `HTTP ${call.http_status}` }),
      metadata: { provider, cost_source, cached_from },
    },
  };
}

function inputOf({ request }: Call): unknown {
  return (request as { messages?: unknown } | null)?.messages ?? request;
}

/** The message of the answer, or the answer if it has none. */
function outputOf({ response }: Call): unknown {
  return (response as { choices?: { message?: unknown }[] } | null)?.choices?.[0]?.message ?? response;
}

/** Langfuse takes texts, numbers and truth values. */
function parametersOf({ request }: Call): Record<string, string | number | boolean> {
  const simple = Object.entries(request ?? {}).filter(
    ([field, value]) => field !== 'model' && ['string', 'number', 'boolean'].includes(typeof value),
  );
  return Object.fromEntries(simple);
}
