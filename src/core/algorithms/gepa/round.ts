/**
 * A round: the rollouts and proposals that a search runs side by side. The next round follows from
 * all answers of the round, folded in a fixed order, so timing never changes the path.
 */
import { matchProposals } from '../../proposals/proposer-failures.js';
import { isOutstanding, openBatch, requestsOf, rewardsOf, type Batch, type Pair } from '../../search/batch.js';
import { addRewards, foldBatch } from '../../search/lifecycle.js';
import { proposalRequests } from '../../search/proposing.js';
import type {
  Decision,
  ProposalAnswer,
  ProposalRequest,
  RolloutAnswer,
  RolloutRequest,
  SearchResponse,
} from '../../search/protocol.js';
import { proposalAnswersIn, requestFor, rolloutAnswersIn, type RoundRequest } from '../../search/parts.js';
import type { GepaState, RoundPhase, RoundStage, Trial } from './state.js';

/** In the order of requests and of results: an evaluation counts the latest rewards. */
const stages: readonly RoundStage[] = ['gate', 'minibatch', 'evaluation'];

/** The work of a round; absent parts are empty. */
export interface RoundPlan extends Pick<RoundPhase, 'tests' | 'proposals' | 'evaluation' | 'begins'> {
  pairs: Partial<Record<RoundStage, readonly Pair[]>>;
}

export function isEmpty({ pairs, proposals }: RoundPlan): boolean {
  return proposals.length === 0 && Object.values(pairs).every(({ length }) => length === 0);
}

export function openRound(state: GepaState, { pairs, ...plan }: RoundPlan): GepaState {
  const batches: RoundPhase['batches'] = {};
  let { asked } = state;
  for (const stage of stages) {
    const own = pairs[stage] ?? [];
    if (own.length === 0) continue;
    batches[stage] = openBatch([...own], asked);
    asked += own.length;
  }
  return { ...state, asked, phase: { name: 'round', batches, ...plan } };
}

export function requestOf(state: GepaState, phase: RoundPhase): RoundRequest {
  const rollouts = rolloutsOf(state, phase);
  return requestFor(rollouts, phase.answers ? [] : proposalsOf(state, phase));
}

function rolloutsOf(state: GepaState, { batches, tests }: RoundPhase): RolloutRequest[] {
  const generationOf = new Map<number, number>();
  for (const { candidate, generation, parents } of tests) {
    for (const member of [candidate, ...parents]) {
      if (!generationOf.has(member)) generationOf.set(member, generation);
    }
  }
  return stages.flatMap((stage) => {
    const requests = batches[stage] ? requestsOf(batches[stage], stage, state.generation) : [];
    if (stage !== 'gate') return requests;
    return requests.map((request) => ({ ...request, generation: generationOf.get(request.candidate)! }));
  });
}

/** Each reflection of a round is about other failures, so these are counted together. */
function proposalsOf({ config, generation }: GepaState, { proposals }: RoundPhase): ProposalRequest[] {
  const isOrdinary = ({ parents, ablation, approach, given }: Trial) =>
    parents.length === 1 && ablation === undefined && approach === undefined && given === undefined;
  return [proposals.filter((trial) => !isOrdinary(trial)), proposals.filter(isOrdinary)].flatMap((group) =>
    proposalRequests(group, generation, config),
  );
}

/** The state with all rewards, and the answers to the proposals; null: rollouts are repeated. */
export interface AnsweredRound {
  state: GepaState;
  phase: RoundPhase;
  answers: ProposalAnswer[] | null;
}

/** Folds in the response; null: it does not fit the round. */
export function foldRound(
  before: GepaState,
  phase: RoundPhase,
  response: SearchResponse,
  decisions: Decision[],
): AnsweredRound | null {
  if (response.kind !== requestOf(before, phase).kind) return null;
  const answers = phase.answers ?? matchProposals(phase.proposals, proposalAnswersIn(response));
  let state = before;
  const batches: RoundPhase['batches'] = {};
  for (const [stage, batch, own] of byBatch(phase, rolloutAnswersIn(response))) {
    const folded = foldBatch(state, stage, batch, own, decisions);
    state = folded.state;
    batches[stage] = folded.batch;
  }
  const folded: RoundPhase = { ...phase, batches };
  if (Object.values(batches).some((batch) => rewardsOf(batch) === null)) {
    const waiting = phase.proposals.length === 0 ? folded : { ...folded, answers };
    return { state: { ...state, phase: waiting }, phase: waiting, answers: null };
  }
  for (const stage of stages) {
    const batch = batches[stage];
    if (batch) state = addRewards(state, batch, rewardsOf(batch)!);
  }
  return { state, phase: folded, answers };
}

/** The answers by batch; those of no batch come to the first, which refuses them. */
function byBatch(
  { batches }: RoundPhase,
  answers: readonly RolloutAnswer[],
): [RoundStage, Batch, readonly RolloutAnswer[]][] {
  const present = stages.flatMap((stage): [RoundStage, Batch][] => (batches[stage] ? [[stage, batches[stage]]] : []));
  const stageOf = ({ ordinal }: RolloutAnswer) =>
    (present.find(([, batch]) => isOutstanding(batch, ordinal)) ?? present[0])?.[0];
  return present.map(([stage, batch]) => [stage, batch, answers.filter((answer) => stageOf(answer) === stage)]);
}
