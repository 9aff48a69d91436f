/** The rows that a change made worse, with their texts. */
import type { Ratchet } from '../../client/index.js';
import { evaluationTexts } from '../commands/evaluate.js';

const mostListed = 10;

/** The rewards of an evaluation by row; null: the row failed. */
export interface RowRewards {
  job_id: string;
  rewards: ReadonlyMap<number, number | null>;
}

export interface LostRow {
  row: number;
  input: string | null;
  expected: string | null;
  before: { reward: number; answer: string | null };
  /** `reward` null: the row failed. */
  after: { reward: number | null; answer: string | null };
}

export interface LostRows {
  count: number;
  /** Those whose rewards fell most, at most ten. */
  worst: LostRow[];
}

export async function lostRows(client: Ratchet, base: RowRewards, head: RowRewards): Promise<LostRows> {
  const lost = [...base.rewards]
    .flatMap(([row, before]) => {
      const after = head.rewards.get(row) ?? null;
      return before !== null && (after === null || after < before) ? [{ row, before, after }] : [];
    })
    .map((fall) => ({ ...fall, by: fall.before - (fall.after ?? -Infinity) }))
    .sort((left, right) => right.by - left.by || left.row - right.row);
  const worst = lost.slice(0, mostListed).map(async ({ row, before, after }): Promise<LostRow> => {
    const textsOf = async ({ job_id: id, rewards }: RowRewards) =>
      (await evaluationTexts(client, id, [...rewards.keys()].indexOf(row)))!;
    const [old, now] = await Promise.all([textsOf(base), textsOf(head)]);
    return {
      row,
      input: now.input ?? null,
      expected: now.expected ?? null,
      before: { reward: before, answer: old.output ?? null },
      after: { reward: after, answer: now.output ?? null },
    };
  });
  return { count: lost.length, worst: await Promise.all(worst) };
}
