/** A prompt or a graph on a few rows, answered at once: a job that is archived from its start. */
import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { isTerminal } from '../../../core/jobs/status.js';
import { sampleOf } from '../../../core/rows/sample.js';
import { readDataset } from '../../../datasets/store/datasets.js';
import { readEvaluationDiagnosis } from '../../../diagnosis/routes/read.js';
import { command } from '../../../jobs/routes/control.js';
import { makeJob, newJob } from '../../../jobs/routes/create.js';
import { creationOf } from '../../../jobs/routes/creates.js';
import { requireRoomToSpend } from '../../../jobs/routes/quota.js';
import { readJob, type EvaluationHead, type GraphHead, type JobRow } from '../../../jobs/store/jobs.js';
import { readSpec } from '../../../jobs/store/spec.js';
import { readUsage } from '../../../jobs/store/usage.js';
import type { EvaluationSpec } from '../../../core/jobs/spec.js';
import type { Tx } from '../../../platform/db/db.js';
import { defaultTiming, type App, type HttpDeps } from '../../../platform/http/deps.js';
import { ApiError, refuse } from '../../../platform/http/server/errors.js';
import { bodyProblems, idempotencyHeader, validateBody } from '../../../platform/http/server/schema.js';
import { createWakeSignal } from '../../../platform/http/server/wake-signal.js';
import { readSeedOutputs, type SeedOutput } from '../../../rollouts/store/outputs.js';
import { readTotals } from '../../../rollouts/store/totals.js';
import {
  anyTrySchema,
  isGraphTry,
  mostTried,
  triedSchema,
  tryGraphSchema,
  trySchema,
  type TryGraphRequest,
  type TryRequest,
} from '../contract/try.js';
import { createGraphJobBytes } from '../../graph/contract/job.js';
import { readForm } from '../../../platform/http/server/forms.js';
import { evaluationKind } from './routes.js';
import { readTriedGraph, triedGraph, triedGraphKind, tryName } from './try-graph.js';

type Tried = z.output<typeof triedSchema>;
type TriedJob = JobRow<EvaluationHead | GraphHead>;

/** The end of a job is on record this long after its timeout, if a worker runs it. */
const graceMs = 4_000;

export function registerTry(app: App, deps: HttpDeps): void {
  app.post(
    '/api/v1/try',
    {
      bodyLimit: createGraphJobBytes,
      validatorCompiler: validateBody((body) =>
        readForm({ schema: isGraphTry(body) ? tryGraphSchema : trySchema, body }),
      ),
      config: { idempotency: 'create' },
      schema: {
        tags: ['Evaluations'],
        operationId: 'tryPrompt',
        summary: 'Try a prompt or a graph on a few rows',
        description:
          'Runs at most 20 rows and answers them in one response, after at most 50 s. The calls count as those of an evaluation do. With the same Idempotency-Key, the answer is that of the first request.',
        headers: idempotencyHeader,
        body: anyTrySchema,
        response: { 200: triedSchema, ...bodyProblems(409) },
      },
    },
    async (request) => {
      const { orgId, keyId } = request.caller;
      // The validator read the form that the body has.
      const { body } = request.body as unknown as { body: TryRequest | TryGraphRequest };
      const jobId = await startTry(deps, request, body);
      const { timeout } = body;
      const job = await untilEnded(deps, { orgId, jobId, keyId }, timeout * 1_000 + graceMs);
      return deps.db.org(orgId, (tx) => tried(tx, job, timeout));
    },
  );
}

/** Starts the job, or finds that of the same Idempotency-Key; returns its id. */
async function startTry(deps: HttpDeps, request: FastifyRequest, body: TryRequest | TryGraphRequest): Promise<string> {
  const creation = isGraphTry(body)
    ? await creationOf(deps, triedGraphKind, request, { body: triedGraph(body), moves: [] })
    : await evaluationOf(deps, request, body);
  const draft = { ...creation, archived: true };
  const { caller } = request;
  const job = newJob(deps, caller, draft);
  const made = await makeJob(deps, request, draft, job, (tx) => requireRoomToSpend(tx, caller));
  const { job_id: jobId } = (made.earlier ? made.earlier.body : made.body) as { job_id: string };
  return jobId;
}

async function evaluationOf(deps: HttpDeps, request: FastifyRequest, { rows, ...asked }: TryRequest) {
  const seeds = await chosenSeeds(deps, request, asked, rows);
  const body = { ...asked, seeds, preflight: false, max_failure_rate: 1, name: tryName(rows) };
  return creationOf(deps, evaluationKind, request, { body, moves: [] });
}

