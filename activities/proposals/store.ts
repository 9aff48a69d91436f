import { algorithmOf } from '../../src/core/algorithms/index.js';
import { gepaLimits } from '../../src/core/algorithms/gepa/config.js';
import { candidateKey } from '../../src/core/graphs/candidate.js';
import type { Graph } from '../../src/core/graphs/graph.js';
import type { EditJson } from '../../src/contracts/graphs/graph.js';
import { graphFromJson, graphToJson } from '../../src/core/graphs/json.js';
import type { SearchSpec } from '../../src/core/jobs/spec.js';
import { componentTexts, withTexts } from '../../src/core/prompts/components.js';
import type { Demo } from '../../src/core/prompts/demos.js';
import { lineageOf, removedCandidates, type LineageTexts, type Texts } from '../../src/core/proposals/components.js';
import type { ProposalAnswer, ProposalRequest } from '../../src/core/search/protocol.js';
import {
  addCandidate,
  candidateTexts,
  readPool,
  type PooledCandidate,
} from '../../src/storage/candidates/candidates.js';
import type { Tx } from '../../src/storage/db/db.js';
import type { JobRef } from '../../src/storage/jobs/events.js';
import { cutToBytes } from '../../src/util/text.js';

/** A proposal that is not stored yet; `shown`: the rollouts that its proposer was shown. */
export type Proposal = { shown?: number[] } & (
  | { outcome: 'proposed'; texts: Texts; graph?: Graph; components: string[]; edits?: EditJson[] }
  | { outcome: 'merged'; texts: Texts; graph?: Graph; parents: number[] }
  | { outcome: 'ablated'; texts: Texts; graph: Graph; edits: EditJson[] }
  | { outcome: 'composed'; texts: Texts; demos: Demo[]; parents: number[] }
  | { outcome: 'given'; texts: Texts; commandId: string }
  | { outcome: 'unchanged' }
  | { outcome: 'failed'; reason: string }
);

type NewProposal = Exclude<Proposal, { outcome: 'unchanged' | 'failed' }>;

/**
 * Stores proposals in the order asked, so timing does not decide which is a duplicate. Call it
 * under the job's lock.
 */
export async function storeProposals(
  tx: Tx,
  job: JobRef,
  spec: SearchSpec,
  requests: readonly ProposalRequest[],
  proposals: readonly Proposal[],
): Promise<ProposalAnswer[]> {
  const pool = await readPool(tx, job.jobId);
  const known = keysOf(pool);
  const lineages = lineagesOf(pool);
  const answers: ProposalAnswer[] = [];
  for (const [index, request] of requests.entries()) {
    const proposal = proposals[index]!;
    const { candidate } = request;
    const shown = proposal.shown && { shown: proposal.shown };
    if (proposal.outcome === 'failed') {
      const reason = cutToBytes(proposal.reason.replace(/\p{Cc}+/gu, ' '), gepaLimits.reasonBytes);
      answers.push({ candidate, outcome: 'failed', reason, ...shown });
      continue;
    }
    if (proposal.outcome === 'unchanged') {
      answers.push({ candidate, outcome: 'duplicate', ...shown });
      continue;
    }
    const parent = pool.get(request.parent)!;
    const { texts, graph = null } = contentOf(proposal);
    const demos = proposal.outcome === 'composed' ? proposal.demos : parent.demos;
    const key = candidateKey({ texts, demos, graph });
    // A retry finds the candidate itself stored: that is no duplicate.
    if ((known.get(key) ?? candidate) !== candidate) {
      answers.push({ candidate, outcome: 'duplicate', ...shown });
      continue;
    }
    known.set(key, candidate);
    const parents = 'parents' in proposal ? proposal.parents : [request.parent];
    await addCandidate(tx, job, {
      leverVersion: candidate,
      generation: request.generation,
      parents,
      ...(graph
        ? { messages: null, graph: graphToJson(graph) }
        : { messages: withTexts(parent.messages ?? [], texts) }),
      detail: detailOf(proposal, request),
      ...('edits' in proposal && { edits: proposal.edits }),
      ...(algorithmOf(spec.search).hasDemos && { demos }),
    });
    const origin =
      'parents' in proposal ? { parents } : { removed: removedCandidates(lineageOf(lineages, request.parent), texts) };
    answers.push({ candidate, outcome: 'proposed', ...shown, ...origin });
  }
  return answers;
}

function contentOf(proposal: NewProposal): { texts: Texts; graph?: Graph } {
  return proposal.outcome === 'composed' || proposal.outcome === 'given' ? { texts: proposal.texts } : proposal;
}

/** The first candidate of each deduplication key. */
function keysOf(pool: ReadonlyMap<number, PooledCandidate>): Map<string, number> {
  const known = new Map<string, number>();
  for (const [candidate, { messages, demos, graph }] of pool) {
    const key = candidateKey({ texts: componentTexts(messages), demos, graph: graph && graphFromJson(graph) });
    if (!known.has(key)) known.set(key, candidate);
  }
  return known;
}

function lineagesOf(pool: ReadonlyMap<number, PooledCandidate>): Map<number, LineageTexts> {
  return new Map(
    [...pool].map(([candidate, { parents, messages, graph }]) => [
      candidate,
      { candidate, parents, texts: candidateTexts({ messages, graph }) },
    ]),
  );
}

function detailOf(proposal: NewProposal, { approach }: ProposalRequest): Record<string, unknown> {
  switch (proposal.outcome) {
    case 'ablated':
      return { ablation: { edits: proposal.edits } };
    case 'merged':
      return { merge: { parents: proposal.parents } };
    case 'composed':
      return { composed: { parents: proposal.parents } };
    case 'given':
      return { given: { command: proposal.commandId } };
    case 'proposed':
      return { reflection: { ordinals: proposal.shown, components: proposal.components, approach } };
  }
}
