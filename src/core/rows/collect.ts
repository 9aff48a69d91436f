/** The rows of a job from the rollouts of a candidate and of the baseline. */
import { groupOf, rewardOf, type RowGroup, type RowRuns } from './groups.js';

/** A finished rollout on a row. */
export interface RowRun {
  rolloutId: string;
  seed: number;
  /** null: it failed. */
  reward: number | null;
}

/** `baselineId` null: nothing to compare with. `candidateId` null: of an evaluation. */
export interface RowSides {
  baselineId: string | null;
  candidateId: string | null;
}

/** The rollouts of each side, in the order of their requests. */
export interface SideRuns {
  baseline: readonly RowRun[];
  candidate: readonly RowRun[];
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

/** The rollouts of a candidate on a row. */
interface SeedRuns extends RowRuns {
  shown: string;
}

const noRuns: RowRuns = { rewards: [], failed: 0 };

/** The rows on which either side has run, by seed. */
export function collectRows(runs: SideRuns, { baselineId, candidateId }: RowSides): Row[] {
  const own = runsBySeed(runs.candidate);
  const before = baselineId === null ? null : runsBySeed(runs.baseline);
  const seeds = new Set([...own.keys(), ...(before?.keys() ?? [])]);
  return [...seeds]
    .sort((left, right) => left - right)
    .map((seed): Row => {
      const [theirs, ours] = [before?.get(seed), own.get(seed)];
      return {
        seed,
        group: groupOf(before && (theirs ?? noRuns), ours ?? noRuns),
        baseline: theirs ? sideOf(theirs, baselineId) : null,
        candidate: ours ? sideOf(ours, candidateId) : null,
      };
    });
}

/** The rollouts of a candidate by seed. */
export function runsBySeed(runs: readonly RowRun[]): Map<number, SeedRuns> {
  const seeds = new Map<number, { rewards: number[]; failed: number; shown: string }>();
  for (const { seed, reward, rolloutId } of runs) {
    const known = seeds.get(seed);
    const row = known ?? { rewards: [], failed: 0, shown: rolloutId };
    if (!known) seeds.set(seed, row);
    if (reward !== null || row.rewards.length === 0) row.shown = rolloutId;
    if (reward === null) row.failed += 1;
    else row.rewards.push(reward);
  }
  return seeds;
}

function sideOf(runs: SeedRuns, candidateId: string | null): RowSide {
  const { rewards, failed, shown } = runs;
  return { candidateId, reward: rewardOf(runs), rollouts: rewards.length + failed, shown };
}
