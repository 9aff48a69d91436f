/** The trials of a generation on live traffic without seeds, and their verdicts. */
import { exceeds, sum } from '../../math/rewards.js';
import { pairsOf, type Pair } from '../../search/batch.js';
import { rewardModelOf } from '../../search/model-cache.js';
import type { Decision } from '../../search/protocol.js';
import { measuredOn } from '../../search/results.js';
import type { RewardModel } from '../../search/reward-model.js';
import type { PhaseOf } from '../../search/state.js';
import { reject } from '../../search/candidates.js';
import { affordableTrials } from './budget.js';
import { miproLimits, trialSize } from './config.js';
import { expectedReward } from './expected-reward.js';
import { candidateOf, knownCombinations, parentsOf, spaceOf } from './space.js';
import type { MiproState, NewCombination } from './state.js';
import { suggest } from './tpe.js';

/** The generation's trials: the candidates `first`, then the sampler's combinations. */
export function chooseTrials(
  before: MiproState,
  first: readonly number[],
): { state: MiproState; combinations: NewCombination[]; trying: number[] } {
  const model = rewardModelOf(before);
  const space = spaceOf(before);
  const known = knownCombinations(before)
    .filter(({ candidate }) => before.results[candidate] !== undefined)
    .map(({ candidate, choices }) => ({ choices, value: expectedReward(before, model, candidate) }));
  const count = affordableTrials(before);
  const trying = first.slice(0, count);
  const pending = trying.map((candidate) => before.choices[candidate]!);
  const combinations: NewCombination[] = [];
  let state = before;
  while (pending.length < count && state.nextCandidate < miproLimits.candidates) {
    const [choices, rng] = suggest(state.rng, space, known, pending);
    pending.push(choices);
    const candidate = candidateOf(state, choices);
    state = { ...state, rng };
    if (candidate !== undefined) {
      if (!trying.includes(candidate)) trying.push(candidate);
      continue;
    }
    if (combinations.some((combination) => combination.choices.join() === choices.join())) continue;
    combinations.push({ candidate: state.nextCandidate, parents: parentsOf(state, choices), choices });
    trying.push(state.nextCandidate);
    state = { ...state, nextCandidate: state.nextCandidate + 1 };
  }
  return { state: { ...state, trials: state.trials + trying.length }, combinations, trying };
}

/** The next evaluation seeds in turn, as many as a minibatch has. */
export function nextMinibatch({ config, evaluationOrder, evaluationOffset }: MiproState): number[] {
  const size = Math.min(trialSize(config), evaluationOrder.length);
  return Array.from(
    { length: size },
    (_, index) => evaluationOrder[(evaluationOffset + index) % evaluationOrder.length]!,
  );
}

/** The rollouts of the trials. */
export function trialPairs(before: MiproState, trying: readonly number[]): { state: MiproState; pairs: Pair[] } {
  const seeds = nextMinibatch(before);
  const state = { ...before, evaluationOffset: before.evaluationOffset + seeds.length };
  return { state, pairs: trying.flatMap((candidate) => pairsOf(candidate, seeds)) };
}

/** Accepts or rejects each candidate after its first trial: it must promise more than the best. */
export function judgeTrials(
  before: MiproState,
  { trying, batches }: PhaseOf<MiproState, 'gate'>,
  decisions: Decision[],
): MiproState {
  const { generation, best } = before;
  const first = Math.min(...batches.gate!.ordinals);
  const model = rewardModelOf(before);
  let state = before;
  for (const candidate of [...trying].sort((left, right) => left - right)) {
    const { status } = state.candidates.find((summary) => summary.candidate === candidate)!;
    if (candidate === 0 || status !== 'proposed' || !isFirstTrial(state, candidate, first)) continue;
    const sums = sumsOf(state, model, candidate, best!.candidate);
    const estimate = expectedReward(state, model, candidate);
    if (exceeds(estimate, best!.reward)) {
      decisions.push({ type: 'candidate_accepted', candidate, generation, ...sums, estimate });
      continue;
    }
    state = reject(state, { candidate, generation, reason: 'not_better', ...sums }, decisions);
  }
  return state;
}

/** Whether a candidate has no rollout before the ordinal `first`. */
function isFirstTrial({ results }: MiproState, candidate: number, first: number): boolean {
  return Object.values(results[candidate] ?? {}).every((measured) => measured.every(([ordinal]) => ordinal >= first));
}

/** The expected rewards of a candidate and of the best on the candidate's seeds. */
function sumsOf({ evaluationOrder, results }: MiproState, model: RewardModel, candidate: number, best: number) {
  const seeds = evaluationOrder.filter((seed) => measuredOn(results, candidate, seed).length > 0);
  const sumFor = (wanted: number) => sum(seeds.map((seed) => model.posterior(wanted, seed)?.mean ?? 0));
  return { parentSum: sumFor(best), childSum: sumFor(candidate), tested: seeds.length };
}
