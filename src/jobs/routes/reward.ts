import type { FastifyReply } from 'fastify';
import { rewardAnswerSchema, rewardSchema, rewardValue, type RewardRequest } from '../../contracts/control.js';
import type { JobRow } from '../store/jobs.js';
import { recordReward, type ReportedReward, type RewardOutcome } from '../../rollouts/store/rewards.js';
import type { Tx } from '../../platform/db/db.js';
import { command } from './control.js';
import type { App, HttpDeps } from '../../platform/http/deps.js';
import { createContainerKeys, type ContainerKeys } from '../../platform/http/server/container-keys.js';
import { ApiError } from '../../platform/http/server/errors.js';
import { bodyProblems, idempotencyHeader } from '../../platform/http/server/schema.js';
import type { JobRoute } from './kind.js';
import { idFields } from './view.js';

export function registerReward(app: App, deps: HttpDeps, { path, params, tags, name, find }: JobRoute): void {
  const keys = createContainerKeys(deps.secretKey);
  app.post(
    `${path}/reward`,
    {
      config: { audit: 'none' },
      schema: {
        tags,
        operationId: `report${name}Reward`,
        summary: 'Report a reward',
        params,
        headers: idempotencyHeader,
        body: rewardSchema,
        response: { 200: rewardAnswerSchema, 202: rewardAnswerSchema, ...bodyProblems(404, 409) },
      },
    },
    async (request, reply) =>
      reward(deps, reply, await find(request), { body: request.body, keyId: request.caller.keyId }, keys),
  );
}

/** Records a reported reward, once per rollout. `stop` then completes the job. */
async function reward(
  deps: HttpDeps,
  reply: FastifyReply,
  job: JobRow,
  { body, keyId }: { body: RewardRequest; keyId: string | null },
  keys: ContainerKeys,
): Promise<FastifyReply> {
  const value = rewardValue(body);
  const record = async (tx: Tx, reward: number): Promise<RewardOutcome> => {
    const hidden = await keys.hide(tx, job, body.rollout_id ?? body.correlation_id ?? null, body);
    return recordReward(tx, job, reported(reward, hidden));
  };
  const outcome = value === null ? null : await deps.db.org(job.orgId, (tx) => record(tx, value));
  if (outcome) refuseUnless(outcome);
  if (outcome?.wakes) wake(deps, job);
  const known = {
    ...idFields(job.jobId),
    reward: value,
    rollout_id: outcome?.rolloutId ?? null,
    counted: outcome !== null,
    warning: outcome?.unseen ? unseenWarning(body) : null,
  };
  if (!body.stop) return reply.code(200).send({ ...known, status: outcome?.status ?? job.status });
  const stopped = await command(deps, job, { kind: 'stop', keyId });
  return reply.code(stopped.code).send({ ...known, ...stopped.body });
}

function unseenWarning({ rollout_id: rollout, correlation_id: correlation }: RewardRequest): string {
  const id = rollout === undefined ? `correlation id "${correlation}"` : `rollout id "${rollout}"`;
  return `No call of this session had the ${id} so far. The reward counts once one has; check the id.`;
}

/** Signals that live rollouts are complete; the reconciler repeats a lost signal. */
function wake({ commander, log }: HttpDeps, job: JobRow): void {
  commander.wake(job).catch((error: unknown) => {
    log.warn({ err: error, job_id: job.jobId }, 'reward signal failed; the reconciler will repeat it');
  });
}

function reported(value: number, body: RewardRequest): ReportedReward {
  return {
    reward: value,
    rolloutId: body.rollout_id ?? null,
    correlationId: body.correlation_id ?? null,
    candidateId: body.candidate_id ?? null,
    details: body.reward_info?.['details'] ?? body.reward_info ?? null,
    body,
  };
}

function refuseUnless({ is, status, rolloutId, recorded }: RewardOutcome): void {
  const extra = { current_status: status };
  switch (is) {
    case 'counted':
    case 'duplicate':
      return;
    case 'conflict':
      throw new ApiError(409, 'reward_conflict', `Rollout ${rolloutId} already has the reward ${recorded}.`, { extra });
    case 'late':
      throw new ApiError(
        409,
        'rollout_closed',
        `Rollout ${rolloutId} ended before this reward, which is stored but not counted.`,
        { extra },
      );
    case 'closed':
      throw new ApiError(409, 'invalid_state', `The job is ${status}; the reward does not count.`, {
        extra,
      });
  }
}
