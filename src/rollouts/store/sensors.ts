import type { Stage } from '../../core/search/protocol.js';
import type { SessionSpec } from '../../core/jobs/spec.js';
import type { Tx } from '../../platform/db/db.js';
import { jsonFields } from '../../platform/db/json-fields.js';
import type { JobRef } from '../../jobs/store/events.js';
import { countedReward, countedThrough } from './totals.js';

/** Limit of trace ids in a frame; its rollout sensor has the true count. */
export const maxTraces = 100;

/**
 * Adds finished rollouts that are in no frame to frames, one per candidate, stage and generation:
 * those below the ordinal `through`, and with `rest` those beyond, in frames of their own. An
 * unknown cost makes the sum unknown. Idempotent; call it under `lockJob`.
 */
export async function recordFrames(tx: Tx, job: JobRef, through: number, rest: boolean): Promise<void> {
  await tx.query(
    `with added as (
     insert into sensor_frames (job_id, ordinal, org_id, candidate_id, stage, generation, trace_ids, rollout, reward, resource)
     select $1, min(ordinal), $2, candidate_id, stage, generation, (array_agg(id order by ordinal))[1:$5],
            jsonb_build_object('count', count(*), 'succeeded', count(*) filter (where status = 'succeeded'),
                               'failed', count(*) filter (where status = 'failed'), 'resent', sum(resent)),
            case when count(counted) > 0 then
              jsonb_build_object('count', count(counted), 'mean', sum(counted order by ordinal) / count(counted),
                                 -- numeric: squares of large rewards overflow a float8
                                 'sd', stddev_samp(counted::numeric)::float8, 'min', min(counted), 'max', max(counted)) end,
            case when count(prompt_tokens) + count(completion_tokens) + count(cost_usd) + count(latency_ms) > 0 then
              jsonb_build_object('prompt_tokens', case when not bool_or(called and prompt_tokens is null) then sum(prompt_tokens) end,
                                 'completion_tokens', case when not bool_or(called and completion_tokens is null) then sum(completion_tokens) end,
                                 'cost_usd', case when not bool_or(called and cost_usd is null) then sum(cost_usd) end,
                                 'latency_ms_p50', percentile_disc(0.5) within group (order by latency_ms),
                                 'latency_ms_p95', percentile_disc(0.95) within group (order by latency_ms),
                                 'latency_ms_max', max(latency_ms), 'concurrency', (${concurrency})) end
       from (select *, case when status = 'succeeded' then ${countedReward} end as counted,
                    prompt_tokens + completion_tokens + cost_usd is null
                      and exists (select from model_calls c where c.job_id = $1 and c.rollout_id = r.id) as called
               from rollouts r
              where job_id = $1 and ordinal >= (${countedThrough}) and ($4 or ordinal < $3)
                and status in ('succeeded', 'failed')) r
      group by candidate_id, stage, generation, ordinal >= greatest($3, (${countedThrough}))
     on conflict (job_id, ordinal) do nothing returning 1
     )
     update job_controls set sensor_frames = sensor_frames + (select count(*) from added)
      where job_id = $1 and exists (select from added)`,
    [job.jobId, job.orgId, through, rest, maxTraces],
    'record_frames',
  );
}

/** Limit of rollouts in flight of job $1; null: callers decide. */
const spec = jsonFields<SessionSpec>('j.spec');
const concurrency = `select least(c.concurrency, ${spec.text('maxConcurrent')}::int)
  from jobs j join job_controls c on c.job_id = j.id where j.id = $1 and ${spec.text('rollouts')} is distinct from 'caller'`;

/** Readings in the field names of the API; null: sum or quantile of nothing. */
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

/** A stored frame. */
export interface FrameRow extends Record<string, unknown> {
  ordinal: number;
  candidateId: string;
  /** Of the candidate. */
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

/** At most `limit` frames of a session after the ordinal `after`, oldest first. */
export async function readFrames(
  tx: Tx,
  jobId: string,
  { after, limit }: { after: number; limit: number },
): Promise<FrameRow[]> {
  return tx.query<FrameRow>(`${frames} and f.ordinal > $2 order by f.ordinal limit $3`, [jobId, after, limit]);
}

/** The latest frames of a session, at most `limit`, oldest first, and the count of all. */
export async function readLatestFrames(
  tx: Tx,
  jobId: string,
  limit: number,
): Promise<{ frames: FrameRow[]; count: number }> {
  const [latest, counted] = await Promise.all([
    tx.query<FrameRow>(`${frames} order by f.ordinal desc limit $2`, [jobId, limit]),
    tx.query<{ n: number }>('select sensor_frames as n from job_controls where job_id = $1', [jobId]),
  ]);
  return { frames: latest.reverse(), count: counted[0]!.n };
}
