/** The traces of a job as spans with content, equal to those that a collector got of it. */
import { tracedAnswer, type TracedCall } from '../../models/client/traced-call.js';
import { readRecordedJob } from '../store/traces.js';
import type { JobRow } from '../store/jobs.js';
import type { TraceCall, TraceHead } from '../../rollouts/store/traces.js';
import { JobSpans } from '../../tracing/job-spans.js';
import { modelCallAttributes, modelCallName } from '../../tracing/model-call.js';
import { derivedTraceId, recordedCallSpan, type EndedSpan } from '../../tracing/spans.js';
import { asObject } from '../../util/json.js';
import type { HttpDeps } from '../../platform/http/deps.js';

/** OTLP/JSON of a job: first of its rollouts, then of the spans above them. */
export interface OtlpTraces {
  /** null: it has not ended. */
  rollout(head: TraceHead, calls: readonly TraceCall[]): string | null;
  job(): string;
}

export async function otlpTraces({ db }: HttpDeps, { jobId, orgId }: JobRow): Promise<OtlpTraces> {
  const { otlpJson } = await import('../../tracing/otlp-json.js');
  const record = await db.org(orgId, (tx) => readRecordedJob(tx, jobId));
  if (!record) throw new Error(`the job ${jobId} was deleted`);
  const job = { ...record, traceId: record.traceId ?? derivedTraceId(jobId) };
  const spans = new JobSpans(job, true);
  return {
    rollout(head, calls) {
      const { rolloutId: id, error, startedAt, createdAt, completedAt } = head;
      if (!head.hasSpan || !completedAt) return null;
      const times = { startedAt: startedAt ?? createdAt, completedAt };
      const span = spans.rollout({ ...head, id, errorCode: error?.code ?? null, ...times });
      return otlpJson([span, ...calls.map((call) => callSpan(call, span, recordedCallSpan(job, call.callId)))]);
    },
    job: () => otlpJson(spans.end()),
  };
}

function callSpan(call: TraceCall, parent: EndedSpan, context: EndedSpan['context']): EndedSpan {
  const traced = tracedCall(call);
  // The archive holds the content as it is.
  const attributes = modelCallAttributes(traced, { captureContent: true, hide: (text) => text, addressOf: () => null });
  return {
    name: modelCallName(traced),
    context,
    parentId: parent.context.spanId,
    startMs: traced.startedAt,
    endMs: call.createdAt.getTime(),
    error: traced.error,
    attributes: { ...attributes, 'ratchet.call.id': call.callId },
    isClient: true,
  };
}

/** It was recorded when it ended. */
function tracedCall(call: TraceCall): TracedCall {
  const { provider, purpose, model, httpStatus, createdAt, latencyMs } = call;
  return {
    provider,
    purpose,
    cost: call,
    request: { ...asObject(call.request), model },
    startedAt: createdAt.getTime() - (latencyMs ?? 0),
    error: httpStatus < 300 ? null : String(httpStatus),
    answer: tracedAnswer(call.response),
  };
}
