import type { RowRun } from '../../core/rows/collect.js';
import type { Tx } from '../../platform/db/db.js';
import { countedReward } from '../../rollouts/store/totals.js';

/** Whose rollouts; `candidateId` null: those of an evaluation, which has one candidate. */
export interface RunsOf {
  jobId: string;
  candidateId: string | null;
}

interface Part {
  after: number;
  /** Rollouts. */
  most: number;
}

/**
 * The finished rollouts of a candidate in their order, or the first of a part by row. Sent as three
 * lists: ten thousand rows of a result take five times as long to read.
 */
export async function readRuns(tx: Tx, { jobId, candidateId }: RunsOf, part?: Part): Promise<RowRun[]> {
  type Lists = Record<'ids', string[] | null> & Record<'seeds', number[]> & Record<'rewards', (number | null)[]>;
  const [lists] = await tx.query<Lists>(
    `select json_agg(id) as ids, json_agg(seed) as seeds, json_agg(reward) as rewards
       from (select id, seed, case when status = 'succeeded' then ${countedReward} end as reward
               from rollouts
              where job_id = $1 and ordinal is not null and seed is not null and status in ('succeeded', 'failed')
                and not repeated and ${candidateId === null ? '$2::text is null' : 'candidate_id = $2'}
              ${part ? 'and seed > $3 order by seed, ordinal limit $4' : 'order by ordinal'}) runs`,
    part ? [jobId, candidateId, part.after, part.most] : [jobId, candidateId],
  );
  const { ids, seeds, rewards } = lists!;
  return (ids ?? []).map((rolloutId, at) => ({ rolloutId, seed: seeds[at]!, reward: rewards[at]! }));
}

/** The rollouts of each side on the rows after one, in parts of whole rows that become larger. */
export async function* readRunsAfter(
  tx: Tx,
  sides: readonly RunsOf[],
  after: number,
  rollouts: number,
): AsyncGenerator<RowRun[][]> {
  for (let [from, most] = [after, rollouts]; from < Infinity; most *= 2) {
    const read: RowRun[][] = [];
    for (const side of sides) read.push(await readRuns(tx, side, { after: from, most }));
    // The last row of a full list may have more rollouts.
    const until = Math.min(...read.map((runs) => (runs.length < most ? Infinity : runs.at(-1)!.seed - 1)));
    yield read.map((runs) => runs.filter(({ seed }) => seed <= until));
    from = until;
  }
}
