/** POST …/extend: a session that has ended goes on with larger limits. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import {
  extendSessionSchema,
  limitNames,
  sessionExtendedSchema,
  type ExtendSession,
  type LimitName,
} from '../contract/extension.js';
import { algorithmOf, extendSearch, type SearchSettings } from '../../../core/algorithms/index.js';
import { limitTrials } from '../../../core/algorithms/mipro.js';
import type { SessionSpec } from '../../../core/jobs/spec.js';
import { unitOf } from '../../../core/jobs/unit.js';
import { endsAtOnce } from '../../../core/jobs/endings.js';
import { requestPath } from '../../../core/search/request.js';
import { isTerminal, type Status } from '../../../core/jobs/status.js';
import { claimForCreate, storeAnswer } from '../../../access/store/idempotency.js';
import { changePayer } from '../../../access/store/spend-quota.js';
import { putSecret } from '../../../access/store/secrets.js';
import type { Tx } from '../../../platform/db/db.js';
import { readCostBudget } from '../../../jobs/store/cost-budget.js';
import { lockJob } from '../../../jobs/store/events.js';
import { reopenSession } from '../../../jobs/store/extensions.js';
import { readJob, type JobRow, type SessionHead } from '../../../jobs/store/jobs.js';
import { readSpec } from '../../../jobs/store/spec.js';
import { readSearch, type RecordedSearch } from '../../../jobs/store/step-log.js';
import type { App, HttpDeps } from '../../../platform/http/deps.js';
import { whyUnstartable, startInTime } from '../../../jobs/routes/create.js';
import type { JobRoute } from '../../../jobs/routes/kind.js';
import { requireRoomForJob } from '../../../jobs/routes/quota.js';
import { requireExtendable } from '../../../jobs/routes/expired.js';
import { ApiError, pointerOf, refuse, type FieldError } from '../../../platform/http/server/errors.js';
import { answerOf, replay } from '../../../platform/http/server/idempotency.js';
import { bodyProblems, idempotencyHeader, sessionParams } from '../../../platform/http/server/schema.js';

type Job = JobRow<SessionHead>;

export function registerExtension(app: App, deps: HttpDeps, { path, tags, find }: JobRoute<SessionHead>): void {
  app.post(
    `${path}/extend`,
    {
      config: { idempotency: 'create' },
      schema: {
        tags,
        operationId: 'extendSession',
        summary: 'Go on after the end with larger limits',
        params: sessionParams,
        headers: idempotencyHeader,
        body: extendSessionSchema,
        response: { 200: sessionExtendedSchema, ...bodyProblems(404, 409, 410) },
      },
    },
    async (request, reply) => extendSession(deps, request, reply, await find(request), request.body ?? {}),
  );
}

/** Opens a session again and starts its next run; the Idempotency-Key commits with it. */
async function extendSession(
  deps: HttpDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  { jobId, orgId }: Job,
  body: ExtendSession,
): Promise<FastifyReply> {
  const { idempotent } = request;
  const unstartable = await whyUnstartable(deps);
  const extended = await deps.db.org(orgId, async (tx) => {
    const earlier = idempotent && answerOf(await claimForCreate(tx, idempotent));
    if (earlier) return { earlier };
    if (unstartable) throw unstartable;
    const { run } = await lockJob(tx, { orgId, jobId });
    const job = (await readJob<SessionHead>(tx, jobId))!;
    const spec = await checkedSpec(tx, job, run, body);
    const { keyId } = request.caller;
    await requireRoomForJob(tx, { orgId, keyId });
    // Who starts a run pays for it.
    await changePayer(tx, job, keyId);
    const workflowId = await reopenSession(tx, job, spec, limitsOf(body));
    if (body.container_api_key !== undefined) {
      const { origin } = new URL(spec.container!.url);
      await putSecret(tx, deps.secretKey, { orgId, jobId, name: 'container_api_key', origin }, body.container_api_key);
    }
    const answer: z.output<typeof sessionExtendedSchema> = {
      session_id: jobId,
      job_id: jobId,
      status: 'running',
      run: run + 1,
      workflow_id: workflowId,
      temporal_url: deps.temporalUrl(workflowId),
    };
    if (idempotent) await storeAnswer(tx, idempotent, { status: 200, headers: {}, body: answer });
    return { answer, job: { ...job, workflowId } };
  });
  if ('earlier' in extended) return replay(reply, extended.earlier!);
  await startInTime(deps, extended.job);
  return reply.send(extended.answer);
}

