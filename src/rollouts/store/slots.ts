import { candidateId } from '../../core/jobs/ids.js';
import type { RolloutRequest } from '../../core/search/protocol.js';
import { demosForSeed, type Demo } from '../../core/prompts/demos.js';
import type { Message } from '../../core/prompts/message.js';
import type { CallRollout } from './calls.js';
import { callerRolloutId } from './calls.js';
import type { Tx } from '../../platform/db/db.js';
import type { JobRef } from '../../jobs/store/events.js';

/** Comparison of live calls: paired by the seeds they name (`x-ratchet-seed`), or unpaired. */
export type Traffic = 'paired' | 'unpaired';

/** Publishes the search's requests for live traffic; idempotent. Call it under `lockJob`. */
export async function publishSlots(tx: Tx, job: JobRef, requests: readonly RolloutRequest[]): Promise<void> {
  if (requests.length === 0) return;
  await tx.query(
    `insert into slots (job_id, org_id, ordinal, candidate_id, seed, stage, generation)
     select $1, $2, t.* from unnest($3::int[], $4::text[], $5::bigint[], $6::text[], $7::int[])
              as t(ordinal, candidate_id, seed, stage, generation)
      where not exists (select 1 from rollouts r where r.job_id = $1 and r.ordinal = t.ordinal)
     on conflict do nothing`,
    [
      job.jobId,
      job.orgId,
      requests.map(({ ordinal }) => ordinal),
      requests.map(({ candidate }) => candidateId(job.jobId, candidate)),
      requests.map(({ seed }) => seed),
      requests.map(({ stage }) => stage),
      requests.map(({ generation }) => generation),
    ],
  );
}

export async function hasSlots(tx: Tx, jobId: string): Promise<boolean> {
  return (await tx.query('select 1 from slots where job_id = $1 limit 1', [jobId])).length > 0;
}

/** A live call with a new correlation id. */
export interface LiveCall {
  correlationId: string;
  /** The seed that the call names; null: none. */
  seed: number | null;
  /** Candidate for calls without a slot. */
  bestCandidateId: string | null;
  /** Seconds for which the call holds its slot. */
  rewardSeconds: number;
}

/** The rollout and the candidate of a live call; final, also for racing calls. */
export interface LiveRollout {
  rollout: CallRollout;
  candidateId: string | null;
  messages: Message[] | null;
  /** The candidate's demonstrations without those of the call's own seed. */
  demos: Demo[];
}

const prompt = `k.messages, coalesce(k.demos, '[]') as demos`;

interface LiveRow extends Record<string, unknown> {
  idx: number;
  slot: number | null;
  seed: number | null;
  candidate_id: string | null;
  messages: Message[] | null;
  demos: Demo[];
}

/**
 * Makes a correlation id a rollout of the first free or overdue slot, else (none, or paused) of the
 * best candidate. The job's first call decides `traffic`. One statement, so racing calls share it.
 */
export async function assignRollout(tx: Tx, job: JobRef, call: LiveCall): Promise<LiveRollout> {
  const id = callerRolloutId(job.jobId, call.correlationId);
  const [claimed] = await tx.query<LiveRow>(
    `with bumped as (
       update job_controls
          set rollout_idx = rollout_idx + 1, traffic = coalesce(traffic, case when $4::bigint is null then 'unpaired' else 'paired' end)
        where job_id = $1 returning rollout_idx - 1 as idx, control, traffic
     ), chosen as materialized (
       select s.* from bumped b join slots s on s.job_id = $1
        where b.control = 'run' and (b.traffic = 'unpaired' or s.seed = $4)
          and (s.deadline_at is null or s.deadline_at < clock_timestamp())
          and not exists (select 1 from rewards w where w.job_id = $1 and w.rollout_id = $3)
        order by s.deadline_at is not null, s.ordinal limit 1 for update of s
     ), inserted as (
       insert into rollouts (id, org_id, job_id, idx, source, slot, stage, generation, seed, candidate_id, status, started_at)
       select $3, $2, $1, b.idx, 'caller', c.ordinal, c.stage, c.generation, case when b.traffic = 'paired' then $4 end, coalesce(c.candidate_id, $5), 'open', clock_timestamp()
         from bumped b left join chosen c on true
       on conflict (id) do nothing returning idx, slot, seed, candidate_id
     ), taken as (
       update slots s set deadline_at = clock_timestamp() + make_interval(secs => $6)
         from chosen c, inserted where s.job_id = $1 and s.ordinal = c.ordinal
     )
     select i.idx, i.slot, i.seed, i.candidate_id, ${prompt} from inserted i left join candidates k on k.id = i.candidate_id`,
    [job.jobId, job.orgId, id, call.seed, call.bestCandidateId, call.rewardSeconds],
    'claim_slot',
  );
  if (claimed) {
    if (claimed.slot !== null) await giveUpRewarded(tx, job, id);
    return liveRollout(id, claimed);
  }
  const [existing] = await tx.query<LiveRow>(
    `select r.idx, r.slot, r.seed, r.candidate_id, ${prompt} from rollouts r left join candidates k on k.id = r.candidate_id where r.id = $1`,
    [id],
  );
  if (!existing) throw new Error(`Job "${job.jobId}" has no control row.`);
  return liveRollout(id, existing);
}

