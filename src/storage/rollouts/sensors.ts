import type { Stage } from '../../core/search/protocol.js';
import type { SessionSpec } from '../../core/jobs/spec.js';
import type { Tx } from '../db/db.js';
import { jsonFields } from '../db/json-fields.js';
import type { JobRef } from '../jobs/events.js';
import { countedReward } from './totals.js';

/** A frame names so many traces at most; its rollout sensor says of how many rollouts it is. */
export const maxTraces = 100;

/** Which outcomes are put into frames: those with an ordinal from `from` up to `through` (exclusive), a batch; with `rest`, those beyond as well. */
export interface FrameRange {
  from: number;
  through: number;
  rest: boolean;
}

/**
 * Puts a session's finished rollouts into frames, one for each candidate, stage and generation; what is beyond `through` into frames of its own. Done
 * again it adds nothing. Call it under `lockJob`, once for each rollout.
 *
 * Of a cost that is not known the sum is not known either: a rollout without one either made no call or made one without a price, which only its calls tell.
 */
export async function recordFrames(tx: Tx, job: JobRef, { from, through, rest }: FrameRange): Promise<void> {
  await tx.query(
    `insert into sensor_frames (job_id, ordinal, org_id, candidate_id, stage, generation, trace_ids, rollout, reward, resource)
     select $1, min(ordinal), $2, candidate_id, stage, generation, (array_agg(id order by ordinal))[1:$6],
            jsonb_build_object('count', count(*), 'succeeded', count(*) filter (where status = 'succeeded'),
                               'failed', count(*) filter (where status = 'failed'), 'resent', sum(resent)),
            case when count(counted) > 0 then
              jsonb_build_object('count', count(counted), 'mean', sum(counted order by ordinal) / count(counted),
                                 -- numeric: the squares of the largest rewards overflow a float8, which Postgres refuses
                                 'sd', stddev_samp(counted::numeric)::float8, 'min', min(counted), 'max', max(counted)) end,
            case when count(prompt_tokens) + count(completion_tokens) + count(cost_usd) + count(latency_ms) > 0 then
              jsonb_build_object('prompt_tokens', sum(prompt_tokens), 'completion_tokens', sum(completion_tokens),
                                 'cost_usd', case when not bool_or(unpriced) then sum(cost_usd) end,
                                 'latency_ms_p50', percentile_disc(0.5) within group (order by latency_ms),
                                 'latency_ms_p95', percentile_disc(0.95) within group (order by latency_ms),
                                 'latency_ms_max', max(latency_ms), 'concurrency', (${concurrency})) end
       from (select *, case when status = 'succeeded' then ${countedReward} end as counted,
                    cost_usd is null and exists (select from model_calls c where c.job_id = $1 and c.rollout_id = r.id) as unpriced
               from rollouts r
              where job_id = $1 and ordinal >= $3 and ($5 or ordinal < $4) and status in ('succeeded', 'failed')) r
      group by candidate_id, stage, generation, ordinal >= $4
     on conflict (job_id, ordinal) do nothing`,
    [job.jobId, job.orgId, from, through, rest, maxTraces],
  );
}

/** How many rollouts the job $1 may have in flight; null where its callers decide that. */
const spec = jsonFields<SessionSpec>('j.spec');
const concurrency = `select least(c.concurrency, ${spec.text('maxConcurrent')}::int)
  from jobs j join job_controls c on c.job_id = j.id where j.id = $1 and ${spec.text('rollouts')} is distinct from 'caller'`;

/** What each sensor read, in the words of the answer; a sum or a quantile of nothing is null. */
interface RolloutSensor {
  count: number;
  succeeded: number;
  failed: number;
  resent: number;
}
interface RewardSensor {
  count: number;
  mean: number;
  sd: number | null;
  min: number;
  max: number;
}
interface ResourceSensor {
  prompt_tokens: number | null;
  completion_tokens: number | null;
  cost_usd: number | null;
  latency_ms_p50: number | null;
  latency_ms_p95: number | null;
  latency_ms_max: number | null;
  concurrency: number | null;
}

/** A frame as it is stored. */
export interface FrameRow extends Record<string, unknown> {
  ordinal: number;
  candidateId: string;
  /** The candidate's. */
  leverVersion: number;
  stage: Stage;
  generation: number;
  traceIds: string[];
  rollout: RolloutSensor | null;
  reward: RewardSensor | null;
  resource: ResourceSensor | null;
  createdAt: Date;
}

const frames = `select f.ordinal, f.candidate_id as "candidateId", c.lever_version as "leverVersion", f.stage, f.generation,
    f.trace_ids as "traceIds", f.rollout, f.reward, f.resource, f.created_at as "createdAt"
  from sensor_frames f join candidates c on c.id = f.candidate_id where f.job_id = $1`;

/** A session's frames after the ordinal `after`, at most `limit`, in the order of their creation. */
export async function readFrames(
  tx: Tx,
  jobId: string,
  { after, limit }: { after: number; limit: number },
): Promise<FrameRow[]> {
  return tx.query<FrameRow>(`${frames} and f.ordinal > $2 order by f.ordinal limit $3`, [jobId, after, limit]);
}

/** A session's latest frames, at most `limit`, in the order of their creation, and how many it has in all. */
export async function readLatestFrames(
  tx: Tx,
  jobId: string,
  limit: number,
): Promise<{ frames: FrameRow[]; count: number }> {
  const [latest, counted] = await Promise.all([
    tx.query<FrameRow>(`${frames} order by f.ordinal desc limit $2`, [jobId, limit]),
    tx.query<{ n: number }>('select count(*) as n from sensor_frames where job_id = $1', [jobId]),
  ]);
  return { frames: latest.reverse(), count: counted[0]!.n };
}
