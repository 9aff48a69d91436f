/** Full evaluations of candidates. */
import { exceeds, mean, sum } from '../../math/rewards.js';
import { addPairs, judgeTest, openTest, type RewardPair } from '../../math/sequential-test.js';
import { sampleOf } from '../../math/statistics.js';
import type { Batch, Pair } from '../../search/batch.js';
import {
  evaluatedRows,
  evaluationRewards,
  isFailedEvaluation,
  missingPairs,
  recordEvaluation,
} from '../../search/evaluation.js';
import type { Decision } from '../../search/protocol.js';
import { reject, rejected } from '../../search/candidates.js';
import { isNoisy } from './expected-reward.js';
import type { MiproState } from './state.js';

/** The rewards of a candidate's evaluation, without later rollouts. */
export function evaluationOf(state: MiproState, candidate: number): number[] {
  return evaluationRewards(state, candidate, state.evaluatedAt[candidate]);
}

/** The rollouts that an evaluation lacks; unpaired, each with a rollout of the best as control. */
export function missingOf(state: MiproState, candidate: number): Pair[] {
  const pairs = missingPairs(state, candidate, isNoisy(state));
  if (state.traffic === 'paired') return pairs;
  const control = state.best!.candidate;
  return pairs.flatMap((pair): Pair[] => [pair, [control, pair[1]]]);
}

export function evaluated(before: MiproState, candidate: number, decisions: Decision[]): MiproState {
  const marked = markEvaluated(before, candidate);
  const { best, traffic } = marked;
  const reward = mean(evaluationOf(marked, candidate))!;
  const rows = sampleOf(evaluatedRows(marked, candidate, marked.evaluatedAt[candidate]));
  const state = recordEvaluation(marked, { candidate, reward }, rows, decisions);
  // Unpaired: the test compared both at the same time; the best's evaluation is older.
  const isBest = best === null || traffic === 'unpaired' || exceeds(reward, best.reward);
  if (!isBest) return state;
  return { ...state, best: { candidate, reward: best === null ? reward : Math.max(reward, best.reward) }, quiet: 0 };
}

/** Records the outcome of a complete evaluation batch. */
export function concludeEvaluation(
  before: MiproState,
  candidate: number,
  batch: Batch,
  decisions: Decision[],
): MiproState {
  if (isFailedEvaluation(before, batch, candidate)) {
    return rejected(markEvaluated(before, candidate), candidate);
  }
  if (before.traffic === 'paired' || isBetterThanBest(before, batch, candidate)) {
    return evaluated(before, candidate, decisions);
  }
  const { generation, best } = before;
  const own = rewardsIn(batch, candidate);
  const sums = { parentSum: sum(rewardsIn(batch, best!.candidate)), childSum: sum(own), tested: own.length };
  const marked = markEvaluated(before, candidate);
  return reject(marked, { candidate, generation, reason: 'not_better', ...sums }, decisions);
}

/** Whether the sequential test shows that a candidate is better than the best. */
function isBetterThanBest({ best }: MiproState, batch: Batch, candidate: number): boolean {
  const own = rewardsIn(batch, candidate);
  const control = rewardsIn(batch, best!.candidate);
  let test = openTest(Math.sqrt(sampleOf(control).variance));
  for (const [index, reward] of own.entries()) {
    test = addPairs(test, [[reward, control[index]!] satisfies RewardPair]);
    if (judgeTest(test, own.length) === 'better') return true;
  }
  return false;
}

function rewardsIn({ pairs, rewards }: Batch, wanted: number): number[] {
  return pairs.flatMap(([candidate], index) => (candidate === wanted ? [rewards[index]!] : []));
}

function markEvaluated(state: MiproState, candidate: number): MiproState {
  return { ...state, evaluatedAt: { ...state.evaluatedAt, [candidate]: state.asked } };
}