/** The rows to run; undefined: the data set does not exist, which the draft refuses. */
async function chosenSeeds(
  { db }: HttpDeps,
  { caller }: FastifyRequest,
  { dataset, seeds }: Omit<TryRequest, 'rows'>,
  count: number,
): Promise<number[] | undefined> {
  if (seeds) return sampleOf(seeds, count);
  const { dataset_id: id, rows } = dataset!;
  const numRows = rows?.length ?? (await db.org(caller.orgId, (tx) => readDataset(tx, id!)))?.numRows;
  return numRows === undefined ? undefined : sampleOf([...Array(numRows).keys()], count);
}

/** The job at its end. At the deadline, or if it is paused, it is cancelled. */
async function untilEnded(
  deps: HttpDeps,
  { orgId, jobId, keyId }: { orgId: string; jobId: string; keyId: string | null },
  ms: number,
) {
  const { pollMs } = { ...defaultTiming, ...deps.timing };
  const read = async () => {
    const job = await deps.db.org(orgId, (tx) => readJob<EvaluationHead | GraphHead>(tx, jobId));
    if (!job) throw refuse.notFound(`job ${jobId}`);
    return job;
  };
  const signal = createWakeSignal((wake) => deps.notifications.on('ratchet_events', jobId, wake));
  const end = Date.now() + ms;
  try {
    for (;;) {
      const job = await read();
      const left = end - Date.now();
      if (isTerminal(job.status)) return job;
      if (left <= 0 || job.status === 'paused' || deps.shutdown.aborted) {
        await command(deps, job, { kind: 'cancel', keyId }).catch((error: unknown) => {
          if (!(error instanceof ApiError)) throw error;
          deps.log.warn({ err: error, job_id: jobId }, 'a try was not cancelled at its deadline');
        });
        return await read();
      }
      await signal.next(Math.min(pollMs, left));
    }
  } finally {
    signal.stop();
  }
}

async function tried(tx: Tx, job: TriedJob, timeoutS: number): Promise<Tried> {
  const { jobId } = job;
  const { rows, outputs, diagnosis } = await (job.kind === 'graph'
    ? readTriedGraph(tx, job as JobRow<GraphHead>)
    : readEvaluated(tx, job as JobRow<EvaluationHead>));
  const known = new Map(outputs.map((output) => [output.seed, output]));
  const { meanReward } = await readTotals(tx, jobId);
  const { totalCostUsd } = await readUsage(tx, jobId);
  return {
    job_id: jobId,
    rows: rows.map((row) => rowView(row, known.get(row), () => whyNotRun(job, timeoutS))),
    mean_reward: meanReward,
    total_cost_usd: totalCostUsd,
    seconds: ((job.completedAt?.getTime() ?? Date.now()) - job.createdAt.getTime()) / 1_000,
    diagnosis,
    warnings: job.warnings,
  };
}

async function readEvaluated(tx: Tx, job: JobRow<EvaluationHead>) {
  const { jobId, spec } = job;
  const { seeds: rows } = await readSpec<EvaluationSpec>(tx, jobId);
  const outputs = await readSeedOutputs(tx, jobId, spec.rows ?? null, { limit: mostTried, offset: 0 });
  return { rows, outputs, ...(await readEvaluationDiagnosis(tx, job)) };
}

function rowView(
  row: number,
  found: SeedOutput | undefined,
  why: () => { code: string; message: string },
): Tried['rows'][number] {
  if (!found) return { row, ...nothing, error: why() };
  const { input, expected, output, reward, feedback, finishReason, error, errorCode, costUsd, latencyMs, rolloutId } =
    found;
  return {
    row,
    text: input,
    expected,
    answer: output,
    reward,
    feedback,
    finish_reason: finishReason,
    error: error === null ? null : { code: errorCode ?? 'internal', message: error },
    cost_usd: costUsd,
    latency_ms: latencyMs,
    trace_id: rolloutId,
  };
}

const nothing = {
  text: null,
  expected: null,
  answer: null,
  reward: null,
  feedback: null,
  finish_reason: null,
  cost_usd: null,
  latency_ms: null,
  trace_id: null,
};

/** The errors of jobs whose time is over. */
const expired = ['timeout', 'max_minutes'];

function whyNotRun({ errorDetails }: TriedJob, timeoutS: number) {
  if (errorDetails && !expired.includes(errorDetails.code))
    return { code: errorDetails.code, message: errorDetails.message };
  return { code: 'timed_out', message: `No answer within ${timeoutS} s. Try fewer rows, or a faster model.` };
}
