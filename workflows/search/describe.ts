/** A search in the words of the Temporal UI and of the status query. */
import { candidateId } from '../../src/core/jobs/ids.js';
import type { SearchRequest, SearchView } from '../../src/core/search/protocol.js';
import type { StatusView } from '../messages.js';

/** The status query's view of a search; null: it has not begun. */
export function statusOf(jobId: string, view: SearchView | null): Omit<StatusView, 'status'> {
  return {
    generation: view?.generation ?? 0,
    totalGenerations: view?.totalGenerations ?? 0,
    bestCandidate: view?.bestCandidate == null ? null : candidateId(jobId, view.bestCandidate),
    bestReward: view?.bestReward ?? null,
    rolloutsCompleted: view?.rolloutsCompleted ?? 0,
    maxRollouts: view?.maxRollouts ?? null,
  };
}

export function describeProgress(view: SearchView): string {
  const best =
    view.bestReward === null ? 'none yet' : `${view.bestReward.toFixed(3)} (candidate ${view.bestCandidate})`;
  return `generation ${view.generation} of ${view.totalGenerations}, best reward ${best}, ${view.rolloutsCompleted} rollouts`;
}

export function summaryOf(request: Exclude<SearchRequest, { kind: 'done' | 'failed' }>): string {
  switch (request.kind) {
    case 'demos':
      return `generation ${request.request.generation}: demonstrations from ${request.request.ordinals.length} rollouts`;
    case 'round':
      return `${summaryOf({ kind: 'rollouts', requests: request.rollouts })}, ${request.proposals.length} proposals`;
    case 'proposals':
      return `generation ${request.requests[0]?.generation ?? 0}: ${request.requests.length} proposals`;
    case 'rollouts': {
      const { generation = 0, stage } = request.requests[0] ?? {};
      return `generation ${generation}: ${request.requests.length} rollouts${stage ? ` (${stage})` : ''}`;
    }
  }
}