function limitsOf(body: ExtendSession): Partial<Record<LimitName, number>> {
  return Object.fromEntries(limitNames.flatMap((name) => (body[name] === undefined ? [] : [[name, body[name]]])));
}

/** The spec with the new limits; throws where the session cannot go on. */
async function checkedSpec(tx: Tx, job: Job, run: number, body: ExtendSession): Promise<SessionSpec> {
  const { jobId, status } = job;
  if (!isTerminal(status)) {
    throw new ApiError(
      409,
      'invalid_state',
      `The session is ${status}. Extend it once it has ended, or cancel it first.`,
      { extra: { current_status: status } },
    );
  }
  requireExtendable(job);
  const [before, recorded, cost] = await Promise.all([
    readSpec<SessionSpec>(tx, jobId),
    readSearch(tx, jobId),
    readCostBudget(tx, jobId),
  ]);
  if (before.rollouts === 'caller') throw notExtendable(status, 'Sessions over live traffic cannot be extended');
  if (recorded?.run !== run) throw notExtendable(status, 'The session ended without a state that it could go on from');
  const spec = raise(before, body);
  const errors = [
    ...limitErrors(before, body),
    ...keyErrors(before, body),
    ...algorithmOf(spec.search)
      .configProblems(spec.search)
      .map(({ field, message }) => {
        return { pointer: pointerOf([requestPath(spec.search.algorithm, field).at(-1)!]), message };
      }),
  ];
  if (errors.length > 0) throw refuse.invalid(errors);
  const isCostSpent = job.stoppedBy === 'max_cost_usd' && spec.budget.maxCostUsd === cost?.maxUsd;
  const endsBy = isCostSpent ? 'max_cost_usd' : whyEnded(spec, recorded);
  if (endsBy !== null) {
    const detail = endsAtOnce(endsBy, unitOf(spec));
    throw new ApiError(409, 'nothing_to_extend', detail, { extra: { current_status: status } });
  }
  return spec;
}

/** Why the search would end at once with the limits of `spec`; null: it goes on. */
function whyEnded(spec: SessionSpec, recorded: RecordedSearch): string | null {
  // No minutes help a search that has nothing left to do.
  const found = extendSearch(recorded.search.state, spec.search);
  if ('endsBy' in found) return found.endsBy;
  return isTimeSpent(spec, recorded) ? 'max_minutes' : null;
}

function isTimeSpent({ budget: { maxMinutes } }: SessionSpec, { usedMs }: RecordedSearch): boolean {
  return maxMinutes !== null && usedMs >= maxMinutes * 60_000;
}

function notExtendable(status: Status, reason: string): ApiError {
  const detail = `${reason}. Clone it to start again from its request.`;
  return new ApiError(409, 'not_extendable', detail, { extra: { current_status: status } });
}

function raise(spec: SessionSpec, body: ExtendSession): SessionSpec {
  const { search, budget } = spec;
  const maxRollouts = body.max_rollouts ?? search.maxRollouts;
  const raised: SearchSettings =
    search.algorithm === 'gepa'
      ? { ...search, maxRollouts, generations: body.generations ?? search.generations }
      : { ...search, maxRollouts, ...limitTrials(maxRollouts, body.num_trials ?? search.trials) };
  return {
    ...spec,
    search: raised,
    budget: {
      maxCostUsd: body.max_cost_usd ?? budget.maxCostUsd,
      maxMinutes: body.max_minutes ?? budget.maxMinutes,
    },
  };
}

/** Limits that the session does not have, and limits that are not raised. */
function limitErrors({ search, budget }: SessionSpec, body: ExtendSession): FieldError[] {
  const present: Record<LimitName, number | null> = {
    max_rollouts: search.maxRollouts,
    max_cost_usd: budget.maxCostUsd,
    max_minutes: budget.maxMinutes,
    generations: search.algorithm === 'gepa' ? search.generations : null,
    num_trials: search.algorithm === 'mipro' ? search.trials : null,
  };
  return limitNames.flatMap((name) => {
    const [wanted, now] = [body[name], present[name]];
    if (wanted === undefined || (now !== null && wanted > now)) return [];
    const message = now === null ? 'is no limit of this session: remove it' : `must be more than ${now}`;
    return [{ pointer: pointerOf([name]), message }];
  });
}

function keyErrors({ container }: SessionSpec, body: ExtendSession): FieldError[] {
  const needsKey = container?.hasApiKey ?? false;
  if (needsKey === (body.container_api_key !== undefined)) return [];
  const message = needsKey
    ? 'is required: the key was deleted when the session ended'
    : 'is not used: the session was created without one';
  return [{ pointer: pointerOf(['container_api_key']), message }];
}
