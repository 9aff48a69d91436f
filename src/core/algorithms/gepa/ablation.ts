/**
 * Ablation at the end of a search. Of a graph: the incumbent without one of its steps, for each
 * step; a child is accepted if it loses nothing and costs less. Of a prompt on open text: without
 * half of its turns or of the sentences that the search wrote, as long as no tested row is lost.
 */
import { searchRollouts } from '../../search/budget.js';
import { evaluationRollouts } from '../../search/config.js';
import { isCheaper } from '../../search/costs.js';
import { rewardModelOf } from '../../search/model-cache.js';
import type { ProposalAnswer } from '../../search/protocol.js';
import type { RewardModel } from '../../search/reward-model.js';
import { solvedSeeds } from '../../search/targeted-test.js';
import { gepaLimits, roomForCandidates } from './config.js';
import { ownSet, withTurns } from './demonstrations.js';
import { isOpenText } from './open-text.js';
import { hasAccepted, incumbentOf } from './pool.js';
import { isShortened, newTrial, type GepaState, type Shortening, type Trial } from './state.js';

/** Seeds of the first test round: most steps that do something lose one of them. */
export const firstSeeds = 2;
/** In place of a count: no further step can be removed. */
const allAblated = gepaLimits.candidates;
/** The halves that are tried to remove, in turn; `ablation` numbers those of sentences. */
const halves = [
  { of: 'turns', keeps: 'first' },
  { of: 'turns', keeps: 'last' },
  { of: 'sentences', ablation: 0 },
  { of: 'sentences', ablation: 1 },
] as const;
type Half = (typeof halves)[number];
/** Rows of each of the two tests of a shorter prompt. */
export const shorteningRows = 3;
/** Generations in a row without a gain, from which on rollouts are kept for these tests. */
const quietGenerations = 2;
/** The share of the budget that is kept, and the most rollouts. */
const shorteningShare = 1 / 30;
const mostReserved = 40;

/** Plans the incumbent without its next step; null: there is none, or no budget. */
export function planAblation(state: GepaState): Trial | null {
  const model = rewardModelOf(state);
  const incumbent = incumbentOf(state, model);
  if (!canAblate(state, incumbent) || searchRollouts(state) <= firstSeeds) return null;
  const { nextCandidate: candidate } = state;
  const ablation = ablationsOf(state, incumbent);
  const shown = solvedSeeds(state, model, incumbent, candidate).slice(0, firstSeeds);
  if (shown.length === 0) return null;
  return { ...newTrial(candidate, state.generation, [incumbent]), shown, ablation };
}

/** Counts an answered ablation; a failed one was the last of its parent. */
export function countAblation(state: GepaState, trial: Trial, { outcome }: ProposalAnswer): GepaState {
  const { parents, ablation } = trial;
  if (ablation === undefined || isShortened(trial)) return state;
  const count = outcome === 'failed' ? allAblated : ablation + 1;
  return { ...state, ablated: { ...state.ablated, [parents[0]!]: count } };
}

/** The rollouts that a search keeps for the ablation of its incumbent. */
export function ablationReserve(state: GepaState, model: RewardModel): number {
  const incumbent = incumbentOf(state, model);
  if (canAblate(state, incumbent)) return firstSeeds + ablationSeeds(state);
  // While the search gains, further gains are worth more.
  const isQuiet = state.quiet >= quietGenerations && !hasAccepted(state);
  if (!isQuiet || !canShorten(state, model, incumbent)) return 0;
  return Math.floor(Math.min(mostReserved, shorteningShare * (state.config.maxRollouts ?? 0)));
}

/** The most seeds of the second test round. */
export function ablationSeeds({ config }: GepaState): number {
  return evaluationRollouts(config);
}

/** Only a graph that costs more than the first one can have steps that do nothing. */
function canAblate(state: GepaState, incumbent: number): boolean {
  const { config, costs } = state;
  if (config.editsStructure !== true || roomForCandidates(state) <= 0) return false;
  return isCheaper(costs, 0, incumbent) && ablationsOf(state, incumbent) < allAblated;
}

function ablationsOf({ ablated = {} }: GepaState, candidate: number): number {
  return ablated[candidate] ?? 0;
}

/**
 * Plans the incumbent, or the last shorter form of it that lost nothing, without a further half of
 * its parts; null: all were tried, or no budget.
 */
export function planShortening(state: GepaState, model: RewardModel, incumbent: number): Shorter | null {
  if (!canShorten(state, model, incumbent) || searchRollouts(state) <= shorteningRows) return null;
  if (roomForCandidates(state) <= 0) return null;
  const from = shorteningOf(state, incumbent);
  const rows = tellingRows(state, model, from.shortest, state.nextCandidate);
  // Both of its tests need rows.
  if (rows.length <= shorteningRows) return null;
  const shown = rows.slice(0, shorteningRows);
  for (let half = from.half; half < halves.length; half += 1) {
    const parts = withoutHalf(state, from.shortest, halves[half]!);
    if (parts === null) continue;
    const trial = { ...newTrial(state.nextCandidate, state.generation, [from.shortest]), ...parts, shown };
    return { trial: { ...trial, approach: 'compress' }, shortening: { ...from, half, asked: trial.candidate } };
  }
  return null;
}

interface Shorter {
  trial: Trial;
  shortening: Shortening;
}

/** The shortest form of the incumbent that lost nothing; null: it has none. */
export function shortestForm(state: GepaState, incumbent: number): number | null {
  const { shortest } = shorteningOf(state, incumbent);
  return shortest === incumbent ? null : shortest;
}

function canShorten(state: GepaState, model: RewardModel, incumbent: number): boolean {
  return incumbent !== 0 && isOpenText(state, model);
}

/** The next half to remove, after the verdict on the last one. */
function shorteningOf({ shortening, candidates }: GepaState, incumbent: number): Omit<Shortening, 'asked'> {
  if (shortening?.incumbent !== incumbent) return { incumbent, shortest: incumbent, half: 0 };
  const { shortest, half, asked } = shortening;
  const isKept = candidates.some(({ candidate, status }) => candidate === asked && status !== 'rejected');
  // What is left has halves again.
  if (isKept) return { incumbent, shortest: asked, half: halves.findIndex(({ of }) => of === halves[half]!.of) };
  return { incumbent, shortest, half: half + 1 };
}

function withoutHalf(state: GepaState, candidate: number, half: Half): Pick<Trial, 'compose' | 'ablation'> | null {
  const { demonstrations: known } = state;
  if (half.of === 'sentences') return { ablation: half.ablation };
  if (typeof known !== 'object') return null;
  const own = ownSet(state, candidate, known);
  const middle = Math.floor(own.length / 2);
  const kept = half.keeps === 'first' ? own.slice(0, middle) : own.slice(middle);
  return kept.length === own.length ? null : { compose: withTurns(known, candidate, kept) };
}

/**
 * Rows that the parent solves and the candidate did not run, those first that the baseline fails:
 * there the prompt makes the difference.
 */
export function tellingRows(state: GepaState, model: RewardModel, parent: number, candidate: number): number[] {
  const solved = solvedSeeds(state, model, parent, candidate);
  const isRepaired = (seed: number) => (model.posterior(0, seed)?.mean ?? 1) < model.posterior(parent, seed)!.mean;
  return [...solved.filter(isRepaired), ...solved.filter((seed) => !isRepaired(seed))];
}