/** Releases a slot whose reward arrived while the claim waited for the lock. */
async function giveUpRewarded(tx: Tx, job: JobRef, rolloutId: string): Promise<void> {
  await tx.query(
    `with gone as (
       update rollouts r set slot = null from rollouts o
        where r.id = $2 and o.id = r.id
          and exists (select 1 from rewards w where w.job_id = $1 and w.rollout_id = $2)
          and r.status = 'open' returning o.slot
     )
     update slots s set deadline_at = null from gone where s.job_id = $1 and s.ordinal = gone.slot`,
    [job.jobId, rolloutId],
  );
}

function liveRollout(id: string, row: LiveRow): LiveRollout {
  const rollout: CallRollout = { id, idx: row.idx, source: 'caller', attempt: 0, hasRecorded: false };
  const messages = row.messages?.length ? row.messages : null;
  return { rollout, candidateId: row.candidate_id, messages, demos: demosForSeed(row.demos, row.seed) };
}

/** The slots of a session, and how many of them are claimed. */
export interface TrafficNow {
  traffic: Traffic | null;
  wanted: number;
  claimed: number;
}

export async function readTraffic(tx: Tx, jobId: string): Promise<TrafficNow> {
  const [row] = await tx.query<TrafficNow & Record<string, unknown>>(
    `select traffic, count(s.*) as wanted,
            count(s.*) filter (where s.deadline_at >= clock_timestamp()) as claimed
       from job_controls c left join slots s on s.job_id = c.job_id where c.job_id = $1 group by traffic`,
    [jobId],
  );
  return row ?? { traffic: null, wanted: 0, claimed: 0 };
}

/** Records that a signal is due once all slots are complete; under `lockJob`. */
export async function signalWhenComplete(tx: Tx, jobId: string): Promise<boolean> {
  const rows = await tx.query(
    `update job_controls set wake_at = clock_timestamp()
      where job_id = $1 and not exists (select 1 from slots where job_id = $1) returning 1`,
    [jobId],
  );
  return rows.length > 0;
}

/** Clears the due signal: the workflow has reacted. */
export async function clearWake(tx: Tx, jobId: string): Promise<void> {
  await tx.query('update job_controls set wake_at = null where job_id = $1 and wake_at is not null', [jobId]);
}

/**
 * Whether a signal due for `seconds` was lost. True at most once in 30 seconds, to one caller, and
 * not while the job is paused: the workflow checks on resume.
 */
export async function takeLostWake(tx: Tx, jobId: string, seconds: number): Promise<boolean> {
  const rows = await tx.query(
    `update job_controls set wake_at = clock_timestamp() + interval '30 seconds'
      where job_id = $1 and control = 'run' and wake_at < clock_timestamp() - make_interval(secs => $2) returning 1`,
    [jobId, seconds],
  );
  return rows.length > 0;
}

/** Releases the slot of a call without an answer: its reward will not come. */
export async function freeSlot(tx: Tx, jobId: string, rolloutId: string): Promise<void> {
  await tx.query(
    `update slots s set deadline_at = clock_timestamp() from rollouts r
      where r.id = $2 and r.slot is not null and s.job_id = $1 and s.ordinal = r.slot
        and not exists (select 1 from model_calls c where c.rollout_id = r.id and c.http_status < 300)`,
    [jobId, rolloutId],
  );
}
