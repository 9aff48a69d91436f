import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { v7 as uuid } from 'uuid';
import type { z } from 'zod';
import { cacheScope } from '../../core/jobs/answer-cache.js';
import { spendQuotaExceeded } from '../../core/jobs/failures.js';
import { leftOutWarning } from '../../core/jobs/left-out.js';
import { jobKinds, kindOf } from '../../core/jobs/kinds.js';
import { isTerminal } from '../../core/jobs/status.js';
import { takeRecorded, type RecordedAnswer } from '../../storage/rollouts/call-records.js';
import { claimCallerRollout, resolveCall, type ResolvedCall } from '../../storage/rollouts/calls.js';
import { createCallParts } from '../../storage/rollouts/call-parts.js';
import type { Tx } from '../../storage/db/db.js';
import { refuseByQuota } from '../../storage/jobs/cost-budget.js';
import type { JobRef } from '../../storage/jobs/events.js';
import { warnJob } from '../../storage/jobs/warnings.js';
import { assignRollout, type LiveRollout } from '../../storage/rollouts/slots.js';
import { rolloutSpan } from '../../tracing/spans.js';
import type { App } from '../deps.js';
import { createContainerKeys } from '../server/container-keys.js';
import { ApiError, refuse } from '../server/errors.js';
import { graphCall } from './graph-call.js';
import type { ProxyCall, ProxyDeps } from './call.js';
import { boundUpstream, createCostReservations } from './budget.js';
import { Forwarder } from './forward.js';
import { createRecorder } from './record.js';
import { replay } from './replay.js';
import { type proxyParams, proxySchema, unjudged } from './schema.js';
import { createServedSnapshots } from './served-snapshots.js';
import { readChatBody, substitute, type ChatBody } from './request.js';
import { traceRequest } from '../server/request-span.js';
import type { UpstreamRequest } from './upstream-request.js';

const bodyLimit = 10 * 1024 * 1024;
const correlationPattern = /^[\x21-\x7e]{1,256}$/;

