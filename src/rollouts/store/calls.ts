import { createHash } from 'node:crypto';
import type { AnswerCache } from '../../core/jobs/answer-cache.js';
import { demosForSeed, type Demo } from '../../core/prompts/demos.js';
import type { PolicySpec } from '../../core/jobs/policy.js';
import type { Message } from '../../core/prompts/message.js';
import type { JobTrace } from '../../core/jobs/trace.js';
import type { Tx } from '../../platform/db/db.js';
import { jsonFields } from '../../platform/db/json-fields.js';
import type { JobRef } from '../../jobs/store/events.js';
import type { SessionProjection } from '../../jobs/store/projection.js';
import type { CallParts } from './call-parts.js';
import { candidateId } from '../../core/jobs/ids.js';

/** The rollout of a call. `caller`: the caller's own traffic, not run by the service. */
export interface CallRollout {
  id: string;
  idx: number;
  source: 'service' | 'caller';
  /** The claim of the running rollout; 0: the caller's own traffic. */
  attempt: number;
  /** Whether this attempt may have recorded answers left to replay. */
  hasRecorded: boolean;
}

/** Data that the proxy needs for one call. */
export interface ResolvedCall {
  kind: 'session' | 'evaluation';
  status: 'pending' | 'running' | 'paused' | 'completed' | 'failed' | 'cancelled';
  policy: PolicySpec;
  answerCache: AnswerCache | null;
  /** Whether the job has a cost budget. */
  costBounded: boolean;
  /** Seconds until a reward is due; null: new correlation ids are no rollouts of the search. */
  live: { rewardSeconds: number } | null;
  /** null: a new correlation id. */
  rollout: CallRollout | null;
  /** The rollout's candidate, else the best so far; null: the container runs its own prompt. */
  candidateId: string | null;
  /** The messages to substitute; null: none, or the baseline's prompt is not known yet. */
  messages: Message[] | null;
  /** The candidate's demonstrations without those of the rollout's own seed. */
  demos: Demo[];
  /** Whether the container marks them as spans. */
  marked: boolean;
  /** A gate evaluation: the deployment's policy replaces the call's model. */
  frozen: boolean;
  /** The frozen graph that answers instead of a model; null: a model. */
  graphSnapshotId: string | null;
  /** null: the job is not traced. */
  trace: JobTrace | null;
}

/** The rollout id of the caller's traffic under a correlation id. */
export function callerRolloutId(jobId: string, correlationId: string): string {
  const digest = createHash('sha256').update(correlationId).digest('hex');
  return `rol_${jobId.slice(4)}_c${digest.slice(0, 24)}`;
}

const projection = jsonFields<SessionProjection>('j.projection');

/**
 * Finds a job, the rollout of a correlation id and its candidate in one query; null: no such job.
 * `presence`: the process that answers. `parts`: the cache of what never changes.
 */
export async function resolveCall(
  tx: Tx,
  { jobId, correlationId, presence }: { jobId: string; correlationId: string; presence: number },
  parts: CallParts,
): Promise<ResolvedCall | null> {
  const [row] = await tx.query<{
    kind: ResolvedCall['kind'];
    status: ResolvedCall['status'];
    run: number;
    rollout_id: string | null;
    idx: number;
    source: CallRollout['source'];
    attempt: number;
    has_recorded: boolean;
    served: string;
    candidate_id: string | null;
    has_prompt: boolean;
    seed: number | null;
    marked: boolean | null;
  }>(
    `select j.kind, j.status, j.run, r.id as rollout_id, r.idx, r.source, r.attempt, r.seed,
            exists (select 1 from model_calls m where m.rollout_id = r.id and m.purpose <> 'caller' and m.http_status < 300
                                                 and (m.served_attempt < r.attempt
                                                      or (m.served_attempt = r.attempt and m.served_by <> $5))) as has_recorded,
            w.id as served, c.id as candidate_id, c.messages is not null as has_prompt, w.marked
       from jobs j
       left join lateral (
         select id, idx, source, attempt, seed, candidate_id from rollouts
          where job_id = j.id and ((id = $2 and source = 'service') or (id = $3 and source = 'caller'))
          order by source desc limit 1
       ) r on true
      cross join lateral (select coalesce(r.candidate_id, ${projection.text('bestCandidateId')}, $4) as id,
                                 ${projection.text('leversMarked')}::boolean as marked) w
       left join candidates c on c.id = w.id and c.job_id = j.id
      where j.id = $1 and not j.deleted and j.kind in ('session', 'evaluation')`,
    [jobId, correlationId, callerRolloutId(jobId, correlationId), candidateId(jobId, 0), presence],
    'resolve_call',
  );
  if (!row) return null;
  const { kind, status, served } = row;
  const [spec, prompt] = await Promise.all([
    parts.spec(tx, jobId, row.run),
    row.has_prompt ? parts.prompt(tx, served) : null,
  ]);
  if (!spec) return null;
  const { fixed } = spec;
  const messages =
    prompt?.messages ?? fixed?.messages ?? (served === candidateId(jobId, 0) ? spec.initialPrompt : null) ?? null;
  const rollout =
    row.rollout_id === null
      ? null
      : { id: row.rollout_id, idx: row.idx, source: row.source, attempt: row.attempt, hasRecorded: row.has_recorded };
  return {
    kind,
    status,
    policy: spec.policy,
    rollout,
    costBounded: spec.costBounded,
    answerCache: spec.answerCache,
    live: spec.live && status === 'running' ? spec.live : null,
    candidateId: kind === 'session' ? served : row.candidate_id,
    messages: messages?.length ? messages : null,
    marked: row.marked ?? fixed?.marked ?? false,
    demos: demosForSeed(prompt?.demos ?? fixed?.demos ?? [], row.seed),
    frozen: fixed?.frozen ?? false,
    graphSnapshotId: fixed?.graphSnapshotId ?? null,
    trace: spec.trace,
  };
}

/** Makes a new correlation id a rollout of its candidate; racing calls get the same one. */
export async function claimCallerRollout(
  tx: Tx,
  job: JobRef,
  claim: { correlationId: string; candidateId: string | null },
): Promise<CallRollout> {
  const id = callerRolloutId(job.jobId, claim.correlationId);
  const [claimed] = await tx.query<{ idx: number }>(
    `with bumped as (
       update job_controls set rollout_idx = rollout_idx + 1 where job_id = $1 returning rollout_idx - 1 as idx
     )
     insert into rollouts (id, org_id, job_id, idx, source, candidate_id, status)
     select $3, $2, $1, idx, 'caller', $4, 'open' from bumped
     on conflict (id) do nothing returning idx`,
    [job.jobId, job.orgId, id, claim.candidateId],
  );
  if (claimed) return { id, idx: claimed.idx, source: 'caller', attempt: 0, hasRecorded: false };
  const [existing] = await tx.query<{ idx: number }>('select idx from rollouts where id = $1', [id]);
  if (!existing) throw new Error(`Job "${job.jobId}" has no control row.`);
  return { id, idx: existing.idx, source: 'caller', attempt: 0, hasRecorded: false };
}
