/**
 * The life cycle of a search: baseline, generations, held-out comparison, end. An algorithm adds
 * `SearchSteps`: what it proposes, accepts and selects.
 * Invariants: the path follows from config and responses alone; `next` only reads; `apply` leaves
 * its argument unchanged and refuses responses that do not fit the request.
 */
import { areInVain, emptySentences, totalEmpty } from '../answers/empty-answers.js';
import { foldAnswers, hasAllFailed, openBatch, requestsOf, rewardsOf, type Batch, type Pair } from './batch.js';
import { isBudgetLow, repeatableRollouts } from './budget.js';
import { addCosts } from './costs.js';
import { heldoutMeans } from './evaluation.js';
import { addResults } from './results.js';
import type {
  Decision,
  RolloutAnswer,
  SearchAlgorithm,
  SearchLimits,
  SearchRequest,
  SearchResponse,
  SearchView,
  Stage,
  Step,
  StoppedBy,
} from './protocol.js';
import type { CommonPhase, EndPhase, RatedCandidate, RolloutPhase, SearchState, SeededState } from './state.js';

/** The part of a search that differs between algorithms. */
export interface SearchSteps<State extends SearchState> {
  /** The request of a phase without a batch. */
  request(state: State): SearchRequest;
  /** Folds in the response of a phase without a batch; null: it does not fit the phase. */
  respond(state: State, response: SearchResponse, decisions: Decision[]): State | null;
  /** Continues after the last rollout of a phase; `rewards` are in the order of its pairs. */
  advance(
    state: State,
    phase: Extract<State['phase'], { batch: Batch }>,
    rewards: readonly number[],
    decisions: Decision[],
  ): State;
  /** Begins the generation after the last one; null: the search would end at once. */
  resume(state: State, decisions: Decision[]): State | null;
  view(state: State): SearchView;
}

export function defineSearch<State extends SearchState>(steps: SearchSteps<State>): SearchAlgorithm<State> {
  const next = (state: State): SearchRequest => {
    const { phase, generation }: SearchState = state;
    if (isRolloutPhase(phase)) return { kind: 'rollouts', requests: requestsOf(phase.batch, phase.name, generation) };
    return isEndPhase(phase) ? endRequest(phase) : steps.request(state);
  };
  const fold = (state: State, response: SearchResponse, decisions: Decision[]): State => {
    const { phase }: SearchState = state;
    if (isRolloutPhase(phase) && response.kind === 'rollouts') {
      const after = foldRollouts(state, phase, response.answers, decisions);
      const waiting = after.phase as Extract<State['phase'], { batch: Batch }>;
      const rewards = rewardsOf(waiting.batch);
      if (rewards === null) return after;
      if (phase.name === 'baseline' && hasAllFailed(waiting.batch, 0)) return failWithFailedBaseline(after, rewards);
      if (phase.name === 'baseline' && areInVain(waiting.batch.empty ?? {}, rewards.length)) {
        return failWithEmptyBaseline(after, waiting.batch);
      }
      const advanced = steps.advance(after, waiting, rewards, decisions);
      const goesOn = phase.name === 'heldout' && 'isExtended' in phase && isDone(advanced);
      return (goesOn && steps.resume(advanced, decisions)) || advanced;
    }
    const after = steps.respond(state, response, decisions);
    if (after !== null) return after;
    throw new Error(`response of kind "${response.kind}" does not fit a request of kind "${next(state).kind}"`);
  };
  const apply = (state: State, response: SearchResponse): Step<State> => {
    const decisions: Decision[] = [];
    const after = fold(state, response, decisions);
    return { state: warnOfBudget(after, decisions), decisions };
  };
  const extend = (before: State, limits: Partial<SearchLimits>): Step<State> | null => {
    const decisions: Decision[] = [];
    // Patience counts from here on.
    const state: State = { ...before, config: { ...before.config, ...limits }, budgetWarned: false, quiet: 0 };
    const { phase }: SearchState = state;
    if (phase.name === 'failed') return null;
    if (phase.name === 'heldout') return { state: { ...state, phase: { ...phase, isExtended: true } }, decisions };
    if (phase.name !== 'done') return { state, decisions };
    const after = steps.resume(state, decisions);
    return after && !isDone(after) ? { state: warnOfBudget(after, decisions), decisions } : null;
  };
  const give = (state: State, id: string): State | null => {
    const { phase, given = [] }: SearchState = state;
    const isEnding = isEndPhase(phase) || (phase.name === 'heldout' && !('isExtended' in phase));
    return isEnding ? null : { ...state, given: [...given, id] };
  };
  return { next, apply, give, extend, view: (state) => steps.view(state) };
}

function isDone({ phase }: SearchState): boolean {
  return phase.name === 'done';
}

function isRolloutPhase(phase: SearchState['phase']): phase is RolloutPhase {
  return 'batch' in phase;
}

function isEndPhase(phase: SearchState['phase']): phase is EndPhase {
  return phase.name === 'done' || phase.name === 'failed';
}

function endRequest(phase: EndPhase): SearchRequest {
  if (phase.name === 'done') return { kind: 'done', stoppedBy: phase.stoppedBy };
  return { kind: 'failed', code: phase.code, message: phase.message };
}

function foldRollouts<State extends SearchState>(
  state: State,
  phase: RolloutPhase,
  answers: readonly RolloutAnswer[],
  decisions: Decision[],
): State {
  const { state: after, batch } = foldBatch(state, phase.name, phase.batch, answers, decisions);
  return { ...after, phase: { ...phase, batch } };
}

