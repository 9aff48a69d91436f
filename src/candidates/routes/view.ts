import type { z } from 'zod';
import type { candidateSchema } from '../contract/candidate.js';
import type { CandidateRow } from '../store/reads.js';
import type { JobRow } from '../../jobs/store/jobs.js';

type Candidate = z.output<typeof candidateSchema>;

/** A candidate as every response shows it. */
export function candidateView(row: CandidateRow): Candidate {
  return {
    candidate_id: row.id,
    parent_ids: row.parentIds,
    generation: row.generation,
    status: row.status,
    reward: row.reward,
    reward_interval: row.interval,
    avg_reward: row.avgReward,
    rollout_count: row.rolloutCount,
    is_baseline: row.leverVersion === 0,
    lever_version: row.leverVersion,
  };
}

export function best({ projection }: Pick<JobRow, 'projection'>, candidates: Candidate[]): Candidate | null {
  return candidates.find(({ candidate_id }) => candidate_id === projection.bestCandidateId) ?? null;
}
