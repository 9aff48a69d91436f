import type { CollectedSpan, FakeCollector } from './fakes/collector.js';
import { until } from './until.js';

/** The spans of a trace that a collector has, as a tree. */
export class SpanTree {
  private readonly collector: Pick<FakeCollector, 'spans'>;
  private readonly traceId: string;

  constructor(collector: Pick<FakeCollector, 'spans'>, traceId: string) {
    this.collector = collector;
    this.traceId = traceId;
  }

  get spans(): CollectedSpan[] {
    return this.collector.spans.filter(({ traceId }) => traceId === this.traceId);
  }

  /** Spans whose name begins so. */
  named(name: string): CollectedSpan[] {
    return this.spans.filter((span) => span.name.startsWith(name));
  }

  modelCalls(purpose: string): CollectedSpan[] {
    return this.spans.filter(({ attributes }) => attributes['ratchet.purpose'] === purpose);
  }

  /** Spans whose parent has not arrived; `callerId`: the span above the trace. */
  orphans(callerId = ''): CollectedSpan[] {
    const ids = new Set([...this.spans.map(({ spanId }) => spanId), callerId, '']);
    return this.spans.filter(({ parentId }) => !ids.has(parentId));
  }

  /** The names from a span up to the top. */
  pathOf(span: CollectedSpan): string[] {
    const parent = this.spans.find(({ spanId }) => spanId === span.parentId);
    return [span.name, ...(parent ? this.pathOf(parent) : [])];
  }
}

/** The tree of a job once its span and every parent have arrived. */
export async function treeOf(
  collector: FakeCollector,
  jobId: string,
  { callerId, run = 1 }: { callerId?: string; run?: number } = {},
): Promise<{ job: CollectedSpan; tree: SpanTree }> {
  const job = await until(`the span of ${jobId} has arrived`, () =>
    collector.spans.find(
      ({ attributes }) => attributes['ratchet.job.id'] === jobId && attributes['ratchet.job.run'] === run,
    ),
  );
  const tree = new SpanTree(collector, job.traceId);
  // Those of requests come from a queue of their own.
  await until('every parent has arrived', () => tree.orphans(callerId).length === 0);
  return { job, tree };
}
