/** The origin of candidates, their tests and their rollouts. */
import type { Demo } from '../../core/prompts/demos.js';
import type { EditJson, GraphJson } from '../../kinds/graph/contract/graph.js';
import type { Message } from '../../core/prompts/message.js';
import type { Approach } from '../../core/proposals/approach.js';
import type { TestedSeed } from '../../core/search/protocol.js';
import { groupBy } from '../../util/group.js';
import type { Tx } from '../../platform/db/db.js';
import { countedReward } from '../../rollouts/store/totals.js';
import { feedbackOf } from './reflection-examples.js';

/** A candidate in the lineage of another. */
export interface Ancestor extends Record<string, unknown> {
  id: string;
  leverVersion: number;
  generation: number;
  parentIds: string[];
  messages: Message[] | null;
  demos: Demo[];
  /** Graph jobs: instead of messages. */
  graph: GraphJson | null;
  edits: EditJson[] | null;
  /** Whether a person wrote it. */
  isGiven: boolean;
  /** Rollouts shown to the proposer, and rewritten components; null: no model proposed it. */
  reflection: { ordinals: number[]; components: string[]; approach?: Approach } | null;
}

/** A candidate after all its ancestors, parents before children; empty: no such candidate. */
export async function readAncestry(tx: Tx, jobId: string, candidateId: string): Promise<Ancestor[]> {
  return tx.query<Ancestor>(
    `with recursive line (id) as (
       select id from candidates where job_id = $1 and id = $2
       union
       select parent from candidates c join line on line.id = c.id, unnest(c.parent_ids) as parent where c.job_id = $1
     )
     select c.id, c.lever_version as "leverVersion", c.generation, c.parent_ids as "parentIds", c.messages, coalesce(c.demos, '[]') as demos,
            c.graph, c.edits, c.detail->'reflection' as reflection, c.detail ? 'given' as "isGiven"
       from candidates c join line on line.id = c.id where c.job_id = $1 order by c.lever_version`,
    [jobId, candidateId],
  );
}

/** A rollout of a test. `reward` null: not finished; `seed` null: live traffic without one. */
export interface Outcome extends Record<string, unknown> {
  rolloutId: string;
  ordinal: number;
  candidateId: string;
  seed: number | null;
  reward: number | null;
}

const outcome = `id as "rolloutId", ordinal, candidate_id as "candidateId", seed,
  case status when 'succeeded' then ${countedReward} when 'failed' then 0 end as reward`;

/** These rollouts, by ordinal. */
export async function readOutcomes(tx: Tx, jobId: string, ordinals: readonly number[]): Promise<Map<number, Outcome>> {
  if (ordinals.length === 0) return new Map();
  const rows = await tx.query<Outcome>(`select ${outcome} from rollouts where job_id = $1 and ordinal = any($2)`, [
    jobId,
    ordinals,
  ]);
  return new Map(rows.map((row) => [row.ordinal, row]));
}

/** The recorded test of a candidate; null: not tested yet, or on live calls without instances. */
export async function readTestedSeeds(tx: Tx, jobId: string, candidateId: string): Promise<TestedSeed[] | null> {
  const [row] = await tx.query<{ tests: TestedSeed[] | null }>(
    'select tests from candidates where job_id = $1 and id = $2',
    [jobId, candidateId],
  );
  return row?.tests ?? null;
}

/** The live calls of a candidate's test, by ordinal. */
export async function readLiveCalls(
  tx: Tx,
  jobId: string,
  candidateId: string,
  generation: number,
): Promise<Outcome[]> {
  return tx.query<Outcome>(
    `select ${outcome} from rollouts
      where job_id = $1 and ordinal is not null and candidate_id = $2 and stage = 'gate' and generation = $3
      order by ordinal`,
    [jobId, candidateId, generation],
  );
}

/** Rewards on the held-out seeds, by candidate and seed. */
export async function readHeldoutRewards(
  tx: Tx,
  jobId: string,
  candidateIds: readonly string[],
): Promise<Map<string, Map<number, number | null>>> {
  const rows = await tx.query<Outcome & { seed: number }>(
    `select ${outcome} from rollouts
      where job_id = $1 and ordinal is not null and candidate_id = any($2) and stage = 'heldout'
        and not repeated`,
    [jobId, candidateIds],
  );
  const bySeed = groupBy(rows, ({ candidateId }) => candidateId);
  return new Map([...bySeed].map(([id, own]) => [id, new Map(own.map(({ seed, reward }) => [seed, reward]))]));
}

/** The feedback of these rollouts as shown to reflection, by ordinal. */
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

/** A rollout of a candidate, in any state. */
export interface SeedEval extends Record<string, unknown> {
  rolloutId: string;
  ordinal: number;
  seed: number | null;
  /** Graph jobs: the id of the task with index `seed`; else null. */
  taskId: string | null;
  stage: string;
  generation: number;
  reward: number | null;
  status: 'queued' | 'running' | 'awaiting_reward' | 'succeeded' | 'failed' | 'cancelled';
  feedback: string | null;
  error: string | null;
  completedAt: Date | null;
}

/** At most `limit` rollouts of a candidate after the ordinal `after`, by ordinal. */
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
       from rollouts r left join graph_tasks t on t.job_id = r.job_id and t.task_index = r.seed
      where r.job_id = $1 and candidate_id = $2 and ordinal > $3 order by ordinal limit $4`,
    [jobId, candidateId, page.after, page.limit],
  );
}
