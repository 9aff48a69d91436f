import { createGepa, type GepaState } from '../../src/core/algorithms/gepa/state.js';
import { gepa } from '../../src/core/algorithms/gepa.js';
import { graphSearch, type GraphSearchRequest } from '../../src/core/graphs/search-config.js';
import type { Graph } from '../../src/core/graphs/graph.js';
import { proposalsIn, rolloutsIn } from '../../src/core/search/parts.js';
import type { Stage, StoppedBy } from '../../src/core/search/protocol.js';
import { lookupTasks, openLookupWorld, type LookupKind } from '../worlds/lookups.js';
import { GraphsInProcess } from './in-process.js';

export interface CoreGraphSearch extends Pick<GraphSearchRequest, 'rolloutBudget' | 'effort'> {
  kind: LookupKind;
  world: number;
  /** False: the plain search for prompts, on the graph of one step. */
  editsStructure: boolean;
}

/** A search's result, with what only its own process sees. */
export interface CoreGraphResult {
  trueReward: number;
  graph: Graph;
  stoppedBy: StoppedBy;
  spent: number;
  calls: { task: number; proposer: number };
  stages: Partial<Record<Stage, number>>;
  /** Proposals of each kind, and those that were accepted. */
  proposals: Record<'edit' | 'rewrite', { asked: number; accepted: number }>;
  /** The true reward of the best candidate that was accepted. */
  bestTrueReward: number;
}

/** A graph job's search, in process and without waits: for tuning, beside the service's own. */
export async function searchGraphs(search: CoreGraphSearch): Promise<CoreGraphResult> {
  const { kind, world: seed, rolloutBudget, effort, editsStructure } = search;
  const world = openLookupWorld(kind, seed);
  const answers = new GraphsInProcess(world);
  const config = graphSearch({ tasks: lookupTasks, rolloutBudget, effort, rngSeed: seed });
  const generations = editsStructure ? config.generations : Math.min(config.generations, 249);
  let state: GepaState = createGepa({ ...config, editsStructure, generations });
  const stages: CoreGraphResult['stages'] = {};
  const proposals = { edit: { asked: 0, accepted: 0 }, rewrite: { asked: 0, accepted: 0 } };
  const kinds = new Map<number, 'edit' | 'rewrite'>();
  for (;;) {
    const request = gepa.next(state);
    if (request.kind === 'failed') throw new Error(`${request.code}: ${request.message}`);
    if (request.kind === 'done') {
      const rewards: number[] = [];
      for (const candidate of state.pool) rewards.push(await world.trueReward(answers.graphOf(candidate)));
      const graph = answers.graphOf(state.best!.candidate);
      const trueReward = await world.trueReward(graph);
      return {
        trueReward,
        graph,
        stoppedBy: request.stoppedBy,
        spent: state.asked,
        calls: answers.calls,
        stages,
        proposals,
        bestTrueReward: Math.max(...rewards),
      };
    }
    for (const { stage } of rolloutsIn(request)) stages[stage] = (stages[stage] ?? 0) + 1;
    for (const { candidate, kind } of proposalsIn(request)) {
      if (kind !== 'edit' && kind !== 'rewrite') continue;
      kinds.set(candidate, kind);
      proposals[kind].asked += 1;
    }
    const { state: after, decisions } = gepa.apply(state, await answers.answer(request));
    for (const decision of decisions) {
      const kind = decision.type === 'candidate_accepted' && kinds.get(decision.candidate);
      if (kind) proposals[kind].accepted += 1;
    }
    state = after;
  }
}
