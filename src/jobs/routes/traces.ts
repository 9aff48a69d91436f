import { plus, sumOf } from '../../util/sums.js';
import { once } from 'node:events';
import { ZipArchive } from 'archiver';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { traceSchema } from '../../rollouts/contract/trace.js';
import type { JobRow } from '../store/jobs.js';
import { answerStep } from '../../rollouts/store/answers.js';
import {
  readTraceCalls,
  readTraceHead,
  readTraceHeads,
  type TraceCall,
  type TraceHead,
} from '../../rollouts/store/traces.js';
import type { App, HttpDeps } from '../../platform/http/deps.js';
import { refuse } from '../../platform/http/server/errors.js';
import { archiveResponse, problems } from '../../platform/http/server/schema.js';
import { requireKept } from './expired.js';
import type { JobRoute } from './kind.js';
import { otlpTraces } from './trace-spans.js';
import { idFields, iso, isoOrNull } from './view.js';
import { entryDate } from '../../platform/http/server/zip.js';

type Trace = z.output<typeof traceSchema>;

const headsPerQuery = 100;
const bytesPerBatch = 4 * 1024 * 1024;

export function registerTraces(app: App, deps: HttpDeps, { path, params, tags, name, find }: JobRoute): void {
  app.get(
    `${path}/traces`,
    {
      exposeHeadRoute: false,
      schema: {
        tags,
        operationId: `download${name}Traces`,
        summary: 'All traces as a ZIP',
        params,
        response: { 200: archiveResponse, ...problems(404, 410) },
      },
    },
    async (request, reply) => traceArchive(deps, request, reply, await find(request)),
  );

  app.get(
    `${path}/traces/:trace_id`,
    {
      schema: {
        tags,
        operationId: `get${name}Trace`,
        summary: 'One trace',
        params: params.extend({ trace_id: z.string() }),
        response: { 200: traceSchema, ...problems(404, 410) },
      },
    },
    async (request) => trace(deps, await find(request), request.params.trace_id),
  );
}

/** A trace as JSON. */
async function trace(deps: HttpDeps, job: JobRow, traceId: string): Promise<Trace> {
  requireKept(job, 'traces');
  const found = await deps.db.org(job.orgId, async (tx) => {
    const head = await readTraceHead(tx, job.jobId, traceId);
    return head && view(job, head, await readTraceCalls(tx, job.jobId, [head.rolloutId]));
  });
  if (!found) throw refuse.notFound(`trace ${traceId.slice(0, 200)}`);
  return found;
}

/**
 * Streams the traces of a job as a ZIP, sorted by id: `<trace_id>.json`, then it as OTLP/JSON;
 * at last `otlp/job.json`. The same traces give the same bytes. An error aborts the download.
 */
function traceArchive(deps: HttpDeps, request: FastifyRequest, reply: FastifyReply, job: JobRow): FastifyReply {
  requireKept(job, 'traces');
  const archive = new ZipArchive({ zlib: { level: 6 } });
  fill(archive, deps, job).catch((error: unknown) => {
    request.log.error({ err: error, job_id: job.jobId }, 'streaming a trace archive failed');
    archive.destroy(error as Error);
  });
  return reply
    .type('application/zip')
    .header('content-disposition', `attachment; filename="${job.jobId}-traces.zip"`)
    .send(archive);
}

async function fill(archive: ZipArchive, deps: HttpDeps, job: JobRow): Promise<void> {
  const aborted = once(archive, 'close').then(
    () => false,
    () => false,
  );
  const add = async (name: string, text: string): Promise<boolean> => {
    const added = once(archive, 'entry').then(() => true);
    archive.append(text, { name, date: entryDate });
    return Promise.race([added, aborted]);
  };
  const otlp = await otlpTraces(deps, job);
  let after = '';
  for (;;) {
    const heads = await deps.db.org(job.orgId, (tx) => readTraceHeads(tx, job.jobId, after, headsPerQuery));
    for (const batch of batches(heads)) {
      for (const [head, calls] of await readCalls(deps, job, batch)) {
        const name = `${head.rolloutId}.json`;
        if (!(await add(name, `${JSON.stringify(view(job, head, calls), null, 2)}\n`))) return;
        const spans = otlp.rollout(head, calls);
        if (spans !== null && !(await add(`otlp/${name}`, spans))) return;
      }
    }
    const last = heads.at(-1);
    if (!last || heads.length < headsPerQuery) break;
    after = last.rolloutId;
  }
  if (await add('otlp/job.json', otlp.job())) await archive.finalize();
}

