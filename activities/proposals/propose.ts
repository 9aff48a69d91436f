import { mergeProposal } from '../../src/core/graphs/candidate.js';
import { graphTexts } from '../../src/core/graphs/components.js';
import { ablationsOf } from '../../src/core/graphs/edits/ablation.js';
import { editToJson, graphFromJson } from '../../src/core/graphs/json.js';
import type { GraphSpec, SearchSpec, SessionSpec } from '../../src/core/jobs/spec.js';
import { componentTexts } from '../../src/core/prompts/components.js';
import { fittingDemos } from '../../src/core/prompts/length.js';
import { rewritableNames } from '../../src/core/prompts/row-template.js';
import { lineageOf } from '../../src/core/proposals/components.js';
import { composeTexts } from '../../src/core/proposals/compose.js';
import { withoutSentences } from '../../src/core/proposals/shorten.js';
import type { ProposalRequest } from '../../src/core/search/protocol.js';
import type { TracedRun } from '../../src/core/jobs/trace.js';
import { buildDemos, NothingToShow } from '../../src/candidates/store/demos.js';
import type { JobRef } from '../../src/jobs/store/events.js';
import { generationSpan } from '../../src/tracing/spans.js';
import { mapLimited } from '../../src/util/map-limited.js';
import { readSuggestion } from '../../src/jobs/store/suggestions.js';
import type { ActivityDeps } from '../deps.js';
import { recordLost } from '../jobs/spec.js';
import type { ProposerContext } from './ask-proposer.js';
import { editRules, proposeGraph } from './graph.js';
import { admitProposals, type AdmittedProposals, type Proposal } from './admit.js';
import { neededCandidates, type Material } from './material.js';
import type { CandidatePool } from './pool.js';
import { reflect } from './reflect.js';

/** What a search asks of its proposer, and whether it still may be asked. */
export interface ProposalBatch {
  requests: ProposalRequest[];
  material: Material;
  /** null: the job is not traced. */
  trace: TracedRun | null;
  signal: AbortSignal;
  mayAsk(): boolean;
}

/**
 * Makes the requested candidates; null: stopped before all were asked for. A repeated call pays for
 * no model call twice.
 */
export async function propose(
  deps: ActivityDeps,
  job: JobRef,
  { requests, material, trace, signal, mayAsk }: ProposalBatch,
): Promise<AdmittedProposals | null> {
  const { spec, pool, recorded } = material;
  const callsOf = ({ generation }: ProposalRequest) =>
    deps.tracing?.callsOf(trace && generationSpan(trace, generation)) ?? null;
  const proposals = await mapLimited(requests, spec.maxConcurrent, async (request) => {
    const proposer = { deps, job, spec, recorded, trace: callsOf(request), signal };
    return mayAsk() ? makeProposal(proposer, material, request) : null;
  });
  const made = proposals.filter((proposal) => proposal !== null);
  if (made.length < requests.length) return null;
  const admitted = admitProposals(pool, spec, requests, made);
  for (const { outcome } of admitted.answers) deps.metrics.proposal(outcome);
  return admitted;
}

/** Makes candidates that follow from the pool; null: some need rows, a model or lost texts. */
export function deriveProposals(
  pool: CandidatePool,
  spec: SearchSpec,
  requests: readonly ProposalRequest[],
): AdmittedProposals | null {
  const areDerived = requests.every(
    (request) =>
      (request.kind === 'merge' || request.kind === 'ablate') &&
      neededCandidates(request).every((candidate) => pool.has(candidate)),
  );
  if (!areDerived) return null;
  const proposals = requests.map((request) => derive(pool, spec, request));
  return admitProposals(pool, spec, requests, proposals);
}

/** The proposal of a request to merge or to ablate. */
function derive(pool: CandidatePool, spec: SearchSpec, request: ProposalRequest): Proposal {
  if (request.kind === 'merge') return merge(pool, request.merge!);
  return spec.kind === 'graph' ? ablate(spec, pool, request) : shorten(pool, request);
}

async function makeProposal(
  proposer: ProposerContext,
  { spec, pool, session, graph: graphs }: Material,
  request: ProposalRequest,
): Promise<Proposal> {
  const { deps, job } = proposer;
  switch (request.kind) {
    case 'merge':
    case 'ablate':
      return derive(pool, spec, request);
    case 'compose':
      return compose(deps, job, spec as SessionSpec, pool, request);
    case 'given':
      return given(deps, job, pool, request);
    case 'rewrite':
    case 'edit': {
      const { messages, graph } = pool.get(request.parent);
      return spec.kind === 'graph'
        ? proposeGraph(proposer, request, graphFromJson(graph!), graphs)
        : reflect(proposer, request, componentTexts(messages), pool, session);
    }
  }
}

/** A person's prompt; components that it leaves out are the baseline's. */
async function given(
  { db }: ActivityDeps,
  job: JobRef,
  pool: CandidatePool,
  request: ProposalRequest,
): Promise<Proposal> {
  const id = request.given!;
  const found = await db.org(job.orgId, (tx) => readSuggestion(tx, job.jobId, id));
  if (!found?.texts) throw recordLost(job);
  return { outcome: 'given', texts: { ...componentTexts(pool.get(0).messages), ...found.texts }, commandId: id };
}

function merge(pool: CandidatePool, parents: readonly number[]): Proposal {
  const merged = mergeProposal(pool.lineage, parents);
  if (!merged.ok) return { outcome: 'failed', reason: merged.reason };
  const { texts, graph } = merged;
  return { outcome: 'merged', texts, parents: merged.parents, ...(graph && { graph }) };
}

function ablate(spec: GraphSpec, pool: CandidatePool, { parent, ablation }: ProposalRequest): Proposal {
  const ablated = ablationsOf(graphFromJson(pool.get(parent).graph!), editRules(spec))[ablation!];
  if (!ablated) return { outcome: 'failed', reason: 'no further step can be removed' };
  const { graph, edit } = ablated;
  return { outcome: 'ablated', texts: graphTexts(graph), graph, edits: [editToJson(edit)] };
}

function shorten(pool: CandidatePool, { parent, ablation }: ProposalRequest): Proposal {
  const texts = withoutSentences(lineageOf(pool.lineage, parent), ablation!);
  return texts ? { outcome: 'shortened', texts } : { outcome: 'failed', reason: 'no further sentence can be removed' };
}

async function compose(
  { db }: ActivityDeps,
  job: JobRef,
  spec: SessionSpec,
  pool: CandidatePool,
  { parent, approach, compose: wanted }: ProposalRequest,
): Promise<Proposal> {
  const { texts: sources, demos: slots, parents } = wanted!;
  const textsFrom = (candidate: number) => componentTexts(pool.get(candidate).messages);
  const names = rewritableNames(spec, textsFrom(0));
  const texts = { ...textsFrom(0), ...composeTexts(names, sources, textsFrom) };
  const demos = await db
    .org(job.orgId, (tx) => buildDemos(tx, job.jobId, slots))
    .catch((error: unknown) => {
      throw error instanceof NothingToShow ? recordLost(job) : error;
    });
  const most = spec.maxPromptTokens ?? Infinity;
  const messages = Object.values(texts).map((content) => ({ content }));
  const fitting = fittingDemos(messages, demos, most);
  // The parent shows fewer turns than were planned, where not all of them fit.
  const shown = new Set(pool.get(parent).demos.map(({ ordinal }) => ordinal));
  const kept = approach === 'compress' ? fitting.filter(({ ordinal }) => shown.has(ordinal)) : fitting;
  return { outcome: 'composed', texts, demos: kept, parents };
}
