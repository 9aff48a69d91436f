/** A prompt on a few rows, answered at once: an evaluation that is archived from its start. */
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
import { readJob, type EvaluationHead, type JobRow } from '../../../jobs/store/jobs.js';
import { readSpec } from '../../../jobs/store/spec.js';
import { readUsage } from '../../../jobs/store/usage.js';
import type { EvaluationSpec } from '../../../core/jobs/spec.js';
import type { Tx } from '../../../platform/db/db.js';
import { defaultTiming, type App, type HttpDeps } from '../../../platform/http/deps.js';
import { ApiError, refuse } from '../../../platform/http/server/errors.js';
import { bodyProblems, idempotencyHeader } from '../../../platform/http/server/schema.js';
import { createWakeSignal } from '../../../platform/http/server/wake-signal.js';
import { readSeedOutputs, type SeedOutput } from '../../../rollouts/store/outputs.js';
import { readTotals } from '../../../rollouts/store/totals.js';
import { mostTried, triedSchema, trySchema, type TryRequest } from '../contract/try.js';
import { evaluationKind } from './routes.js';

type Tried = z.output<typeof triedSchema>;
type Evaluation = JobRow<EvaluationHead>;

/** The end of a job is on record this long after its timeout, if a worker runs it. */
const graceMs = 4_000;

export function registerTry(app: App, deps: HttpDeps): void {
  app.post(
    '/api/v1/try',
    {
      config: { idempotency: 'create' },
      schema: {
        tags: ['Evaluations'],
        operationId: 'tryPrompt',
        summary: 'Try a prompt on a few rows',
        description:
          'Runs at most 20 rows and answers them in one response, after at most 50 s. The calls count as those of an evaluation do. With the same Idempotency-Key, the answer is that of the first request.',
        headers: idempotencyHeader,
        body: trySchema,
        response: { 200: triedSchema, ...bodyProblems(409) },
      },
    },
    async (request) => {
      const { orgId, keyId } = request.caller;
      const started = await startTry(deps, request, request.body);
      const job = await untilEnded(deps, { orgId, jobId: started, keyId }, request.body.timeout * 1_000 + graceMs);
      return deps.db.org(orgId, (tx) => tried(tx, job));
    },
  );
}

/** Starts the evaluation, or finds that of the same Idempotency-Key; returns its id. */
async function startTry(deps: HttpDeps, request: FastifyRequest, { rows, ...asked }: TryRequest): Promise<string> {
  const seeds = await chosenSeeds(deps, request, asked, rows);
  const body = { ...asked, seeds, preflight: false, max_failure_rate: 1, name: `Try of ${rows} rows` };
  const creation = await creationOf(deps, evaluationKind, request, { body, moves: [] });
  const draft = { ...creation, archived: true };
  const { caller } = request;
  const job = newJob(deps, caller, draft);
  const made = await makeJob(deps, request, draft, job, (tx) => requireRoomToSpend(tx, caller));
  const { job_id: jobId } = (made.earlier ? made.earlier.body : made.body) as { job_id: string };
  return jobId;
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
    const job = await deps.db.org(orgId, (tx) => readJob<EvaluationHead>(tx, jobId));
    if (!job) throw refuse.notFound(`evaluation ${jobId}`);
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

async function tried(tx: Tx, job: Evaluation): Promise<Tried> {
  const { jobId } = job;
  const { seeds } = await readSpec<EvaluationSpec>(tx, jobId);
  const outputs = await readSeedOutputs(tx, jobId, job.spec.rows ?? null, { limit: mostTried, offset: 0 });
  const known = new Map(outputs.map((output) => [output.seed, output]));
  const { meanReward } = await readTotals(tx, jobId);
  const { totalCostUsd } = await readUsage(tx, jobId);
  const { diagnosis } = await readEvaluationDiagnosis(tx, job);
  return {
    job_id: jobId,
    rows: seeds.map((row) => rowView(row, known.get(row), job)),
    mean_reward: meanReward,
    total_cost_usd: totalCostUsd,
    seconds: ((job.completedAt?.getTime() ?? Date.now()) - job.createdAt.getTime()) / 1_000,
    diagnosis,
    warnings: job.warnings,
  };
}

function rowView(row: number, found: SeedOutput | undefined, job: Evaluation): Tried['rows'][number] {
  if (!found) return { row, ...nothing, error: whyNotRun(job) };
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

function whyNotRun({ errorDetails, spec: { timeoutS } }: Evaluation) {
  if (errorDetails && errorDetails.code !== 'timeout')
    return { code: errorDetails.code, message: errorDetails.message };
  return { code: 'timed_out', message: `No answer within ${timeoutS} s. Try fewer rows, or a faster model.` };
}
