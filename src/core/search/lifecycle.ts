/**
 * The life cycle of a search: baseline, generations, held-out comparison, end. An algorithm adds
 * `SearchSteps`: what it proposes, accepts and selects.
 * Invariants: the path follows from config and responses alone; `next` only reads; `apply` leaves
 * its argument unchanged and refuses responses that do not fit the request.
 */
import { areInVain, emptySentences, totalEmpty } from '../answers/empty-answers.js';
import { hasAllFailed, rewardsOf, type Batch, type Pair } from './batch.js';
import { isBudgetLow } from './budget.js';
import { heldoutMeans } from './evaluation.js';
import type {
  Decision,
  SearchAlgorithm,
  SearchLimits,
  SearchRequest,
  SearchResponse,
  SearchView,
  Step,
  StoppedBy,
} from './protocol.js';
import { foldRound, openRound, requestOf, type RoundAnswers } from './round.js';
import type {
  CommonPhase,
  EndPhase,
  RatedCandidate,
  Round,
  PhaseOf,
  RoundOf,
  SearchState,
  SeededState,
} from './state.js';

/** What follows after the last answer of a round. */
type AfterRound<State, Phase> = (state: State, round: Phase, decisions: Decision[], answers: RoundAnswers) => State;

/** The part of a search that differs between algorithms. */
export interface SearchSteps<State extends SearchState> {
  /** Keeps the rewards of a complete round, except held-out ones. */
  keep(state: State, round: Round): State;
  /** By the name of the round. */
  after: { [Name in RoundOf<State>['name']]: AfterRound<State, PhaseOf<State, Name>> };
  /** Begins the generation after the last one; in phase `done`: the search would end at once. */
  resume(state: State, decisions: Decision[]): State;
  view(state: State): SearchView;
}

export function defineSearch<State extends SearchState>(steps: SearchSteps<State>): SearchAlgorithm<State> {
  const next = (state: State): SearchRequest => {
    const { phase }: SearchState = state;
    if (isRound(phase)) return requestOf(state, phase);
    return phase.name === 'done'
      ? { kind: 'done', stoppedBy: phase.stoppedBy }
      : { kind: 'failed', code: phase.code, message: phase.message };
  };
  const fold = (state: State, response: SearchResponse, decisions: Decision[]): State => {
    const { phase }: SearchState = state;
    const { kind } = next(state);
    if (!isRound(phase) || response.kind !== kind) {
      throw new Error(`response of kind "${response.kind}" does not fit a request of kind "${kind}"`);
    }
    const { state: folded, round, answers } = foldRound(state, phase, response, decisions);
    const after = { ...folded, phase: { ...phase, ...round } };
    if (answers === null) return after;
    const failure = phase.name === 'baseline' ? failureOfBaseline(round.batches.baseline!) : null;
    if (failure !== null) return { ...after, phase: failure };
    const kept = phase.name === 'heldout' ? after : steps.keep(after, round);
    const advance = steps.after[phase.name as RoundOf<State>['name']] as AfterRound<State, Round>;
    const advanced = advance(kept, after.phase, decisions, answers);
    const goesOn = phase.name === 'heldout' && 'isExtended' in phase && isDone(advanced.phase);
    return goesOn ? steps.resume(advanced, decisions) : advanced;
  };
  const apply = (state: State, response: SearchResponse): Step<State> => {
    const decisions: Decision[] = [];
    const after = fold(state, response, decisions);
    return { state: warnOfBudget(after, decisions), decisions };
  };
  const extend = (before: State, limits: Partial<SearchLimits>): Step<State> | { endsBy: string } => {
    const decisions: Decision[] = [];
    // Patience and progress count from here on.
    const anew = { budgetWarned: false, quiet: 0, extendedAt: before.history.length };
    const state: State = { ...before, config: { ...before.config, ...limits }, ...anew };
    const { phase }: SearchState = state;
    if (phase.name === 'failed') return { endsBy: (phase as Extract<EndPhase, { name: 'failed' }>).code };
    if (phase.name === 'heldout') return { state: { ...state, phase: { ...phase, isExtended: true } }, decisions };
    if (phase.name !== 'done') return { state, decisions };
    const after = steps.resume(state, decisions);
    const { phase: resumed }: SearchState = after;
    return isDone(resumed) ? { endsBy: resumed.stoppedBy } : { state: warnOfBudget(after, decisions), decisions };
  };
  const give = (state: State, id: string): State | null => {
    const { phase, given = [] }: SearchState = state;
    const isEnding = !isRound(phase) || (phase.name === 'heldout' && !('isExtended' in phase));
    return isEnding ? null : { ...state, given: [...given, id] };
  };
  return { next, apply, give, extend, view: (state) => steps.view(state) };
}

function isDone(phase: SearchState['phase']): phase is Extract<EndPhase, { name: 'done' }> {
  return phase.name === 'done';
}

function isRound(phase: SearchState['phase']): phase is Round & { name: string } {
  return 'batches' in phase;
}

function warnOfBudget<State extends SearchState>(state: State, decisions: Decision[]): State {
  if (state.budgetWarned || !isBudgetLow(state)) return state;
  decisions.push({ type: 'budget_warning', rolloutsUsed: state.asked, maxRollouts: state.config.maxRollouts! });
  return { ...state, budgetWarned: true };
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

/** Why a search cannot begin from its baseline, or null. */
function failureOfBaseline(batch: Batch): EndPhase | null {
  const { length } = batch.rewards;
  if (hasAllFailed(batch, 0)) {
    // The job's error adds the cause of the failures.
    const message = `All ${length} answers of the baseline failed, so the search cannot begin; fix the cause.`;
    return { name: 'failed', code: 'baseline_failed', message };
  }
  // Nothing can be learnt from silence.
  const { empty = {} } = batch;
  if (!areInVain(empty, length)) return null;
  const count = `${totalEmpty(empty)} of ${length} answers of the baseline are empty`;
  const message = `${count}, so no other prompt was written. ${emptySentences(empty)}`;
  return { name: 'failed', code: 'answers_empty', message };
}

/** Begins the held-out comparison; without pairs the search is done. */
export function finish<State extends SearchState>(state: State, stoppedBy: StoppedBy, heldout: Pair[]): State {
  const phaseOf = (round: Round): CommonPhase => ({ ...round, name: 'heldout', stoppedBy });
  return heldout.length > 0 ? openRound(state, { heldout }, phaseOf) : done(state, stoppedBy);
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
  { batches, stoppedBy }: Extract<CommonPhase, { name: 'heldout' }>,
): State {
  const batch = batches.heldout!;
  if (batch.pairs.some(([candidate]) => hasAllFailed(batch, candidate))) return done(state, stoppedBy);
  return done(
    { ...state, heldout: heldoutMeans(state.config, batch.pairs, rewardsOf(batch)!, state.heldout) },
    stoppedBy,
  );
}
