import type { Demo } from '../../core/prompts/demos.js';
import type { Message } from '../../core/prompts/message.js';
import type { Interval } from '../../core/math/mean-interval.js';
import type { DecisionRecord } from '../../core/search/acceptance-record.js';
import type { Tx } from '../../platform/db/db.js';
import { countedThrough, readCounted, rewardSums } from '../../rollouts/store/totals.js';

/** A candidate as HTTP shows it; `avgReward` is the mean over all its succeeded rollouts. */
export interface CandidateRow extends Record<string, unknown> {
  id: string;
  leverVersion: number;
  generation: number;
  parentIds: string[];
  status: 'proposed' | 'rejected' | 'evaluated';
  reward: number | null;
  interval: Interval | null;
  avgReward: number | null;
  rolloutCount: number;
  /** The decision on its test; null: none yet. */
  decision: DecisionRecord | null;
  /** The numbers of the candidates that it combines; empty: it is no merge. */
  merged: number[];
  /** Whether a proposer wrote its text. */
  isWritten: boolean;
}

/** `after` is a lever version, `limit` a count. */
export interface CandidateFilter {
  id?: string;
  status?: CandidateRow['status'] | undefined;
  after?: number | undefined;
  limit?: number;
}

/**
 * Candidates by lever version. The condition on the ordinal appears twice: the number is for the
 * planner (without it, a scan of the table), the subquery for consistency.
 */
export async function readCandidates(tx: Tx, jobId: string, only: CandidateFilter = {}): Promise<CandidateRow[]> {
  return tx.query<CandidateRow>(
    `with fresh as materialized ( -- run once, not per candidate
       ${rewardSums} and ordinal >= $2 and ordinal >= (${countedThrough}) group by candidate_id
     )
     select c.id, c.lever_version as "leverVersion", c.generation, c.parent_ids as "parentIds", c.status, c.reward, c.reward_interval as interval,
            (c.reward_sum + coalesce(r.rewards, 0)) / nullif(c.rewards_counted + coalesce(r.succeeded, 0), 0) as "avgReward",
            c.rollouts_counted + coalesce(r.n, 0) as "rolloutCount", c.decision,
            coalesce(c.detail->'merge'->'parents', '[]') as merged, coalesce(c.detail ? 'reflection', false) as "isWritten"
       from candidates c left join fresh r on r.candidate_id = c.id
      where c.job_id = $1 and ($3::text is null or c.id = $3) and ($4::text is null or c.status = $4)
        and c.lever_version > $5 order by c.lever_version limit $6`,
    [jobId, await readCounted(tx, jobId), only.id ?? null, only.status ?? null, only.after ?? -1, only.limit ?? null],
  );
}

/** `messages` null: not known yet. */
export interface Prompt extends Record<string, unknown> {
  candidateId: string;
  messages: Message[] | null;
  demos: Demo[];
}

/** A candidate's prompt; null: the job has no such candidate. */
export async function readPrompt(tx: Tx, jobId: string, candidateId: string): Promise<Prompt | null> {
  const [row] = await tx.query<Prompt>(
    `select id as "candidateId", messages, coalesce(demos, '[]') as demos from candidates where job_id = $1 and id = $2`,
    [jobId, candidateId],
  );
  return row ?? null;
}

/** The job of a candidate; null: no such candidate. */
export async function readJobOf(tx: Tx, candidateId: string): Promise<string | null> {
  const [row] = await tx.query<{ jobId: string }>('select job_id as "jobId" from candidates where id = $1', [
    candidateId,
  ]);
  return row?.jobId ?? null;
}
