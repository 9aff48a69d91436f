import { meanInterval, type Interval } from '../math/mean-interval.js';
import { conclusionOf, rowsToDecide, sampleOf, testPaired, type Sample, type Tested } from '../math/statistics.js';
import { forUnseenRows, type RewardEstimate } from './reward-model.js';
import { remainingRollouts } from './budget.js';
import { evaluationRollouts } from './config.js';
import type { CandidateTest, SearchVerdict, SearchView, StoppedBy } from './protocol.js';
import { noiseOf, type Results } from './results.js';
import { phaseOf } from './round.js';
import type { RatedCandidate, SearchState, SeededState } from './state.js';

interface ViewParts {
  totalGenerations: number;
  /** The most rollouts that are likely to follow the requested ones without a limit. */
  rolloutsAhead: number;
  best: RatedCandidate | null;
  estimate: NonNullable<SearchView['estimate']> | null;
  noise: NonNullable<SearchView['noise']> | null;
  tests?: CandidateTest[];
  /** Called at the end of the search. */
  verdict: () => SearchVerdict | null;
  nothingLeft?: () => StoppedBy | null;
}

/** At the end `rolloutsPlanned` equals `rolloutsCompleted`. */
export function searchView(state: SearchState, parts: ViewParts): SearchView {
  const { config, phase } = state;
  const isEnding = phase.name === 'heldout' || phase.name === 'done' || phase.name === 'failed';
  return {
    generation: state.generation,
    totalGenerations: parts.totalGenerations,
    rolloutsPlanned: state.asked + (isEnding ? 0 : Math.min(remainingRollouts(state), parts.rolloutsAhead)),
    rolloutsCompleted: state.answered,
    maxRollouts: config.maxRollouts,
    evaluationRollouts: evaluationRollouts(config),
    candidates: state.candidates,
    ...(parts.tests && { tests: parts.tests }),
    history: state.history.map((bestReward, generation) => ({ generation, bestReward })),
    bestCandidate: parts.best?.candidate ?? null,
    bestReward: parts.best?.reward ?? null,
    bestInterval: intervalOf(state, parts.best),
    estimate: parts.estimate,
    noise: parts.noise,
    verdict: phase.name === 'done' ? parts.verdict() : null,
    nothingLeft: (phase.name === 'done' && parts.nothingLeft?.()) || null,
    ...(state.extendedAt !== undefined && { extendedAt: state.extendedAt }),
    evaluationSeeds: config.evaluationSeeds.length,
    heldoutSeeds: config.heldoutSeeds.length,
    phase: phaseOf(state),
  };
}

/** A candidate's expected reward on unseen rows: as it is measured, else as it is forecast. */
export function estimateOfCandidate(
  { candidates, config }: SearchState,
  candidate: number,
  forecast: () => RewardEstimate,
): NonNullable<SearchView['estimate']> {
  const { reward, interval } = candidates.find((summary) => summary.candidate === candidate)!;
  if (reward !== null) return { candidate, reward, ...interval! };
  const { mean, low, high } = forUnseenRows(forecast(), config.evaluationSeeds.length);
  return { candidate, reward: mean, low, high };
}

/** The interval of the evaluation that a reward is the mean of; null: of an earlier one. */
function intervalOf({ candidates }: SearchState, best: RatedCandidate | null): Interval | null {
  const evaluated = best && candidates.find(({ candidate }) => candidate === best.candidate);
  return evaluated && evaluated.reward === best!.reward ? evaluated.interval! : null;
}

/** Generations that may still test candidates. */
export function generationsAhead(
  { generation, phase }: SearchState,
  total: number,
  isEvaluation = phase.name === 'evaluation',
): number {
  return Math.max(0, total - generation) + (isEvaluation ? 0 : 1);
}

/** The noise of equal rollouts; null: none was repeated. */
export function noiseView(results: Results): NonNullable<SearchView['noise']> | null {
  const { variance, comparisons } = noiseOf(results);
  return comparisons === 0 ? null : { sd: Math.sqrt(variance), comparisons };
}

/**
 * The winner against the baseline by seeds: held-out ones, else the evaluation's. `meansOf` returns
 * the mean on each evaluation seed, null where it is not measured. Null: no seed can be compared.
 */
export function verdictBySeeds(
  { best, heldout: last }: SeededState,
  meansOf: (candidate: number) => readonly (number | null)[],
): SearchVerdict | null {
  if (best === null) return null;
  // An extended search may have another winner since.
  const heldout = last?.candidate === best.candidate ? last : null;
  const { baseline, winner } = heldout ?? pairedMeans(meansOf(0), meansOf(best.candidate));
  if (winner.length === 0) return null;
  const comparison = best.candidate === 0 ? noDifference : testPaired(winner, baseline);
  const basis = heldout ? 'heldout' : 'evaluation';
  return verdictOf(comparison, { basis, baseline: sampleOf(baseline), winner: sampleOf(winner) });
}

function pairedMeans(baseline: readonly (number | null)[], winner: readonly (number | null)[]) {
  const pairs = baseline.flatMap((own, index) => {
    const other = winner[index] ?? null;
    return own === null || other === null ? [] : [[own, other] as const];
  });
  return { baseline: pairs.map(([own]) => own), winner: pairs.map(([, other]) => other) };
}

/** Of the baseline and itself. */
export const noDifference: Tested = { difference: 0, low: 0, high: 0, rowsNeeded: null };

export function verdictOf(
  tested: Tested,
  { basis, baseline, winner }: Pick<SearchVerdict, 'basis'> & Record<'baseline' | 'winner', Sample>,
): SearchVerdict {
  const [ofBaseline, ofWinner] = [meanInterval(baseline), meanInterval(winner)];
  return {
    verdict: conclusionOf(tested),
    basis,
    seeds: winner.count,
    baseline: baseline.mean,
    winner: winner.mean,
    baselineInterval: { low: ofBaseline.low, high: ofBaseline.high },
    winnerInterval: { low: ofWinner.low, high: ofWinner.high },
    ...tested,
    rowsNeeded: rowsToDecide(tested, winner.count),
  };
}