/** Folds the answers to all outstanding requests of a batch into the batch and the counts. */
export function foldBatch<State extends SearchState>(
  state: State,
  stage: Stage,
  asked: Batch,
  answers: readonly RolloutAnswer[],
  decisions: Decision[],
): { state: State; batch: Batch } {
  const { batch, nextOrdinal } = foldAnswers(asked, answers, state.asked, repeatableRollouts(state, stage));
  const counting = new Set(batch.ordinals);
  const repeated = asked.ordinals.filter((ordinal) => !counting.has(ordinal));
  if (repeated.length > 0) decisions.push({ type: 'rollouts_repeated', ordinals: repeated });
  const counts = { asked: nextOrdinal, answered: state.answered + answers.length };
  return { state: { ...state, ...costsAfter(state, asked, answers), ...counts }, batch };
}

/** The costs with those of successful rollouts: a failed rollout may have stopped early. */
function costsAfter(
  { costs }: SearchState,
  batch: Batch,
  answers: readonly RolloutAnswer[],
): Pick<SearchState, 'costs'> {
  const candidateOf = new Map(batch.ordinals.map((ordinal, index) => [ordinal, batch.pairs[index]![0]]));
  const known = answers.flatMap(({ ordinal, reward, cost }) => {
    return reward === null || cost === undefined ? [] : [{ candidate: candidateOf.get(ordinal)!, cost }];
  });
  return known.length === 0 ? {} : { costs: addCosts(costs ?? {}, known) };
}

function warnOfBudget<State extends SearchState>(state: State, decisions: Decision[]): State {
  if (state.budgetWarned || !isBudgetLow(state)) return state;
  decisions.push({ type: 'budget_warning', rolloutsUsed: state.asked, maxRollouts: state.config.maxRollouts! });
  return { ...state, budgetWarned: true };
}

export function ask<State extends SearchState>(
  state: State,
  pairs: Pair[],
  toPhase: (batch: Batch) => State['phase'],
): State {
  return { ...state, asked: state.asked + pairs.length, phase: toPhase(openBatch(pairs, state.asked)) };
}

/** Adds a batch's rewards. Seeds that cannot be verified train no longer. */
export function addRewards<State extends SeededState>(state: State, batch: Batch, rewards: readonly number[]): State {
  const measured = batch.pairs.map(([candidate, seed], index) => {
    return { candidate, seed, ordinal: batch.ordinals[index]!, reward: rewards[index]! };
  });
  const added = { ...state, results: addResults(state.results, measured) };
  if (!batch.unverified) return added;
  const unverified = new Set(batch.unverified.map(([, seed]) => seed));
  return { ...added, order: state.order.filter((seed) => !unverified.has(seed)) };
}

/** Records the end of a generation; `quiet` counts generations in a row without progress. */
export function recordGeneration<State extends SearchState>(
  state: State,
  { candidate, reward }: RatedCandidate,
  quiet: number,
  decisions: Decision[],
): State {
  const { generation, history } = state;
  decisions.push({ type: 'generation_complete', generation, bestReward: reward, bestCandidate: candidate });
  return { ...state, history: [...history, reward], quiet };
}

/** Why the search ends after a generation, or null; `other` is the algorithm's own reason. */
export function stopReason({ config, quiet }: SearchState, reward: number, other: StoppedBy | null): StoppedBy | null {
  const { targetReward, patience } = config;
  if (targetReward !== null && reward >= targetReward) return 'target_reward';
  return other ?? (patience !== null && quiet >= patience ? 'patience' : null);
}

/** Ends a search whose baseline has no reward: nothing can be compared with it. */
export function failWithoutBaseline<State extends SearchState>(state: State): State {
  const message = 'No output of the baseline could be scored.';
  const phase: EndPhase = { name: 'failed', code: 'judgement_unusable', message };
  return { ...state, phase };
}

/** Ends a search whose baseline has only failed rollouts; the job's error adds their cause. */
function failWithFailedBaseline<State extends SearchState>(state: State, { length }: readonly number[]): State {
  const message = `All ${length} rollouts of the baseline failed, so the search cannot begin; fix the cause.`;
  const phase: EndPhase = { name: 'failed', code: 'baseline_failed', message };
  return { ...state, phase };
}

/** Ends a search whose baseline has hardly any answer: nothing can be learnt from silence. */
function failWithEmptyBaseline<State extends SearchState>(state: State, { empty = {}, rewards }: Batch): State {
  const count = `${totalEmpty(empty)} of ${rewards.length} answers of the baseline are empty`;
  const message = `${count}, so no other prompt was written. ${emptySentences(empty)}`;
  const phase: EndPhase = { name: 'failed', code: 'answers_empty', message };
  return { ...state, phase };
}

/** Begins the held-out comparison; without pairs the search is done. */
export function finish<State extends SearchState>(state: State, stoppedBy: StoppedBy, heldout: Pair[]): State {
  const phaseOf = (batch: Batch): CommonPhase => ({ name: 'heldout', batch, stoppedBy });
  return heldout.length > 0 ? ask(state, heldout, phaseOf) : done(state, stoppedBy);
}

export function done<State extends SearchState>(state: State, stoppedBy: StoppedBy): State {
  const phase: EndPhase = { name: 'done', stoppedBy };
  return { ...state, phase };
}

/**
 * Stores the held-out rewards of `heldoutPairs` and ends the search. There is no comparison if
 * every rollout of one of the two failed.
 */
export function afterHeldout<State extends SeededState>(
  state: State,
  { batch, stoppedBy }: { batch: Batch; stoppedBy: StoppedBy },
  rewards: readonly number[],
): State {
  if (batch.pairs.some(([candidate]) => hasAllFailed(batch, candidate))) return done(state, stoppedBy);
  return done({ ...state, heldout: heldoutMeans(state.config, batch.pairs, rewards, state.heldout) }, stoppedBy);
}
