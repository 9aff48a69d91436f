import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { v7 as uuid } from 'uuid';
import type { z } from 'zod';
import type { ModelClient } from '../client/providers.js';
import { cacheScope } from '../../core/jobs/answer-cache.js';
import { leftOutWarning } from '../../core/jobs/left-out.js';
import { jobKinds, kindOf } from '../../core/jobs/kinds.js';
import { isTerminal } from '../../core/jobs/status.js';
import { takeRecorded, type RecordedAnswer } from '../../rollouts/store/call-records.js';
import { claimCallerRollout, resolveCall, type CallRollout, type ResolvedCall } from '../../rollouts/store/calls.js';
import { createCallParts, type CallParts } from '../../rollouts/store/call-parts.js';
import type { Tx } from '../../platform/db/db.js';
import type { JobRef } from '../../jobs/store/events.js';
import { warnJob } from '../../jobs/store/warnings.js';
import { assignRollout, type LiveRollout } from '../../rollouts/store/slots.js';
import { rolloutSpan } from '../../tracing/spans.js';
import { createContainerKeys, type ContainerKeys } from '../../platform/http/server/container-keys.js';
import { ApiError, refuse } from '../../platform/http/server/errors.js';
import { correlationPattern } from '../../contracts/common.js';
import { traceRequest } from '../../platform/http/server/request-span.js';
import { graphCall } from './graph-call.js';
import type { ProxyCall, ProxyDeps } from './call.js';
import { boundUpstream } from './budget.js';
import type { proxyParams } from './schema.js';
import { createServedSnapshots, type ServedSnapshots } from './served-snapshots.js';
import { forGraph, type AnswerForm } from './forms/form.js';
import { readCall, substitute, type ChatBody } from './request.js';
import type { UpstreamRequest } from './upstream-request.js';

/** A request to the inference path of a job. */
interface Asked {
  request: FastifyRequest;
  reply: FastifyReply;
  job: JobRef;
  /** null: an inference key of the job. */
  keyId: string | null;
  correlationId: string;
  /** The seed that live traffic names; null: none. */
  seed: number | null;
  /** Whether the caller missed the answer to this call. */
  hasMissed: boolean;
  body: ChatBody;
  /** null: a chat completion. */
  form: AnswerForm | null;
}

/** The call with its candidate's text, under its rollout. */
type ClaimedCall = Pick<ProxyCall, 'rollout' | 'candidateId' | 'levers' | 'upstream' | 'reservation'>;

/** Resolves the calls of jobs. */
export class JobCalls {
  private readonly deps: ProxyDeps;
  private readonly keys: ContainerKeys;
  private readonly parts: CallParts = createCallParts();
  private readonly snapshots: ServedSnapshots;

  constructor(deps: ProxyDeps & { secretKey: Buffer }) {
    this.deps = deps;
    this.keys = createContainerKeys(deps.secretKey);
    this.snapshots = createServedSnapshots(deps.db);
  }

