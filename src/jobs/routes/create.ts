import type { FastifyReply, FastifyRequest } from 'fastify';
import { workflowId, type JobKind } from '../../core/jobs/kinds.js';
import type { StoredSpec } from '../../core/jobs/spec.js';
import type { JobTrace } from '../../core/jobs/trace.js';
import type { Tx } from '../../platform/db/db.js';
import type { Labels } from '../../contracts/labels.js';
import type { JobRef } from '../store/events.js';
import { claimForCreate, storeAnswer, type StoredAnswer } from '../../access/store/idempotency.js';
import { insertJob, newJobId, sizeOf, type JobOrigin, type NewJob } from '../store/jobs.js';
import { insertTrace } from '../store/traces.js';
import { insertWebhook } from '../store/webhooks.js';
import { putSecret } from '../../access/store/secrets.js';
import type { CommandedJob } from '../../platform/temporal/commands.js';
import { defaultTiming, type HttpDeps } from '../../platform/http/deps.js';
import { ApiError, refuse } from '../../platform/http/server/errors.js';
import { answerOf, replay } from '../../platform/http/server/idempotency.js';
import { isDryRun } from './dry-run.js';
import { settleWithin } from '../../platform/http/server/in-time.js';
import { requireRoomForBytes, requireRoomForJob } from './quota.js';
import { createWarnings } from './warnings.js';

/** A job that is checked: the rows to store. */
export interface JobDraft {
  kind: JobKind;
  spec: StoredSpec;
  algorithm: string | null;
  correlationId: string | null;
  /** The request without secrets and labels, in the form that the create takes, for clones. */
  request?: object;
  /** Bytes of rows that its owner stores a second time. */
  copiedBytes?: number | undefined;
  containerApiKey?: string | undefined;
  labels: Labels;
  webhookUrl: string | null | undefined;
  /** Those about the form of the request. */
  warnings: string[];
  /** Pending until started. */
  pending?: boolean;
  /** Left out of lists from the start. */
  archived?: boolean;
  branchedFrom?: JobOrigin;
  /** Stores or locks what the job refers to. */
  prepare?: ((tx: Tx) => Promise<void>) | undefined;
  /** Stores the job's rows besides its spec; returns what the response says of them. */
  store?(tx: Tx, job: JobRef): Promise<object | void>;
}

/** A validated create request: its job and the response, without `warnings`. */
export interface Creation extends JobDraft {
  location(jobId: string): string;
  answer(job: { jobId: string; workflowId: string }): Record<string, unknown>;
}

/** Who a job is for. `keyId` null: the service. */
export interface JobOwner {
  orgId: string;
  keyId: string | null;
}

/** The row of a job. Throws 422 if the service may not call its webhook. */
export function newJob(
  deps: Pick<HttpDeps, 'checkWebhookUrl' | 'publicUrl'>,
  { orgId, keyId }: JobOwner,
  draft: JobDraft,
  jobId = newJobId(draft.kind),
): NewJob {
  const { kind, spec, algorithm, correlationId, labels, request, copiedBytes, webhookUrl, branchedFrom } = draft;
  const reason = webhookUrl ? deps.checkWebhookUrl(webhookUrl) : null;
  if (reason !== null) throw refuse.invalid([{ pointer: '/webhook_url', message: reason }]);
  return {
    orgId,
    keyId,
    jobId,
    kind,
    workflowId: workflowId(kind, jobId),
    algorithm,
    correlationId,
    spec,
    request,
    copiedBytes,
    pending: draft.pending ?? false,
    archived: draft.archived ?? false,
    warnings: [...new Set([...draft.warnings, ...createWarnings(spec, deps.publicUrl)])],
    labels,
    branchedFrom,
  };
}

/**
 * Stores a job with its secret, if its owner has room for it. Returns what `store` says. The caller
 * starts its workflow, else the reconciler does.
 */
