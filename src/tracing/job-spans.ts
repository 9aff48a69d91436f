import type { Attributes } from '@opentelemetry/api';
import type { EndedJob, TracedRollout } from '../jobs/store/traces.js';
import { candidateSpan, generationSpan, jobSpan, rolloutSpan, type EndedSpan } from './spans.js';

interface Extent {
  startMs: number;
  endMs: number;
}

/** A job with a trace. `completedAt` null: it runs, so its span ends where its last rollout did. */
export interface TracedJob extends Omit<EndedJob, 'completedAt' | 'sentThrough'> {
  completedAt: Date | null;
}

/** A rollout that has ended. */
export type EndedRollout = Pick<
  TracedRollout,
  | 'id'
  | 'candidateId'
  | 'stage'
  | 'generation'
  | 'seed'
  | 'status'
  | 'tries'
  | 'reward'
  | 'errorCode'
  | 'startedAt'
  | 'completedAt'
>;

/**
 * The spans of a job, from its record: first its rollouts, then those above them. `isWhole`: the
 * rollouts are those of all runs, not of the last one.
 */
export class JobSpans {
  /** From the first start to the last end of the rollouts, by generation and candidate. */
  private readonly generations = new Map<number, Map<string, Extent>>();
  private readonly job: TracedJob;
  private readonly isWhole: boolean;
  private startMs: number;
  private endMs: number;

  constructor(job: TracedJob, isWhole = job.run === 1) {
    this.job = job;
    this.isWhole = isWhole;
    this.startMs = (isWhole ? job.createdAt : (job.completedAt ?? job.createdAt)).getTime();
    this.endMs = (job.completedAt ?? job.createdAt).getTime();
  }

  rollout(row: EndedRollout): EndedSpan {
    const { job } = this;
    const extent = { startMs: row.startedAt.getTime(), endMs: row.completedAt.getTime() };
    this.startMs = Math.min(this.startMs, extent.startMs);
    if (!job.completedAt) this.endMs = Math.max(this.endMs, extent.endMs);
    return {
      name: 'rollout',
      context: rolloutSpan(job, row.id),
      parentId: this.parentOf(row, extent),
      ...extent,
      error: row.status === 'failed' ? (row.errorCode ?? 'failed') : null,
      attributes: rolloutAttributes(job, row),
    };
  }

  /** The generations, the candidates and the job. */
  end(): EndedSpan[] {
    const { job, generations } = this;
    const known = [...generations.keys()];
    const last = Math.max(job.generation, ...known);
    const spans: EndedSpan[] = [];
    let previousMs: number | null = null;
    for (let generation = this.isWhole ? 0 : Math.min(last, ...known); generation <= last; generation += 1) {
      const candidates = [...(generations.get(generation) ?? [])];
      // Its proposals begin where the generation before ends; they may give nothing to test.
      const extents: Extent[] = [...(previousMs === null ? [] : [at(previousMs)]), ...candidates.map(([, own]) => own)];
      const extent = extents.reduce(union, extents[0] ?? at(this.startMs));
      previousMs = extent.endMs;
      const context = generationSpan(job, generation);
      const attributes = { 'ratchet.job.id': job.jobId, 'ratchet.generation': generation };
      const parentId = jobSpan(job).spanId;
      spans.push({ name: `generation ${generation}`, context, parentId, ...extent, error: null, attributes });
      for (const [id, own] of candidates) {
        spans.push({
          name: `candidate ${id.slice(id.lastIndexOf('_') + 1)}`,
          context: candidateSpan(job, generation, id),
          parentId: context.spanId,
          ...own,
          error: null,
          attributes: { ...attributes, 'ratchet.candidate.id': id },
        });
      }
    }
    return [...spans, this.top()];
  }

  /** An evaluation has neither generations nor candidates of its own. */
  private parentOf({ generation, candidateId }: EndedRollout, extent: Extent): string {
    const { job, generations } = this;
    if (job.kind === 'evaluation' || generation === null || candidateId === null) return jobSpan(job).spanId;
    const candidates = generations.get(generation) ?? new Map<string, Extent>();
    generations.set(generation, candidates);
    candidates.set(candidateId, union(candidates.get(candidateId) ?? extent, extent));
    return candidateSpan(job, generation, candidateId).spanId;
  }

  private top(): EndedSpan {
    const { kind, algorithm, status, stoppedBy, errorCode, bestReward, run, ...job } = this.job;
    return {
      name: kind,
      context: jobSpan(this.job),
      parentId: job.parentId,
      startMs: this.startMs,
      endMs: this.endMs,
      error: status === 'failed' ? (errorCode ?? 'failed') : null,
      attributes: {
        'ratchet.job.id': job.jobId,
        'ratchet.job.kind': kind,
        'ratchet.job.status': status,
        'ratchet.job.run': run,
        ...(algorithm !== null && { 'ratchet.algorithm': algorithm }),
        ...(stoppedBy !== null && { 'ratchet.stop_reason': stoppedBy }),
        ...(bestReward !== null && { 'ratchet.best_reward': bestReward }),
      },
    };
  }
}

function rolloutAttributes({ jobId }: TracedJob, row: EndedRollout): Attributes {
  const { id, candidateId, generation, stage, seed, status, tries, reward } = row;
  return {
    'ratchet.job.id': jobId,
    'ratchet.rollout.id': id,
    ...(candidateId !== null && { 'ratchet.candidate.id': candidateId }),
    ...(generation !== null && { 'ratchet.generation': generation }),
    ...(stage !== null && { 'ratchet.stage': stage }),
    ...(seed !== null && { 'ratchet.seed': seed }),
    'ratchet.rollout.status': status,
    'ratchet.rollout.tries': tries,
    ...(reward !== null && { 'ratchet.reward': reward }),
  };
}

function union(a: Extent, b: Extent): Extent {
  return { startMs: Math.min(a.startMs, b.startMs), endMs: Math.max(a.endMs, b.endMs) };
}

function at(ms: number): Extent {
  return { startMs: ms, endMs: ms };
}
