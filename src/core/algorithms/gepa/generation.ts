/**
 * The loop of generations: GEPA's (arXiv 2507.19457, algorithm 1) with fewer rollouts. An accepted
 * child takes a targeted test instead of a full evaluation (`acceptance.ts`). By default the parent
 * has the best estimate (`parents.ts`). Reflection sees failures of earlier rollouts. Accepted
 * children are merged. Full evaluations are rare: of the most promising candidate, and at the end.
 * With several slots a round holds all work that can run side by side (`rounds.ts`): several
 * generations are in progress, and complete in order.
 * Invariants: only a fully evaluated candidate can be the best, so `history` never falls; decisions
 * come in the order of the candidates' numbers.
 */
import { isSolved } from '../../math/rewards.js';
import type { Pair } from '../../search/batch.js';
import { minibatchOf } from '../../search/config.js';
import { heldoutPairs } from '../../search/evaluation.js';
import { done, failWithoutBaseline, finish, stopReason } from '../../search/lifecycle.js';
import { rewardModelOf } from '../../search/model-cache.js';
import type { Decision, StoppedBy } from '../../search/protocol.js';
import type { RoundAnswers } from '../../search/round.js';
import type { Round } from '../../search/state.js';
import { planAblation, planShortening, shortestForm } from './ablation.js';
import { addProposed, planChildren, planGiven, planMerge } from './children.js';
import { completeEarlier, recorded, whyStop } from './completion.js';
import {
  afterEvaluation,
  countEvaluation,
  evaluated,
  isAffordable,
  isEvaluated,
  isEvaluationDue,
  missingEvaluation,
} from './evaluations.js';
import { hasEnoughFailures } from './exploration.js';
import { exploreForDemos, planDemonstrations, withExploration } from './demonstrations.js';
import { incumbentOf, trimPool } from './pool.js';
import { beginRound, runBeside, withChildren } from './rounds.js';
import type { GepaState, RoundPhase } from './state.js';
import { addDemos, exploreForDescription, requestDemos } from './shown-rows.js';
import { strategyOf } from './strategies.js';
import { decideTests, firstTest, planTests, rejectOrphans, type OpenTest } from './child-tests.js';

export function afterBaseline(state: GepaState, { batches }: Round, decisions: Decision[]): GepaState {
  const after = afterEvaluation(state, 0, batches.baseline!, decisions);
  return after.best === null ? failWithoutBaseline(after) : endGeneration(after, decisions);
}

/** Decides tests and evaluation, adds the proposed children, and plans the next round. */
export function afterRound(
  before: GepaState,
  { tests, children, batches, evaluation, begins }: RoundPhase,
  decisions: Decision[],
  { proposals }: RoundAnswers,
): GepaState {
  const decided = decideTests(before, tests, children, decisions);
  let { state } = decided;
  if (evaluation !== undefined) state = afterEvaluation(state, evaluation, batches.evaluation!, decisions);
  const added = addProposed(state, children, proposals, decisions);
  if (added.state.phase.name === 'failed') return added.state;
  const tested = rejectOrphans(added.state, tests, added.trials, decisions);
  state = tested.state;
  const open = [...decided.open, ...tested.trials.map((trial) => firstTest(state, trial))];
  if (begins && open.length === 0)
    return (
      demonstrate(state) ?? propose(state, strategyOf(state).explore.further(state, batches.minibatch!), decisions)
    );
  return planRound(state, open, decisions);
}

function isSequential({ config }: GepaState): boolean {
  return config.slots === 1;
}

/** Continues the open tests, beside all other work that can run now. */
function planRound(before: GepaState, open: readonly OpenTest[], decisions: Decision[]): GepaState {
  const planned = planTests(trimPool(before), open, decisions);
  const { tests, pairs } = planned;
  let { state } = planned;
  if (isSequential(state) && tests.length > 0) return beginRound(state, { tests, pairs: { gate: pairs } });
  const merge = planMerge(state, tests);
  const children = merge === null ? [] : [merge];
  if (merge !== null) {
    const unmerged = state.unmerged.filter(({ candidate }) => !merge.parents.includes(candidate));
    state = { ...state, unmerged, nextCandidate: state.nextCandidate + 1 };
  }
  if (children.length + pairs.length === 0) return endGeneration(state, decisions);
  if (isSequential(state)) return beginRound(state, { children });
  return runBeside(state, { tests, children, gate: pairs }, decisions);
}

/** Ends the last generation, after an evaluation of the most promising candidate if one is due. */
function endGeneration(before: GepaState, decisions: Decision[]): GepaState {
  const state = completeEarlier(trimPool(before), [], decisions);
  const given = planGiven(state);
  if (given !== null) return beginRound(given.state, { children: given.trials });
  const model = rewardModelOf(state);
  const incumbent = incumbentOf(state, model);
  const stop = whyStop(state, model, incumbent);
  const ablation = stop === null ? null : planAblation(state);
  if (ablation !== null) {
    const counted = { ...state, nextCandidate: state.nextCandidate + 1 };
    return beginRound(counted, { children: [ablation] });
  }
  const shorter = stop === 'max_rollouts' ? planShortening(state, model, incumbent) : null;
  if (shorter !== null) {
    const { trial, shortening } = shorter;
    return beginRound(withChildren({ ...state, shortening }, [trial]), { children: [trial] });
  }
  if (!isEvaluated(state, incumbent) && (stop !== null || isEvaluationDue(state, model, incumbent))) {
    const missing = missingEvaluation(state, model, incumbent);
    if (missing.length === 0) return endGeneration(evaluated(state, incumbent, decisions), decisions);
    if (isAffordable(state, missing.length)) return beginEvaluation(state, incumbent, missing);
  }
  const shortest = stop === 'max_rollouts' ? shortestForm(state, incumbent) : null;
  if (shortest !== null && !isEvaluated(state, shortest) && state.best?.candidate === incumbent) {
    const missing = missingEvaluation(state, model, shortest);
    if (missing.length === 0) return endGeneration(evaluated(state, shortest, decisions), decisions);
    if (isAffordable(state, missing.length)) return beginEvaluation(state, shortest, missing);
  }
  return finishGeneration(state, stop, decisions);
}

