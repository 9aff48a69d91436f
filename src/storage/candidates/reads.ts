import type { Demo } from '../../core/prompts/demos.js';
import type { Message } from '../../core/jobs/spec.js';
import { largestReward } from '../../core/math/rewards.js';
import type { Tx } from '../db/db.js';

/** A candidate as HTTP shows it; `avgReward` is over all its rollouts that succeeded. */
export interface CandidateRow extends Record<string, unknown> {
  id: string;
  leverVersion: number;
  generation: number;
  parentIds: string[];
  status: 'proposed' | 'rejected' | 'evaluated';
  reward: number | null;
  avgReward: number | null;
  rolloutCount: number;
}

/** A reward as it is counted (src/core/scores.ts): Postgres's `avg` refuses numbers whose squares overflow. */
export const countedReward = `greatest(least(reward, ${largestReward}), -${largestReward})`;

/** Sums of the search's finished rollouts by candidate, from the ordinal $2 on; what a caller calls for itself has no ordinal. */
export const rewardSums = `select candidate_id, count(*) as n, count(*) filter (where status = 'succeeded') as succeeded,
    coalesce(sum(${countedReward}) filter (where status = 'succeeded'), 0) as rewards
  from rollouts where job_id = $1 and status in ('succeeded', 'failed') and ordinal >= $2`;

/** Up to which ordinal the candidates' own sums go; it only grows. */
export async function readCounted(tx: Tx, jobId: string): Promise<number> {
  const [row] = await tx.query<{ n: number }>('select rollouts_counted as n from jobs where id = $1', [jobId]);
  return row?.n ?? 0;
}

/** Which of a session's candidates to read; all where absent. `after` is a lever version, `limit` a count. */
export interface CandidateFilter {
  id?: string;
  status?: CandidateRow['status'] | undefined;
  after?: number | undefined;
  limit?: number;
}

/**
 * A session's candidates in the order of their lever versions. The second condition on the ordinal is the truth of this very
 * statement; the first is a number, because of a query there Postgres guesses a third of all rollouts, and reads the table.
 */
export async function readCandidates(tx: Tx, jobId: string, only: CandidateFilter = {}): Promise<CandidateRow[]> {
  return tx.query<CandidateRow>(
    `with fresh as materialized ( -- once, and not for each candidate
       ${rewardSums} and ordinal >= (select rollouts_counted from jobs where id = $1) group by candidate_id
     )
     select c.id, c.lever_version as "leverVersion", c.generation, c.parent_ids as "parentIds", c.status, c.reward,
            (c.reward_sum + coalesce(r.rewards, 0)) / nullif(c.rewards_counted + coalesce(r.succeeded, 0), 0) as "avgReward",
            c.rollouts_counted + coalesce(r.n, 0) as "rolloutCount"
       from candidates c left join fresh r on r.candidate_id = c.id
      where c.job_id = $1 and ($3::text is null or c.id = $3) and ($4::text is null or c.status = $4)
        and c.lever_version > $5 order by c.lever_version limit $6`,
    [jobId, await readCounted(tx, jobId), only.id ?? null, only.status ?? null, only.after ?? -1, only.limit ?? null],
  );
}

/** A candidate and its prompt; the messages are null until they are known. */
export interface Prompt extends Record<string, unknown> {
  candidateId: string;
  messages: Message[] | null;
  demos: Demo[];
}

/** One candidate's prompt, or null when the job has no such candidate. */
export async function readPrompt(tx: Tx, jobId: string, candidateId: string): Promise<Prompt | null> {
  const [row] = await tx.query<Prompt>(
    `select id as "candidateId", messages, coalesce(demos, '[]') as demos from candidates where job_id = $1 and id = $2`,
    [jobId, candidateId],
  );
  return row ?? null;
}

/** How a job's rollouts stand. Tokens and cost are those of the recorded outcomes. */
export interface RolloutTotals extends Record<string, unknown> {
  succeeded: number;
  failed: number;
  resent: number;
  meanReward: number | null;
  tokens: number;
  costUsd: number | null;
}

/** Sums over the job's own rollouts; the cost is null where one that made calls has none, or none made any. */
export async function readTotals(tx: Tx, jobId: string): Promise<RolloutTotals> {
  const [row] = await tx.query<RolloutTotals>(
    `select count(*) filter (where status = 'succeeded') as succeeded, count(*) filter (where status = 'failed') as failed,
            coalesce(sum(resent), 0) as resent, -- Added up in the order asked for, so that the mean is the same to the last bit however it is read.
            sum(${countedReward} order by ordinal) filter (where status = 'succeeded')
              / nullif(count(*) filter (where status = 'succeeded'), 0) as "meanReward",
            coalesce(sum(prompt_tokens + completion_tokens), 0)::float8 as tokens,
            case when not bool_or(prompt_tokens is not null and cost_usd is null) then sum(cost_usd) end as "costUsd"
       from rollouts where job_id = $1 and source = 'service'`,
    [jobId],
  );
  return row!;
}

/** How often the job's rollouts were sent again. */
export async function readResent(tx: Tx, jobId: string): Promise<number> {
  const [row] = await tx.query<{ resent: number }>(
    `select coalesce(sum(resent), 0) as resent from rollouts where job_id = $1 and source = 'service' and resent > 0`,
    [jobId],
  );
  return row!.resent;
}

/** The outcome of one rollout. */
export interface SeedResult extends Record<string, unknown> {
  rolloutId: string;
  seed: number;
  status: 'succeeded' | 'failed';
  reward: number | null;
  latencyMs: number | null;
  tokens: number;
  costUsd: number | null;
  error: string | null;
  completedAt: Date | null;
}

/** Every finished rollout of the job, in the order they were asked for. */
export async function readSeedResults(tx: Tx, jobId: string): Promise<SeedResult[]> {
  return tx.query<SeedResult>(
    `select id as "rolloutId", seed, status, case when status = 'succeeded' then reward end as reward,
            latency_ms as "latencyMs", (coalesce(prompt_tokens, 0) + coalesce(completion_tokens, 0))::float8 as tokens,
            cost_usd as "costUsd", error->>'message' as error, completed_at as "completedAt"
       from rollouts where job_id = $1 and source = 'service' and status in ('succeeded', 'failed') order by ordinal`,
    [jobId],
  );
}

/** An event as it is stored; `data` holds the specification's fields. */
export interface EventRow extends Record<string, unknown> {
  seq: number;
  type: string;
  message: string;
  data: Record<string, unknown>;
  ts: Date;
}

/** The job's events after `after`, at most `limit`, in order. */
export async function readEvents(tx: Tx, jobId: string, after: number, limit: number): Promise<EventRow[]> {
  return tx.query<EventRow>(
    'select seq, type, message, data, ts from events where job_id = $1 and seq > $2 order by seq limit $3',
    [jobId, after, limit],
    'read_events',
  );
}

/** Whether the last event of a closed job stands at or before `seq`: there is nothing more to come. */
export async function isAtEnd(tx: Tx, jobId: string, seq: number, terminalTypes: readonly string[]): Promise<boolean> {
  const [row] = await tx.query('select 1 from events where job_id = $1 and seq <= $2 and type = any($3) limit 1', [
    jobId,
    seq,
    terminalTypes,
  ]);
  return row !== undefined;
}