  /** The call to send; `recorded`: its answer, if it was given already. Claims a new rollout. */
  async resolve(
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<{ call: ProxyCall; recorded: RecordedAnswer | null }> {
    const asked = readAsked(request, reply);
    const { job, correlationId } = asked;
    const { presence } = this.deps.notifications;
    const kind = kindOf(job.jobId);
    if (!kind || !jobKinds[kind].usesProxy) throw refuse.notFound('session');
    return this.deps.db.orgApart(job.orgId, async (tx) => {
      const found = await resolveCall(tx, { jobId: job.jobId, correlationId, presence }, this.parts);
      if (!found) throw refuse.notFound('session');
      refuseEnded(found, asked.keyId === null);
      const hidden = await this.keys.hide(tx, job, correlationId, asked.body);
      const sent = { ...asked, body: found.frozen ? { ...hidden, model: found.policy.model } : hidden };
      const call = this.callOf(sent, found, await claim(tx, sent, found));
      const { id: rolloutId, source, attempt, hasRecorded } = call.rollout;
      const isRetry = source === 'service' && asked.hasMissed;
      const wanted = { rolloutId, requestHash: call.upstream.hash, attempt, presence, isRetry };
      return { call, recorded: hasRecorded || isRetry ? await takeRecorded(tx, wanted) : null };
    });
  }

  private callOf(asked: Asked, found: ResolvedCall, claimed: ClaimedCall): ProxyCall {
    const { request, job, keyId, correlationId, body, form } = asked;
    const { rollout, upstream } = claimed;
    const { graphSnapshotId: graph, policy } = found;
    const { provider } = policy;
    const client = this.clientOf(asked, found, rollout);
    return {
      ...job,
      keyId,
      correlationId,
      provider,
      client,
      form,
      ...claimed,
      logged: { job_id: job.jobId, rollout_id: rollout.id },
      onLeft: (left) => this.warnOfLeft(job, { provider, model: upstream.model }, left),
      bytes: this.deps.bytes.of(request),
      permit: request.permit,
      // A graph makes several calls, and the caller's own traffic is not the job's.
      cacheScope: rollout.source === 'service' && graph === null ? cacheScope(found.answerCache, upstream.body) : null,
      // Not here: a caller that holds a connection must not wait for a second one.
      ...(graph !== null && graphCall(client, graph, forGraph(body, form), () => this.snapshots.get(job.orgId, graph))),
    };
  }

  private clientOf({ request, reply, job, keyId }: Asked, { trace }: ResolvedCall, rollout: CallRollout): ModelClient {
    const traced = traceRequest(this.deps.tracing, request, reply, {
      // The caller's own traffic belongs to the traces of the caller.
      of: trace && rollout.source === 'service' ? rolloutSpan(trace, rollout.id) : null,
      attributes: { 'ratchet.job.id': job.jobId, 'ratchet.rollout.id': rollout.id },
    });
    return this.deps.providers.forPayer({ ...job, keyId }, traced);
  }

  private warnOfLeft(job: JobRef, model: { provider: string; model: string }, left: string[]): void {
    const warning = leftOutWarning(model, left);
    if (warning === null) return;
    warnJob(this.deps.db, job, warning).catch((err: unknown) =>
      this.deps.log.warn({ err, job_id: job.jobId }, 'warning not kept'),
    );
  }
}

/** Validates a call before it claims a rollout: a bad request takes no slot. */
async function claim(tx: Tx, asked: Asked, found: ResolvedCall): Promise<ClaimedCall> {
  const { body } = asked;
  const { policy, kind, costBounded } = found;
  const asBest = substitute(body, policy, found);
  const { rollout, candidateId, messages, demos } = await rolloutOf(tx, asked, found);
  // A call that names its seed gets fewer demonstrations of the same candidate.
  const isBest = candidateId === found.candidateId && demos.length === found.demos.length;
  const filled = isBest ? asBest : substitute(body, policy, { ...found, messages, demos });
  const bounded =
    costBounded && rollout.source === 'service'
      ? boundUpstream(policy.provider, filled)
      : { upstream: filled, reservation: null };
  const levers = kind === 'session' ? leversOf(filled, messages !== null) : null;
  return { rollout, candidateId, levers, ...bounded };
}

/** The rollout and candidate of a call; claims a new correlation id. */
async function rolloutOf(
  tx: Tx,
  { job, correlationId, seed }: Asked,
  { rollout, live, candidateId, messages, demos }: ResolvedCall,
): Promise<LiveRollout> {
  if (rollout) return { rollout, candidateId, messages, demos };
  if (live) return assignRollout(tx, job, { correlationId, seed, bestCandidateId: candidateId, ...live });
  return { rollout: await claimCallerRollout(tx, job, { correlationId, candidateId }), candidateId, messages, demos };
}

/** Recorded marks of a request: texts while the prompt is unknown, later names; null: no marks. */
function leversOf({ spans, components }: UpstreamRequest, isPromptKnown: boolean): ProxyCall['levers'] {
  const levers = isPromptKnown ? components.map((name) => ({ name })) : spans;
  return levers.length > 0 ? levers : null;
}

function readAsked(request: FastifyRequest, reply: FastifyReply): Asked {
  const { session_id: jobId, correlation_id: given } = request.params as z.infer<typeof proxyParams>;
  const { orgId, keyId } = request.caller;
  const { body, form } = readCall(request);
  // A client that appends /v1/chat/completions to the session's URL has no correlation id.
  const correlationId = given === undefined || given === 'v1' ? `cor_${uuid().replaceAll('-', '')}` : given;
  if (!correlationPattern.test(correlationId)) {
    throw new ApiError(400, 'invalid_request', 'A correlation id has 1 to 256 visible ASCII characters.');
  }
  const seed = seedOf(request.headers);
  const hasMissed = hasMissedAnswer(request.headers);
  return { request, reply, job: { orgId, jobId }, keyId, correlationId, seed, hasMissed, body, form };
}

/**
 * Whether the caller missed the answer to this call. Not by the retry count of OpenAI's clients: it
 * also counts refused calls, which another sample of the same request does not answer.
 */
function hasMissedAnswer({ 'x-ratchet-retry': retry = 'false' }: IncomingHttpHeaders): boolean {
  if (retry === 'true' || retry === 'false') return retry === 'true';
  throw new ApiError(400, 'invalid_request', 'x-ratchet-retry must be true or false.');
}

/** The seed in `x-ratchet-seed` of live traffic, for paired comparisons. */
function seedOf({ 'x-ratchet-seed': given }: IncomingHttpHeaders): number | null {
  if (given === undefined) return null;
  const seed = typeof given === 'string' && /^\d{1,16}$/.test(given) ? Number(given) : NaN;
  if (Number.isSafeInteger(seed)) return seed;
  throw new ApiError(400, 'invalid_request', 'x-ratchet-seed must be a whole number: the seed of the call.');
}

/** A job's key ends with its job; an organization's key gets the reason. */
function refuseEnded({ status, kind }: ResolvedCall, byInferenceKey: boolean): void {
  if (byInferenceKey && isTerminal(status)) {
    throw new ApiError(401, 'inference_key_expired', `This inference key ended with its ${kind}, which is ${status}.`, {
      headers: { 'www-authenticate': 'Bearer realm="ratchet"' },
    });
  }
  if (status !== 'cancelled' && status !== 'failed') return;
  throw new ApiError(
    409,
    `${kind}_${status}`,
    `The ${kind} is ${status}, so it serves no candidate; create a new one.`,
    {
      headers: { 'x-should-retry': 'false' },
    },
  );
}