function beginEvaluation(state: GepaState, candidate: number, evaluation: Pair[]): GepaState {
  const counted = countEvaluation(state, evaluation.length);
  return beginRound(counted, { pairs: { evaluation }, evaluation: candidate });
}

function finishGeneration(before: GepaState, stop: StoppedBy | null, decisions: Decision[]): GepaState {
  const best = before.best!;
  const reason = orSolved(stop, best.reward);
  // Known texts alone: the next questions are those of the same generation.
  const isVoid = before.generation > before.begun;
  if (isVoid && stopReason(before, best.reward, reason) === null) return beginGeneration(before, decisions);
  const state = recorded({ ...before, begun: before.generation }, decisions);
  const stoppedBy = stopReason(state, best.reward, reason);
  if (stoppedBy !== null) return finish(state, stoppedBy, heldoutPairs(state, best.candidate));
  return beginGeneration(state, decisions);
}

const orSolved = (stop: StoppedBy | null, reward: number): StoppedBy | null =>
  stop === 'train_solved' && isSolved(reward) ? 'solved' : stop;

/** Begins the next generation while nothing else is in progress. */
function beginGeneration(before: GepaState, decisions: Decision[]): GepaState {
  const generation = before.begun + 1;
  const begun: GepaState = { ...before, generation, begun: generation, unmerged: [] };
  const state = { ...begun, parent: strategyOf(begun).select(begun) };
  return demonstrate(state) ?? propose(state, strategyOf(state).explore.before(state), decisions);
}

/** The next step of a generation of demonstrations; null: it reflects. */
function demonstrate(state: GepaState): GepaState | null {
  const strategy = strategyOf(state);
  if (!strategy.demonstrate(state)) return strategy.exchangesTurns ? requestDemos(state) : null;
  if (state.demonstrations === undefined) {
    const minibatch = exploreForDescription(state);
    return minibatch.length > 0 ? beginRound(state, { pairs: { minibatch }, begins: true }) : requestDemos(state);
  }
  const minibatch = exploreForDemos(state);
  if (minibatch.length > 0) return beginRound(withExploration(state), { pairs: { minibatch }, begins: true });
  const request = requestDemos(state);
  if (request !== null) return request;
  const children = planDemonstrations(state);
  return children.length === 0 ? null : beginRound(withChildren(state, children), { children });
}

/** Tests the sets of demonstrations that the answer allows, or reflects. */
export function afterDemos(before: GepaState, _: Round, decisions: Decision[], { demos }: RoundAnswers): GepaState {
  const state = addDemos(before, demos!);
  return demonstrate(state) ?? propose(state, strategyOf(state).explore.before(state), decisions);
}

/** Asks for the proposals of the generation that began, or first runs `minibatch`, if not empty. */
function propose(state: GepaState, minibatch: Pair[], decisions: Decision[]): GepaState {
  if (minibatch.length > 0 && !hasEnoughFailures(state)) {
    return beginRound(state, { pairs: { minibatch }, begins: true });
  }
  const children = planChildren(state, state.begun, new Set());
  if (children.length === 0) return endGeneration(state, decisions);
  const after = withChildren(state, children);
  if (isSequential(state)) return beginRound(after, { children });
  const reserved = { ...after, asked: after.asked + children.length * minibatchOf(state.config) };
  const taken = new Set(children.flatMap(({ offered }) => offered.map(({ seed }) => seed)));
  return beginRound(after, { children, pairs: { minibatch: strategyOf(reserved).explore.ahead(reserved, taken, []) } });
}

/** Begins the generation after the last one of an ended search; done: it would end at once. */
export function resumeGenerations(state: GepaState, decisions: Decision[]): GepaState {
  const model = rewardModelOf(state);
  const { reward } = state.best!;
  const stop = stopReason(state, reward, orSolved(whyStop(state, model, incumbentOf(state, model)), reward));
  if (stop !== null) return done(state, stop);
  const generation = state.begun + 1;
  const given = planGiven({ ...state, generation, begun: generation });
  if (given !== null) return beginRound(given.state, { children: given.trials });
  return beginGeneration(state, decisions);
}

/** Why larger limits would not continue an ended search; null: they would. */
export function nothingLeft(state: GepaState): StoppedBy | null {
  if (state.best === null) return null;
  const config = { ...state.config, maxRollouts: null, generations: Number.MAX_SAFE_INTEGER, trials: null };
  const { phase } = resumeGenerations({ ...state, config, quiet: 0 }, []);
  return phase.name === 'done' ? phase.stoppedBy : null;
}