export async function storeJob(
  tx: Tx,
  { secretKey }: Pick<HttpDeps, 'secretKey'>,
  job: NewJob,
  { prepare, store, webhookUrl, containerApiKey, spec }: JobDraft,
  trace?: JobTrace,
): Promise<object | void> {
  const { orgId, jobId } = job;
  // Before the room is measured: the rows that it stores count.
  await prepare?.(tx);
  await requireRoom(tx, job);
  await insertJob(tx, job);
  if (trace) await insertTrace(tx, job, trace);
  if (webhookUrl) await insertWebhook(tx, job, webhookUrl);
  const stored = await store?.(tx, job);
  if (containerApiKey !== undefined && spec.container) {
    const { origin } = new URL(spec.container.url);
    await putSecret(tx, secretKey, { orgId, jobId, name: 'container_api_key', origin }, containerApiKey);
  }
  return stored;
}

/**
 * Stores a job with its Idempotency-Key in one transaction, then starts its workflow. If the start
 * is delayed the response is the same, and the reconciler starts it. A dry run answers its estimate
 * instead.
 */
export async function create(
  deps: HttpDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  creation: Creation,
): Promise<FastifyReply> {
  const job = newJob(deps, request.caller, creation);
  if (isDryRun(request)) {
    await deps.db.org(job.orgId, (tx) => requireRoom(tx, job));
    const { estimate, split, planned_comparison } = creation.answer(job);
    return reply.code(200).send({ estimate, split, planned_comparison, warnings: job.warnings });
  }
  const made = await makeJob(deps, request, creation, job);
  if (made.earlier) return replay(reply, made.earlier);
  return reply.code(201).headers(headersOf(creation, job)).send(made.body);
}

const headersOf = ({ location }: Creation, { jobId }: NewJob) => ({ location: location(jobId) });

/** Stores a job with the answer to its Idempotency-Key, and starts it; or finds that answer. */
export async function makeJob(
  deps: HttpDeps,
  request: FastifyRequest,
  creation: Creation,
  job: NewJob,
  /** Throws what the owner has no room for. */
  checkRoom?: (tx: Tx) => Promise<void>,
): Promise<{ earlier: StoredAnswer } | { earlier?: never; body: Record<string, unknown> }> {
  const { warnings } = job;
  const answer = creation.answer(job);
  const unstartable = await whyUnstartable(deps);
  const { traceparent } = request.headers;
  const trace = deps.tracing?.begin(typeof traceparent === 'string' ? traceparent : null);
  const { idempotent } = request;
  const made = await deps.db.org(job.orgId, async (tx) => {
    const earlier = idempotent && answerOf(await claimForCreate(tx, idempotent));
    if (earlier) return { earlier };
    if (unstartable) throw unstartable;
    await checkRoom?.(tx);
    const stored = await storeJob(tx, deps, job, creation, trace);
    const body = { ...answer, ...stored, ...(warnings?.length && { warnings }) };
    if (idempotent) await storeAnswer(tx, idempotent, { status: 201, headers: headersOf(creation, job), body });
    return { body };
  });
  if (!made.earlier && !job.pending) await startInTime(deps, job);
  return made;
}

async function requireRoom(tx: Tx, job: NewJob): Promise<void> {
  await requireRoomForJob(tx, job);
  await requireRoomForBytes(tx, job.orgId, sizeOf(job));
}

/** The refusal of what cannot start; null: it can, now or once Temporal is back. */
export async function whyUnstartable({ startProblem, timing }: HttpDeps): Promise<ApiError | null> {
  let problem: string | null = null;
  await settleWithin(
    startProblem().then((found) => (problem = found)),
    timing?.startWaitMs ?? defaultTiming.startWaitMs,
  );
  if (problem === null) return null;
  return new ApiError(503, 'search_attributes_missing', problem, { headers: { 'retry-after': '5' } });
}

/** Starts a job's workflow; waits for a limited time. */
export async function startInTime({ commander, log, timing }: HttpDeps, job: CommandedJob): Promise<void> {
  const started = commander.start(job).catch((error: unknown) => {
    log.warn({ err: error, job_id: job.jobId }, 'the workflow was not started; the reconciler will start it');
  });
  await settleWithin(started, timing?.startWaitMs ?? defaultTiming.startWaitMs);
}
