/** The rewards of candidates beside those of their parents. */
import type { TestedSeed } from '../../core/search/protocol.js';
import type { Tx } from '../../platform/db/db.js';
import { countedReward } from '../../rollouts/store/totals.js';

/** A row on which a candidate and the one before it have a reward. */
export interface RewardPair {
  seed: number;
  before: number;
  after: number;
  rolloutId: string;
}

/** The recorded tests of candidates, by id. */
export async function readTests(
  tx: Tx,
  jobId: string,
  candidateIds: readonly string[],
): Promise<Map<string, TestedSeed[]>> {
  const rows = await tx.query<{ id: string; tests: TestedSeed[] }>(
    'select id, tests from candidates where job_id = $1 and id = any($2) and tests is not null',
    [jobId, candidateIds],
  );
  return new Map(rows.map(({ id, tests }) => [id, tests]));
}

/** Counts of rows outside of the recorded test, and those that differ most, of each direction. */
export interface PairedRows extends Record<string, unknown> {
  id: string;
  compared: number;
  won: number;
  lost: number;
  differing: RewardPair[];
}

/** Rows that a candidate and its first parent ran on, without those of the candidate's test. */
export async function readPairedRows(
  tx: Tx,
  jobId: string,
  candidateIds: readonly string[],
  most: number,
): Promise<Map<string, PairedRows>> {
  const rows = await tx.query<PairedRows>(
    `with asked as (
       select id, parent_ids[1] as parent_id, coalesce(tests, '[]') as tests
         from candidates where job_id = $1 and id = any($2)
     ), means as (
       select candidate_id, seed, avg(${countedReward}) as reward, (array_agg(id order by ordinal desc))[1] as rollout_id
         from rollouts
        where job_id = $1 and candidate_id in (select id from asked union select parent_id from asked)
          and ordinal is not null and seed is not null and status = 'succeeded' and not repeated
        group by candidate_id, seed
     ), pairs as (
       select asked.id, own.seed, parent.reward as before, own.reward as after, own.rollout_id as "rolloutId"
         from asked
         join means own on own.candidate_id = asked.id
         join means parent on parent.candidate_id = asked.parent_id and parent.seed = own.seed
        where not exists (select from jsonb_array_elements(asked.tests) tested where (tested->>0)::int = own.seed)
     ), numbered as (
       select *, row_number() over (partition by id, sign(after - before) order by abs(after - before) desc, seed) as n
         from pairs
     )
     select id, count(*)::int as compared, (count(*) filter (where after > before))::int as won,
            (count(*) filter (where after < before))::int as lost,
            coalesce(json_agg(json_build_object('seed', seed, 'before', before, 'after', after, 'rolloutId', "rolloutId")
              order by seed) filter (where after <> before and n <= $3), '[]') as differing
       from numbered group by id`,
    [jobId, candidateIds, most],
    'read_paired_rows',
  );
  return new Map(rows.map((row) => [row.id, row]));
}

/** The seeds on which a candidate has a reward. */
export async function readRewardedSeeds(tx: Tx, jobId: string, candidateId: string): Promise<Set<number>> {
  const rows = await tx.query<{ seed: number }>(
    `select distinct seed from rollouts
      where job_id = $1 and candidate_id = $2 and ordinal is not null and seed is not null and status = 'succeeded'
        and not repeated`,
    [jobId, candidateId],
  );
  return new Set(rows.map(({ seed }) => seed));
}
