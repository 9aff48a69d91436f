/** The rollouts and proposals of a request, and the response from their answers. */
import type {
  ProposalAnswer,
  ProposalRequest,
  RolloutAnswer,
  RolloutRequest,
  SearchRequest,
  SearchResponse,
} from './protocol.js';

/** A request for rollouts, proposals or both. */
export type RoundRequest = Extract<SearchRequest, { kind: 'rollouts' | 'proposals' | 'round' }>;

export function rolloutsIn(request: SearchRequest): RolloutRequest[] {
  if (request.kind === 'round') return request.rollouts;
  return request.kind === 'rollouts' ? request.requests : [];
}

export function proposalsIn(request: SearchRequest): ProposalRequest[] {
  if (request.kind === 'round') return request.proposals;
  return request.kind === 'proposals' ? request.requests : [];
}

/** The request for both; without proposals it is one for rollouts. */
export function requestFor(rollouts: RolloutRequest[], proposals: ProposalRequest[]): RoundRequest {
  if (proposals.length === 0) return { kind: 'rollouts', requests: rollouts };
  if (rollouts.length === 0) return { kind: 'proposals', requests: proposals };
  return { kind: 'round', rollouts, proposals };
}

export function responseTo(
  { kind }: RoundRequest,
  rollouts: RolloutAnswer[],
  proposals: ProposalAnswer[],
): SearchResponse {
  switch (kind) {
    case 'rollouts':
      return { kind, answers: rollouts };
    case 'proposals':
      return { kind, answers: proposals };
    case 'round':
      return { kind, rollouts, proposals };
  }
}

export function rolloutAnswersIn(response: SearchResponse): RolloutAnswer[] {
  if (response.kind === 'round') return response.rollouts;
  return response.kind === 'rollouts' ? response.answers : [];
}

export function proposalAnswersIn(response: SearchResponse): ProposalAnswer[] {
  if (response.kind === 'round') return response.proposals;
  return response.kind === 'proposals' ? response.answers : [];
}