/** Groups heads into batches of bounded size. */
function* batches(heads: TraceHead[]): Generator<TraceHead[]> {
  let batch: TraceHead[] = [];
  let bytes = 0;
  for (const head of heads) {
    if (batch.length > 0 && bytes + head.bytes > bytesPerBatch) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(head);
    bytes += head.bytes;
  }
  if (batch.length > 0) yield batch;
}

async function readCalls(deps: HttpDeps, job: JobRow, heads: TraceHead[]): Promise<[TraceHead, TraceCall[]][]> {
  const ids = heads.map((head) => head.rolloutId);
  const calls = await deps.db.org(job.orgId, (tx) => readTraceCalls(tx, job.jobId, ids));
  const byRollout = new Map<string, TraceCall[]>(ids.map((id) => [id, []]));
  for (const call of calls) byRollout.get(call.rolloutId)?.push(call);
  return heads.map((head) => [head, byRollout.get(head.rolloutId) ?? []]);
}

/** Usage of each step of a graph, in the order of first calls. */
function stepsView(calls: TraceCall[]): NonNullable<Trace['steps']> {
  const byStep = new Map<string, TraceCall[]>();
  for (const call of calls) {
    const step = answerStep(call.callId, call.rolloutId);
    if (step !== null) byStep.set(step, [...(byStep.get(step) ?? []), call]);
  }
  return [...byStep].map(([step, own]) => ({
    step,
    calls: own.length,
    prompt_tokens: sumOf(own, (call) => call.promptTokens),
    completion_tokens: sumOf(own, (call) => call.completionTokens),
    cost_usd: own.every((call) => call.costUsd !== null) ? sum(own, (call) => call.costUsd!) : null,
    latency_ms: sum(own, (call) => call.latencyMs ?? 0),
  }));
}

function view(job: JobRow, head: TraceHead, calls: TraceCall[]): Trace {
  const isGraph = job.kind === 'graph';
  const promptTokens = sumOf(calls, (call) => call.promptTokens);
  const completionTokens = sumOf(calls, (call) => call.completionTokens);
  const answered = calls.filter((call) => call.httpStatus < 300);
  const known = answered.length > 0 && answered.every((call) => call.costUsd !== null);
  return {
    trace_id: head.rolloutId,
    rollout_id: head.rolloutId,
    correlation_id: calls[0]?.correlationId ?? head.rolloutId,
    ...idFields(job.jobId),
    rollout_idx: head.idx,
    source: head.source,
    candidate_id: head.candidateId,
    seed: head.seed,
    ...(head.taskId !== null && { task_id: head.taskId }),
    stage: head.stage,
    generation: head.generation,
    status: head.status,
    reward: head.reward,
    feedback: head.feedback,
    details: head.details,
    error: head.error?.message ?? null,
    error_code: head.error?.code ?? null,
    resent: head.resent,
    latency_ms: head.latencyMs,
    created_at: iso(head.createdAt),
    started_at: isoOrNull(head.startedAt),
    completed_at: isoOrNull(head.completedAt),
    usage: {
      prompt_tokens: promptTokens,
      completion_tokens: completionTokens,
      total_tokens: plus(promptTokens, completionTokens),
      total_cost_usd: known ? sum(answered, (call) => call.costUsd ?? 0) : null,
    },
    ...(isGraph && { steps: stepsView(calls) }),
    calls: calls.map((call) => ({
      call_id: call.callId,
      ...(isGraph && { step: answerStep(call.callId, call.rolloutId) }),
      provider: call.provider,
      model: call.model,
      stream: call.stream,
      http_status: call.httpStatus,
      request: call.request,
      response: call.response,
      prompt_tokens: call.promptTokens,
      completion_tokens: call.completionTokens,
      cost_usd: call.costUsd,
      cost_source: call.costSource,
      latency_ms: call.latencyMs,
      cached_from: call.cachedFrom,
      created_at: iso(call.createdAt),
    })),
  };
}

const sum = <Item>(items: Item[], value: (item: Item) => number) =>
  items.reduce((total, item) => total + value(item), 0);
