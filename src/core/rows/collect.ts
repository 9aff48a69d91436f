/** The rows of a job from the rollouts of a candidate and of the baseline. */
import { groupBy } from '../../util/group.js';
import { groupOf, rewardOf, type RowGroup, type RowRuns } from './groups.js';

/** A finished rollout on a row. */
export interface RowRun {
  rolloutId: string;
  seed: number;
  /** null: of an evaluation. */
  candidateId: string | null;
  /** null: it failed. */
  reward: number | null;
}

/** `baselineId` null: nothing to compare with. `candidateId` null: of an evaluation. */
export interface RowSides {
  baselineId: string | null;
  candidateId: string | null;
}

export interface RowSide {
  candidateId: string | null;
  reward: number | null;
  rollouts: number;
  /** The last rollout that succeeded, else the last. */
  shown: string;
}

export interface Row {
  seed: number;
  group: RowGroup;
  /** null: it has not run on the row. */
  baseline: RowSide | null;
  candidate: RowSide | null;
}

/** The rows on which either side has run, by seed. `runs`: in the order of their requests. */
export function collectRows(runs: readonly RowRun[], { baselineId, candidateId }: RowSides): Row[] {
  const [ofBaseline, ofCandidate] = [bySeed(runs, baselineId), bySeed(runs, candidateId)];
  const before = baselineId === null ? null : ofBaseline;
  const seeds = new Set([...ofCandidate.keys(), ...(before?.keys() ?? [])]);
  return [...seeds]
    .sort((left, right) => left - right)
    .map((seed): Row => {
      const [theirs, own] = [before && (before.get(seed) ?? []), ofCandidate.get(seed) ?? []];
      return {
        seed,
        group: groupOf(theirs && countsOf(theirs), countsOf(own)),
        baseline: theirs && sideOf(theirs),
        candidate: sideOf(own),
      };
    });
}

function bySeed(runs: readonly RowRun[], candidateId: string | null): Map<number, RowRun[]> {
  return groupBy(
    runs.filter((run) => run.candidateId === candidateId),
    ({ seed }) => seed,
  );
}

function countsOf(runs: readonly RowRun[]): RowRuns {
  const rewards = runs.flatMap(({ reward }) => reward ?? []);
  return { rewards, failed: runs.length - rewards.length };
}

function sideOf(runs: readonly RowRun[]): RowSide | null {
  const shown = runs.findLast(({ reward }) => reward !== null) ?? runs.at(-1);
  if (!shown) return null;
  const { candidateId, rolloutId } = shown;
  return { candidateId, reward: rewardOf(countsOf(runs)), rollouts: runs.length, shown: rolloutId };
}
