import { candidateId } from '../../core/jobs/ids.js';
import type { RolloutRequest } from '../../core/search/protocol.js';
import { demosForSeed, type Demo } from '../../core/prompts/demos.js';
import type { Message } from '../../core/jobs/spec.js';
import type { CallRollout } from './calls.js';
import { callerRolloutId } from './calls.js';
import type { Tx } from '../db/db.js';
import type { JobRef } from '../jobs/events.js';

/** How a session's live calls are compared: by the seeds that they name (`x-ratchet-seed`), or without. */
export type Traffic = 'paired' | 'unpaired';

/** Publishes what the search wants of live traffic; what is there already, or answered, is left as it is. Call it under `lockJob`. */
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

/** Whether all the candidates that are wanted are there: after a restore they may not be. */
export async function areCandidates(tx: Tx, job: JobRef, requests: readonly RolloutRequest[]): Promise<boolean> {
  const ids = [...new Set(requests.map(({ candidate }) => candidateId(job.jobId, candidate)))];
  const [row] = await tx.query<{ n: number }>('select count(*) as n from candidates where id = any($1)', [ids]);
  return row?.n === ids.length;
}

/** A call of live traffic under a correlation id that is new. */
export interface LiveCall {
  correlationId: string;
  /** The instance that it names; null: none. */
  seed: number | null;
  /** Who serves it where the search wants nothing of it. */
  bestCandidateId: string | null;
  /** How long it has a slot alone, in seconds. */
  rewardSeconds: number;
}

/** The rollout that a live call is, and the candidate that serves it from now on, whoever asks for it. */
export interface LiveRollout {
  rollout: CallRollout;
  candidateId: string | null;
  messages: Message[] | null;
  /** The candidate's demonstrations, but those of the instance that the call names. */
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
 * Makes a caller's new correlation id a rollout: of the first slot that fits and nobody has, else one whose reward is overdue, while the job may start any, else of
 * the best candidate. Whether calls name seeds is decided by the job's first. Calls that race for a correlation id get the same rollout, and take one
 * slot; one whose reward has come before it takes none. One statement, so one transaction.
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
  const [other] = await tx.query<LiveRow>(
    `select r.idx, r.slot, r.seed, r.candidate_id, ${prompt} from rollouts r left join candidates k on k.id = r.candidate_id where r.id = $1`,
    [id],
  );
  if (!other) throw new Error(`the job ${job.jobId} has no control row`);
  return liveRollout(id, other);
}

/**
 * Gives a slot back where the reward came while the claim waited for the job's lock, and so was not there to be seen: no other will
 * come for it.
 */
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

/** What a session wants of live traffic at present, and how much of that is under way. */
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

/** Notes that the workflow is to be told, once nothing that it wants is left to answer; answers whether that is so. Under `lockJob`. */
export async function signalWhenComplete(tx: Tx, jobId: string): Promise<boolean> {
  const rows = await tx.query(
    `update job_controls set wake_at = clock_timestamp()
      where job_id = $1 and not exists (select 1 from slots where job_id = $1) returning 1`,
    [jobId],
  );
  return rows.length > 0;
}

/** What the workflow has come for. */
export async function clearWake(tx: Tx, jobId: string): Promise<void> {
  await tx.query('update job_controls set wake_at = null where job_id = $1 and wake_at is not null', [jobId]);
}

/**
 * Whether a workflow was to be told more than `seconds` ago and has not come since: the word was lost. Answers so once in half a minute,
 * whoever asks, and not while the job is paused: it looks for itself when it is resumed.
 */
export async function takeLostWake(tx: Tx, jobId: string, seconds: number): Promise<boolean> {
  const rows = await tx.query(
    `update job_controls set wake_at = clock_timestamp() + interval '30 seconds'
      where job_id = $1 and control = 'run' and wake_at < clock_timestamp() - make_interval(secs => $2) returning 1`,
    [jobId, seconds],
  );
  return rows.length > 0;
}

/** Lets another call have a slot whose call has got no answer: nobody will report a reward for that. */
export async function freeSlot(tx: Tx, jobId: string, rolloutId: string): Promise<void> {
  await tx.query(
    `update slots s set deadline_at = clock_timestamp() from rollouts r
      where r.id = $2 and r.slot is not null and s.job_id = $1 and s.ordinal = r.slot
        and not exists (select 1 from model_calls c where c.rollout_id = r.id and c.http_status < 300)`,
    [jobId, rolloutId],
  );
}
