import { gepaDefaults, type GepaConfig } from '../../../../src/core/algorithms/gepa/config.js';
import { createGepa, type GepaState } from '../../../../src/core/algorithms/gepa/state.js';
import { gepa } from '../../../../src/core/algorithms/gepa.js';
import type { EmptyReason } from '../../../../src/core/answers/ending.js';
import { proposalsIn, responseTo, rolloutsIn } from '../../../../src/core/search/parts.js';
import type {
  SearchResponse,
  Decision,
  ProposalAnswer,
  ProposalRequest,
  RolloutAnswer,
  RolloutRequest,
  SearchAlgorithm,
  DemoAnswer,
  DemoRequest,
  SearchRequest,
} from '../../../../src/core/search/protocol.js';

/** Answers a search: rewards (null: failed), proposals, demonstrations. */
export interface World {
  rollout(request: RolloutRequest): number | null | 'infrastructure' | 'unverified';
  /** Why the model gave no answer; absent: it did. */
  empty?(request: RolloutRequest): EmptyReason | undefined;
  propose(request: ProposalRequest): Omit<ProposalAnswer, 'candidate'>;
  findDemos?(request: DemoRequest): DemoAnswer;
  /** Cost of a rollout; absent: unknown. */
  cost?(request: RolloutRequest): number;
}

/** One turn of the loop: states, request, answers and decisions. */
export interface Turn<State = GepaState> {
  before: State;
  work: SearchRequest;
  answers: SearchResponse;
  after: State;
  decisions: Decision[];
}

export interface Run<State = GepaState> {
  turns: Turn<State>[];
  state: State;
  requests: RolloutRequest[];
  proposals: ProposalRequest[];
  decisions: Decision[];
  end: SearchRequest;
}

export function config(overrides: Partial<GepaConfig> = {}): GepaConfig {
  return {
    ...gepaDefaults,
    populationSize: 2,
    generations: 3,
    minibatchSize: 3,
    trainSeeds: [0, 1, 2, 3, 4, 5],
    evaluationSeeds: [0, 1, 2, 3, 4, 5],
    maxRollouts: null,
    rngSeed: 0,
    ...overrides,
  };
}

/** No right answers are known. */
const noDemos: DemoAnswer = {
  components: ['system'],
  slots: [{ component: null, bootstrapped: [], labeled: [], sameAnswer: [], room: 0 }],
};

export function answer(work: SearchRequest, world: World): SearchResponse {
  if (work.kind === 'demos') return { kind: 'demos', answer: world.findDemos?.(work.request) ?? noDemos };
  if (work.kind === 'done' || work.kind === 'failed') {
    throw new Error(`${work.kind} has no answers`);
  }
  const rollouts = rolloutsIn(work).map((request): RolloutAnswer => {
    const reward = world.rollout(request);
    const failed = { ordinal: request.ordinal, reward: null, infrastructure: true };
    if (reward === 'unverified') return { ...failed, unverified: true };
    if (reward === 'infrastructure') return failed;
    const empty = world.empty?.(request);
    const { ordinal } = request;
    return {
      ordinal,
      reward,
      infrastructure: false,
      ...(empty && { empty }),
      ...(world.cost && { cost: world.cost(request) }),
    };
  });
  const proposals = proposalsIn(work).map((request) => ({ candidate: request.candidate, ...world.propose(request) }));
  return responseTo(work, rollouts, proposals);
}

/** Runs a search to its end; `between` may replace the state between any two turns. */
export function drive(
  start: GepaConfig | GepaState,
  world: World,
  between: (state: GepaState) => GepaState = (state) => state,
): Run {
  return driveSearch(gepa, 'phase' in start ? start : createGepa(start), world, between);
}

/** Runs any search from a state to its end. */
export function driveSearch<State>(
  search: SearchAlgorithm<State>,
  start: State,
  world: World,
  between: (state: State) => State = (state) => state,
): Run<State> {
  let state = between(start);
  const turns: Turn<State>[] = [];
  for (;;) {
    const work = search.next(state);
    if (work.kind === 'done' || work.kind === 'failed') {
      const searchRequests = turns.map((turn) => turn.work);
      return {
        turns,
        state,
        requests: searchRequests.flatMap(rolloutsIn),
        proposals: searchRequests.flatMap(proposalsIn),
        decisions: turns.flatMap((turn) => turn.decisions),
        end: work,
      };
    }
    if (turns.length > 10_000) throw new Error('the search does not end');
    const answers = answer(work, world);
    const applied = search.apply(state, answers);
    turns.push({ before: state, work, answers, after: applied.state, decisions: applied.decisions });
    state = between(applied.state);
  }
}

/** A successful proposal that shows the first failures of the request. */
export function proposed({
  ordinals,
  pick,
  merge,
  compose,
  ablation,
  approach,
}: ProposalRequest): Omit<ProposalAnswer, 'candidate'> {
  if (merge) return { outcome: 'proposed', parents: merge };
  if (compose) return { outcome: 'proposed' };
  if (ablation !== undefined) return { outcome: 'failed', reason: 'no further step can be removed' };
  if (approach === 'compress') return { outcome: 'proposed', shown: [], removed: [] };
  const { size, index, of } = pick!;
  const own = ordinals.filter((_, at) => at % of === index).slice(0, size);
  return { outcome: 'proposed', shown: own.length > 0 ? own : ordinals.slice(0, size), removed: [] };
}

/** A world in which every proposal is a new text. */
export function scoring(rollout: World['rollout']): World {
  return { rollout, propose: proposed };
}