/** Registers the inference paths of sessions and evaluations. */
export function registerProxy(app: App, deps: ProxyDeps & { secretKey: Buffer }): void {
  const recorder = createRecorder(deps);
  const forwarder = new Forwarder(deps, recorder, 'policy');
  const purse = createCostReservations(deps);
  const snapshots = createServedSnapshots(deps.db);
  const parts = createCallParts();
  const keys = createContainerKeys(deps.secretKey);

  const answer = async (request: FastifyRequest, reply: FastifyReply): Promise<unknown> => {
    const { session_id: jobId, correlation_id: given } = request.params as z.infer<typeof proxyParams>;
    const sent = readChatBody(request.body);
    // A client that appends /v1/chat/completions to the session's URL has no correlation id.
    const correlationId = given === undefined || given === 'v1' ? `cor_${uuid().replaceAll('-', '')}` : given;
    if (!correlationPattern.test(correlationId)) {
      throw new ApiError(400, 'invalid_request', 'A correlation id has 1 to 256 visible ASCII characters.');
    }
    const { call, recorded } = await resolve(request, reply, { jobId, correlationId, sent });
    void reply.headers(callHeaders(call));
    const cached = recorded ? null : await recorder.recordCached(call);
    if (cached) void reply.header('x-ratchet-cache', 'hit');
    const known = recorded ?? cached;
    if (known) await replay(recorder, call, known, reply);
    else {
      await purse.reserve(call, reply);
      await forwarder.forward(call, reply).catch(async (error: unknown) => {
        if (error instanceof ApiError && error.code === spendQuotaExceeded) await noteRefusal(call);
        throw error;
      });
    }
    return reply;
  };

  /** Commits that a quota refused a rollout's call before its container can give a reward. */
  async function noteRefusal(call: ProxyCall): Promise<void> {
    // The quota of a key that calls from outside is not the job's.
    if (call.rollout.source !== 'service' || call.keyId !== null) return;
    const { presence } = deps.notifications;
    const refused = { id: `res_${uuid().replaceAll('-', '')}`, rolloutId: call.rollout.id, presence };
    await deps.db.org(call.orgId, (tx) => refuseByQuota(tx, call, refused));
  }

  /** Resolves a call in the database. */
  async function resolve(
    request: FastifyRequest,
    reply: FastifyReply,
    { jobId, correlationId, sent }: { jobId: string; correlationId: string; sent: ChatBody },
  ): Promise<{ call: ProxyCall; recorded: RecordedAnswer | null }> {
    const { orgId, keyId } = request.caller;
    const seed = seedOf(request.headers);
    const hasMissed = hasMissedAnswer(request.headers);
    const kind = kindOf(jobId);
    if (!kind || !jobKinds[kind].usesProxy) throw refuse.notFound('session');
    const { presence } = deps.notifications;
    return deps.db.orgApart(orgId, async (tx) => {
      const found = await resolveCall(tx, { jobId, correlationId, presence }, parts);
      if (!found) throw refuse.notFound('session');
      refuseEnded(found, keyId === null);
      const { policy } = found;
      const { provider } = policy;
      const asked = await keys.hide(tx, { orgId, jobId }, correlationId, sent);
      const body = found.frozen ? { ...asked, model: policy.model } : asked;
      // Validate before the claim: a bad request takes no slot.
      const asBest = substitute(body, policy, found);
      const job = { orgId, jobId };
      const { rollout, ...served } = await belongsTo(tx, job, found, correlationId, seed);
      const { candidateId, messages, demos } = served;
      // A call that names its seed gets fewer demonstrations of the same candidate.
      const { graphSnapshotId: graph } = found;
      const isBest = candidateId === found.candidateId && demos.length === found.demos.length;
      const filled = isBest ? asBest : substitute(body, policy, { ...found, messages, demos });
      const bounded = found.costBounded && rollout.source === 'service';
      const { upstream, reservation } = bounded
        ? boundUpstream(provider, filled)
        : { upstream: filled, reservation: null };
      const levers = found.kind === 'session' ? leversOf(filled, messages !== null) : null;
      const logged = { job_id: jobId, rollout_id: rollout.id };
      const trace = traceRequest(deps.tracing, request, reply, {
        // The caller's own traffic belongs to the traces of the caller.
        of: found.trace && rollout.source === 'service' ? rolloutSpan(found.trace, rollout.id) : null,
        attributes: { 'ratchet.job.id': jobId, 'ratchet.rollout.id': rollout.id },
      });
      const client = deps.providers.forPayer({ ...job, keyId }, trace);
      const call: ProxyCall = {
        ...{
          orgId,
          keyId,
          jobId,
          correlationId,
          rollout,
          candidateId,
          provider,
          client,
          upstream,
          reservation,
          levers,
          logged,
        },
        onLeft: (left) => warnOfLeft(job, { provider, model: upstream.model }, left),
        bytes: deps.bytes.of(request),
        permit: request.permit,
        // A graph makes several calls, and the caller's own traffic is not the job's.
        cacheScope:
          rollout.source === 'service' && graph === null ? cacheScope(found.answerCache, upstream.body) : null,
        // Not here: a caller that holds a connection must not wait for a second one.
        ...(graph !== null && graphCall(client, graph, body, () => snapshots.get(orgId, graph))),
      };
      const isRetry = rollout.source === 'service' && hasMissed;
      const { id: rolloutId, attempt, hasRecorded } = rollout;
      const wanted = { rolloutId, requestHash: call.upstream.hash, attempt, presence, isRetry };
      return { call, recorded: hasRecorded || isRetry ? await takeRecorded(tx, wanted) : null };
    });
  }

  function warnOfLeft(job: JobRef, model: { provider: string; model: string }, left: string[]): void {
    const warning = leftOutWarning(model, left);
    if (warning === null) return;
    warnJob(deps.db, job, warning).catch((err: unknown) =>
      deps.log.warn({ err, job_id: job.jobId }, 'warning not kept'),
    );
  }

  const base = '/api/gepa/v1/:session_id';
  for (const [path, operationId] of [
    ['', 'callCandidate'],
    ['/:correlation_id', 'callCandidateForRollout'],
    ['/:correlation_id/v1', 'callCandidateForRolloutV1'],
  ] as const) {
    app.post(
      `${base}${path}/chat/completions`,
      {
        bodyLimit,
        ...deps.bytes.hooks,
        helmet: false,
        config: { access: 'inference' },
        validatorCompiler: unjudged,
        schema: proxySchema(operationId, path !== ''),
      },
      answer,
    );
  }
  app.addHook('onClose', () => forwarder.settled());
}

/** The rollout and candidate of a call; claims a new correlation id. */
async function belongsTo(
  tx: Tx,
  job: JobRef,
  { rollout, live, candidateId, messages, demos }: ResolvedCall,
  correlationId: string,
  seed: number | null,
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

function callHeaders({ rollout, candidateId, correlationId }: ProxyCall): Record<string, string> {
  return {
    'x-gepa-rollout-idx': String(rollout.idx),
    'x-gepa-rollout-id': rollout.id,
    'x-gepa-correlation-id': correlationId,
    ...(candidateId !== null && { 'x-gepa-candidate-id': candidateId }),
  };
}
