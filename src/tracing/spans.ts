/** Ids of a job's spans, which every process and every retry derives alike. */
import { createHash } from 'node:crypto';
import type { Attributes, SpanContext } from '@opentelemetry/api';
import type { JobTrace, TracedRun } from '../core/jobs/trace.js';

/** A span that has ended, with an id of its own. Times in milliseconds. */
export interface EndedSpan {
  name: string;
  context: SpanContext;
  parentId: string | null;
  startMs: number;
  endMs: number;
  /** Its `error.type`; null: no error. */
  error: string | null;
  attributes: Attributes;
  /** Whether it is a call to another service. */
  isClient?: boolean;
}

/** The trace of a job that was not traced. */
export function derivedTraceId(jobId: string): string {
  return hashOf(['trace', jobId]).slice(0, 32);
}

export function jobSpan(job: TracedRun): SpanContext {
  return contextOf(job, ['job', job.jobId, job.run]);
}

export function generationSpan(job: TracedRun, generation: number): SpanContext {
  return contextOf(job, ['generation', job.jobId, job.run, generation]);
}

/** The rollouts of a candidate in a generation. */
export function candidateSpan(job: TracedRun, generation: number, candidateId: string): SpanContext {
  return contextOf(job, ['candidate', candidateId, job.run, generation]);
}

export function rolloutSpan(trace: JobTrace, rolloutId: string): SpanContext {
  return contextOf(trace, ['rollout', rolloutId]);
}

/** A recorded model call. The span that was sent when it ended has an id of its own. */
export function recordedCallSpan(trace: JobTrace, callId: string): SpanContext {
  return contextOf(trace, ['call', callId]);
}

/** The W3C header that names a span as the parent. */
export function traceparentOf({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}

function contextOf({ traceId, sampled }: JobTrace, parts: readonly (string | number)[]): SpanContext {
  return { traceId, spanId: hashOf(parts).slice(0, 16), traceFlags: sampled ? 1 : 0 };
}

function hashOf(parts: readonly (string | number)[]): string {
  return createHash('sha256').update(parts.join(' ')).digest('hex');
}
