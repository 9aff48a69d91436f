/**
 * A round: the rollouts and proposals that a search runs side by side. The next round follows from
 * all answers of the round, folded in a fixed order, so timing never changes the path.
 */
import { matchProposals } from '../proposals/proposer-failures.js';
import { foldAnswers, isOutstanding, openBatch, requestsOf, rewardsOf, type Batch, type Pair } from './batch.js';
import { repeatableRollouts } from './budget.js';
import { addCosts } from './costs.js';
import { proposalAnswersIn, requestFor, rolloutAnswersIn } from './parts.js';
import type {
  Decision,
  DemoAnswer,
  ProposalAnswer,
  RolloutAnswer,
  SearchRequest,
  SearchResponse,
  SearchPhase,
  Stage,
} from './protocol.js';
import { addResults } from './results.js';
import type { Round, SearchState, SeededState } from './state.js';

/** In the order of requests and of results: an evaluation counts the latest rewards. */
const stages: readonly Stage[] = ['baseline', 'gate', 'minibatch', 'evaluation', 'heldout'];

/** Opens a round with a batch for each stage that has pairs. */
export function openRound<State extends SearchState>(
  state: State,
  pairs: Partial<Record<Stage, readonly Pair[]>>,
  toPhase: (round: Round) => State['phase'],
): State {
  const batches: Round['batches'] = {};
  let { asked } = state;
  for (const stage of stages) {
    const own = pairs[stage] ?? [];
    if (own.length === 0) continue;
    batches[stage] = openBatch([...own], asked);
    asked += own.length;
  }
  return { ...state, asked, phase: toPhase({ batches, proposals: [] }) };
}

export function requestOf({ generation }: SearchState, { batches, proposals, demos, ...round }: Round): SearchRequest {
  if (demos) return { kind: 'demos', request: demos };
  const rollouts = stages.flatMap((stage) => {
    const requests = batches[stage] ? requestsOf(batches[stage], stage, generation) : [];
    if (stage !== 'gate') return requests;
    return requests.map((request) => ({
      ...request,
      generation: round.generations?.[request.candidate] ?? generation,
    }));
  });
  return requestFor(rollouts, round.answers ? [] : proposals);
}

/** The answers to a round, beside its rewards. */
export interface RoundAnswers {
  /** In the order of the requests. */
  proposals: ProposalAnswer[];
  demos: DemoAnswer | null;
}

/** Folds in a response of the round's kind; `answers` null: rollouts are repeated. */
export function foldRound<State extends SearchState>(
  before: State,
  round: Round,
  response: SearchResponse,
  decisions: Decision[],
): { state: State; round: Round; answers: RoundAnswers | null } {
  if (response.kind === 'demos') return { state: before, round, answers: { proposals: [], demos: response.answer } };
  const proposals = round.answers ?? matchProposals(round.proposals, proposalAnswersIn(response));
  const batches: Round['batches'] = {};
  let state = before;
  for (const [stage, batch, own] of byBatch(round, rolloutAnswersIn(response))) {
    const folded = foldBatch(state, stage, batch, own, decisions);
    state = folded.state;
    batches[stage] = folded.batch;
  }
  const isComplete = Object.values(batches).every((batch) => rewardsOf(batch) !== null);
  const folded: Round = { ...round, batches };
  if (isComplete) return { state, round: folded, answers: { proposals, demos: null } };
  return { state, round: proposals.length === 0 ? folded : { ...folded, answers: proposals }, answers: null };
}

/** The answers by batch; those of no batch come to the first, which refuses them. */
function byBatch(
  { batches }: Round,
  answers: readonly RolloutAnswer[],
): [stage: Stage, batch: Batch, own: readonly RolloutAnswer[]][] {
  const present = stages.flatMap((stage): [Stage, Batch][] => (batches[stage] ? [[stage, batches[stage]]] : []));
  const stageOf = ({ ordinal }: RolloutAnswer) =>
    (present.find(([, batch]) => isOutstanding(batch, ordinal)) ?? present[0])?.[0];
  return present.map(([stage, batch]) => [stage, batch, answers.filter((answer) => stageOf(answer) === stage)]);
}

/** Folds the answers to all outstanding requests of a batch into the batch and the counts. */
function foldBatch<State extends SearchState>(
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

/** The phase of the open round; null: the search has ended. */
export function phaseOf({ phase }: Pick<SearchState, 'phase'>): SearchPhase | null {
  if (!('batches' in phase)) return null;
  const rewards = Object.values(phase.batches).flatMap((batch) => batch.rewards);
  const answered = rewards.filter((reward) => reward !== null);
  const rewardSum = answered.reduce((sum, reward) => sum + reward, 0);
  return { name: nameOfPhase(phase), rollouts: rewards.length, answered: answered.length, rewardSum };
}

/** An evaluation beside tests is a part of the search. */
function nameOfPhase({ name, batches }: Round & { name: string }): SearchPhase['name'] {
  if (name === 'baseline' || name === 'heldout') return name;
  const open = stages.filter((stage) => batches[stage]);
  return open.length > 0 && open.every((stage) => stage === 'evaluation') ? 'evaluation' : 'search';
}

/** A counted rollout; a failed one has reward 0. */
export interface Measured {
  candidate: number;
  seed: number;
  ordinal: number;
  reward: number;
}

/** The rollouts of a complete round, batch after batch in the order of the requests. */
export function measuredIn({ batches }: Round): Measured[] {
  return stages.flatMap((stage) => {
    const { pairs, ordinals, rewards } = batches[stage] ?? openBatch([], 0);
    return pairs.map(([candidate, seed], index) => {
      return { candidate, seed, ordinal: ordinals[index]!, reward: rewards[index]! };
    });
  });
}

/** Adds the rewards of a complete round. Seeds that cannot be verified train no longer. */
export function addRewards<State extends SeededState>(state: State, round: Round): State {
  const added = { ...state, results: addResults(state.results, measuredIn(round)) };
  const unverified = Object.values(round.batches).flatMap((batch) => batch.unverified ?? []);
  if (unverified.length === 0) return added;
  const seeds = new Set(unverified.map(([, seed]) => seed));
  return { ...added, order: state.order.filter((seed) => !seeds.has(seed)) };
}
