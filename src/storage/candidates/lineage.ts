/** What is read of where a candidate comes from, what it was tried on, and what was decided. */
import type { Demo } from '../../core/prompts/demos.js';
import type { EditJson, GraphJson } from '../../contracts/graphs/graph.js';
import type { Message } from '../../core/jobs/spec.js';
import type { Tx } from '../db/db.js';
import { feedbackOf } from './reflection-examples.js';

/** A candidate in the lineage of another. */
export interface Ancestor extends Record<string, unknown> {
  id: string;
  leverVersion: number;
  parentIds: string[];
  messages: Message[] | null;
  demos: Demo[];
  /** Of a graph job, in the place of messages. */
  graph: GraphJson | null;
  edits: EditJson[] | null;
  /** The rollouts that the proposer was shown, and the components that it rewrote; null: no model proposed it. */
  reflection: { ordinals: number[]; components: string[] } | null;
}

const reflected = `coalesce(c.detail->'reflection'->'ordinals', '[]'::jsonb) as ordinals`;

/** A candidate with all its ancestors, parents before their children; empty when the job has no such candidate. */
export async function readAncestry(tx: Tx, jobId: string, candidateId: string): Promise<Ancestor[]> {
  return tx.query<Ancestor>(
    `with recursive line (id) as (
       select id from candidates where job_id = $1 and id = $2
       union
       select parent from candidates c join line on line.id = c.id, unnest(c.parent_ids) as parent where c.job_id = $1
     )
     select c.id, c.lever_version as "leverVersion", c.parent_ids as "parentIds", c.messages, coalesce(c.demos, '[]') as demos,
            c.graph, c.edits, c.detail->'reflection' as reflection
       from candidates c join line on line.id = c.id where c.job_id = $1 order by c.lever_version`,
    [jobId, candidateId],
  );
}

/** A rollout as it counts: the reward is null where it has none, or failed; the seed where live traffic names none. */
export interface Outcome extends Record<string, unknown> {
  rolloutId: string;
  ordinal: number;
  candidateId: string;
  generation: number;
  seed: number | null;
  reward: number | null;
  finished: boolean;
  infrastructure: boolean;
}

const outcome = `id as "rolloutId", ordinal, candidate_id as "candidateId", generation, seed,
  case when status = 'succeeded' then reward end as reward, status in ('succeeded', 'failed') as finished,
  coalesce((error->>'infrastructure')::boolean, false) as infrastructure`;

/** These rollouts, in no order. */
export async function readOutcomes(tx: Tx, jobId: string, ordinals: readonly number[]): Promise<Outcome[]> {
  if (ordinals.length === 0) return [];
  return tx.query<Outcome>(`select ${outcome} from rollouts where job_id = $1 and ordinal = any($2)`, [
    jobId,
    ordinals,
  ]);
}

/** The rollouts of these candidates in these stages, in the order asked for. */
export async function readOutcomesOf(
  tx: Tx,
  jobId: string,
  candidateIds: readonly string[],
  stages: readonly string[],
): Promise<Outcome[]> {
  if (candidateIds.length === 0) return [];
  return tx.query<Outcome>(
    `select ${outcome} from rollouts
      where job_id = $1 and ordinal is not null and candidate_id = any($2) and stage = any($3) order by ordinal`,
    [jobId, candidateIds, stages],
  );
}

/**
 * What these candidates scored last on each of the seeds, up to an ordinal or in the tests of a generation; of each candidate
 * and seed one rollout at most.
 */
export async function readLastOutcomes(
  tx: Tx,
  jobId: string,
  candidateIds: readonly string[],
  { seeds, upTo, generation }: { seeds: readonly number[]; upTo: number; generation: number },
): Promise<Outcome[]> {
  if (candidateIds.length === 0 || seeds.length === 0) return [];
  return tx.query<Outcome>(
    `select distinct on (candidate_id, seed) ${outcome} from rollouts
      where job_id = $1 and ordinal is not null and candidate_id = any($2) and seed = any($3) and stage <> 'heldout'
        and status in ('succeeded', 'failed') and (ordinal <= $4 or (stage = 'gate' and generation = $5))
      order by candidate_id, seed, ordinal desc`,
    [jobId, candidateIds, seeds, upTo, generation],
  );
}

/** What reflection was shown of each of these rollouts, by ordinal. */
export async function readFeedback(
  tx: Tx,
  jobId: string,
  ordinals: readonly number[],
): Promise<Map<number, { rolloutId: string; seed: number | null; reward: number; feedback: string }>> {
  type Row = Parameters<typeof feedbackOf>[0] & Pick<Outcome, 'ordinal' | 'seed' | 'reward'> & { id: string };
  if (ordinals.length === 0) return new Map();
  const rows = await tx.query<Row>(
    `select id, ordinal, seed, reward, feedback, details, error from rollouts where job_id = $1 and ordinal = any($2)`,
    [jobId, ordinals],
  );
  return new Map(
    rows.map((row) => {
      const { id, ordinal, seed, reward } = row;
      return [ordinal, { rolloutId: id, seed, reward: reward ?? 0, feedback: feedbackOf(row) }];
    }),
  );
}

/** How a candidate came to be tried: the rollouts it was proposed from or what it combines, and whether its evaluation has begun. */
export interface TrialRow extends Record<string, unknown> {
  id: string;
  ordinals: number[];
  merged: number[];
  evaluating: boolean;
}

/** The trials of these candidates, in no order. */
export async function readTrials(tx: Tx, jobId: string, candidateIds: readonly string[]): Promise<TrialRow[]> {
  return tx.query<TrialRow>(
    `select c.id, ${reflected}, coalesce(c.detail->'merge'->'parents', '[]'::jsonb) as merged,
            exists (select 1 from rollouts r
                     where r.candidate_id = c.id and r.ordinal is not null and r.stage = 'evaluation') as evaluating
       from candidates c where c.job_id = $1 and c.id = any($2)`,
    [jobId, candidateIds],
  );
}

/** A rollout of a candidate, whatever its state. */
export interface SeedEval extends Record<string, unknown> {
  rolloutId: string;
  ordinal: number;
  seed: number | null;
  /** Of a graph job: the id of the task at the place that `seed` is; else null. */
  taskId: string | null;
  stage: string;
  generation: number;
  reward: number | null;
  status: 'queued' | 'running' | 'awaiting_reward' | 'succeeded' | 'failed' | 'cancelled';
  feedback: string | null;
  error: string | null;
  completedAt: Date | null;
}

/** A candidate's rollouts after the ordinal `after`, in the order asked for, at most `limit`. */
export async function readSeedEvals(
  tx: Tx,
  jobId: string,
  candidateId: string,
  page: { after: number; limit: number },
): Promise<SeedEval[]> {
  return tx.query<SeedEval>(
    `select id as "rolloutId", ordinal, seed, task_id as "taskId", stage, generation,
            case when status = 'succeeded' then reward end as reward, status, feedback, error->>'message' as error,
            completed_at as "completedAt"
       from rollouts r left join graph_tasks t on t.job_id = r.job_id and t.place = r.seed
      where r.job_id = $1 and candidate_id = $2 and ordinal > $3 order by ordinal limit $4`,
    [jobId, candidateId, page.after, page.limit],
  );
}
