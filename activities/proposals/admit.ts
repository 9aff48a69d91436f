import { gepaLimits, showsGoodAnswers } from '../../src/core/algorithms/gepa/config.js';
import type { Graph } from '../../src/core/graphs/graph.js';
import type { EditJson } from '../../src/kinds/graph/contract/graph.js';
import { graphToJson } from '../../src/core/graphs/json.js';
import type { SearchSpec } from '../../src/core/jobs/spec.js';
import { componentTexts, withTexts } from '../../src/core/prompts/components.js';
import type { Demo } from '../../src/core/prompts/demos.js';
import { promptTokens } from '../../src/core/prompts/length.js';
import { lineageOf, removedCandidates, type Texts } from '../../src/core/proposals/components.js';
import { tooLongProposal } from '../../src/core/proposals/failure-reasons.js';
import { textsProblem } from '../../src/core/proposals/placeholders.js';
import type { ProposalAnswer, ProposalRequest } from '../../src/core/search/protocol.js';
import type { NewCandidate } from '../../src/candidates/store/candidates.js';
import { cutToBytes } from '../../src/util/text.js';
import type { CandidatePool } from './pool.js';

/** A proposal that is not stored yet; `shown`: the rollouts that its proposer was shown. */
export type Proposal = { shown?: number[] } & (
  | { outcome: 'proposed'; texts: Texts; graph?: Graph; components: string[]; edits?: EditJson[] }
  | { outcome: 'merged'; texts: Texts; graph?: Graph; parents: number[] }
  | { outcome: 'ablated'; texts: Texts; graph: Graph; edits: EditJson[] }
  | { outcome: 'shortened'; texts: Texts }
  | { outcome: 'composed'; texts: Texts; demos: Demo[]; parents: number[] }
  | { outcome: 'given'; texts: Texts; commandId: string }
  | { outcome: 'unchanged' }
  | { outcome: 'refused'; reason: string }
  | { outcome: 'failed'; reason: string }
);

type NewProposal = Exclude<Proposal, { outcome: 'unchanged' | 'refused' | 'failed' }>;

/** Answers to proposal requests, and the candidates to store when they are recorded. */
export interface AdmittedProposals {
  answers: ProposalAnswer[];
  candidates: NewCandidate[];
}

/**
 * Takes proposals into the pool in the order asked, so timing does not decide on duplicates. Of
 * whatever origin, a text that breaks the rules of `core/proposals/placeholders` is refused.
 */
export function admitProposals(
  pool: CandidatePool,
  spec: SearchSpec,
  requests: readonly ProposalRequest[],
  proposals: readonly Proposal[],
): AdmittedProposals {
  const admitted: AdmittedProposals = { answers: [], candidates: [] };
  for (const [index, request] of requests.entries()) {
    const { answer, candidate } = admit(pool, spec, request, proposals[index]!);
    admitted.answers.push(answer);
    if (candidate) admitted.candidates.push(candidate);
  }
  return admitted;
}

function admit(
  pool: CandidatePool,
  spec: SearchSpec,
  request: ProposalRequest,
  proposal: Proposal,
): { answer: ProposalAnswer; candidate?: NewCandidate } {
  const { candidate: number } = request;
  const answer = { candidate: number, ...(proposal.shown && { shown: proposal.shown }) };
  if (proposal.outcome === 'failed' || proposal.outcome === 'refused') {
    const reason = cutToBytes(proposal.reason.replace(/\p{Cc}+/gu, ' '), gepaLimits.reasonBytes);
    return { answer: { ...answer, outcome: proposal.outcome, reason } };
  }
  if (proposal.outcome === 'unchanged') return { answer: { ...answer, outcome: 'duplicate' } };
  const parent = pool.get(request.parent);
  const { texts, graph = null } = contentOf(proposal);
  const demos = proposal.outcome === 'composed' ? proposal.demos : parent.demos;
  const parents = 'parents' in proposal ? proposal.parents : [request.parent];
  const rows = spec.kind === 'session' ? (spec.rows ?? null) : null;
  const refused = graph ? null : textsProblem(texts, componentTexts(parent.messages), rows);
  if (refused) {
    const reason = `the text of "${refused.component}" ${refused.problem}`;
    return { answer: { ...answer, outcome: 'failed', reason: cutToBytes(reason, gepaLimits.reasonBytes) } };
  }
  const messages = graph ? null : withTexts(parent.messages ?? [], texts);
  const most = spec.kind === 'session' ? spec.maxPromptTokens : undefined;
  const tokens = messages && most !== undefined ? promptTokens(messages, demos) : 0;
  if (most !== undefined && tokens > most) {
    return { answer: { ...answer, outcome: 'refused', reason: tooLongProposal(tokens, most) } };
  }
  const graphJson = graph && graphToJson(graph);
  if (!pool.add(number, { messages, graph: graphJson, demos, parents })) {
    return { answer: { ...answer, outcome: 'duplicate' } };
  }
  const origin =
    'parents' in proposal
      ? { parents }
      : { removed: removedCandidates(lineageOf(pool.lineage, request.parent), texts) };
  return {
    answer: { ...answer, outcome: 'proposed', ...origin },
    candidate: {
      leverVersion: number,
      generation: request.generation,
      parents,
      messages,
      ...(graphJson && { graph: graphJson }),
      detail: detailOf(proposal, request),
      ...('edits' in proposal && { edits: proposal.edits }),
      ...((showsGoodAnswers(spec.search) || demos.length > 0) && { demos }),
    },
  };
}

function contentOf(proposal: NewProposal): { texts: Texts; graph?: Graph } {
  return 'graph' in proposal ? proposal : { texts: proposal.texts };
}

function detailOf(proposal: NewProposal, request: ProposalRequest): Record<string, unknown> {
  switch (proposal.outcome) {
    case 'ablated':
      return { ablation: { edits: proposal.edits } };
    case 'shortened':
      return { shortened: { half: request.ablation === 0 ? 'last' : 'first' } };
    case 'merged':
      return { merge: { parents: proposal.parents } };
    case 'composed':
      return { composed: { parents: proposal.parents } };
    case 'given':
      return { given: { command: proposal.commandId } };
    case 'proposed':
      return { reflection: { ordinals: proposal.shown, components: proposal.components, approach: request.approach } };
  }
}
