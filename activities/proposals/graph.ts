import { editsSchema, type EditJson } from '../../src/kinds/graph/contract/graph.js';
import { initialGraphOf, type GraphSpec } from '../../src/core/jobs/spec.js';
import { graphTexts, instructionNames, withGraphTexts } from '../../src/core/graphs/components.js';
import { editsForm } from '../../src/core/graphs/edits/proposal.js';
import { attemptsLimit } from '../../src/core/graphs/edits/edits.js';
import type { EditRules } from '../../src/core/graphs/edits/editing.js';
import { maxAttempts, type Graph } from '../../src/core/graphs/graph.js';
import { editToJson, graphFromJson } from '../../src/core/graphs/json.js';
import { formatProblems, maxEdits, readGraphEdits, readGraphText } from '../../src/core/graphs/edits/read-proposal.js';
import { graphText } from '../../src/core/graphs/text.js';
import { pickFailures } from '../../src/core/proposals/feedback-clusters.js';
import type { Question } from '../../src/core/question.js';
import type { ProposalRequest } from '../../src/core/search/protocol.js';
import type { GraphExample } from '../../src/kinds/graph/store/examples.js';
import { askProposer, type ProposerContext, type ProposerQuestion } from './ask-proposer.js';
import type { GraphMaterial } from './material.js';
import { rewriteTexts, type RewriteOutcome } from './rewrite.js';

type NoProposal = Exclude<RewriteOutcome, { outcome: 'proposed' }>;
type NewGraph = Extract<RewriteOutcome, { outcome: 'proposed' }> & { graph: Graph; edits?: EditJson[] };

/** A proposed graph, or why there is none; `components` is empty after an edit of the structure. */
export type ProposedGraph = (NewGraph | NoProposal) & { shown: number[] };

interface GraphProposal {
  request: ProposalRequest;
  parent: Graph;
  failures: GraphExample[];
}

/** Asks the proposer for a better graph: with new prompts, or with an edited structure. */
export async function proposeGraph(
  proposer: ProposerContext,
  request: ProposalRequest,
  parent: Graph,
  { examples }: GraphMaterial,
): Promise<ProposedGraph> {
  const known = request.ordinals.flatMap((ordinal) => examples.get(ordinal) ?? []);
  const failures = pickFailures(known, request.pick);
  const propose = request.kind === 'edit' ? editStructure : rewritePrompts;
  const result = await propose(proposer, { request, parent, failures });
  return { ...result, shown: failures.map(({ ordinal }) => ordinal) };
}

async function rewritePrompts(
  proposer: ProposerContext,
  { request, parent, failures }: GraphProposal,
): Promise<NewGraph | NoProposal> {
  const spec = proposer.spec as GraphSpec;
  const { traceDetail = 1 } = spec.search;
  const rewriting = {
    request,
    failures,
    parent: graphTexts(parent),
    names: instructionNames(parent),
    context: { traceDetail, ...(spec.description !== null && { task: spec.description }) },
    reader:
      (_: string, component: string): ProposerQuestion['read'] =>
      (answer) =>
        readGraphText(parent, component, answer),
  };
  const rewritten = await rewriteTexts(proposer, rewriting);
  if (rewritten.outcome !== 'proposed') return rewritten;
  const changed = withGraphTexts(parent, rewritten.texts);
  if (!changed.ok) return { outcome: 'failed', reason: formatProblems(changed.problems) };
  const { graph } = changed;
  return { outcome: 'proposed', texts: graphTexts(graph), graph, components: rewritten.components };
}

/** The rules for the edits of a job's graphs. */
export function editRules(spec: GraphSpec): EditRules {
  return {
    models: spec.policies.map(({ model }) => model),
    maxAttempts: attemptsLimit(graphFromJson(initialGraphOf(spec))),
  };
}

async function editStructure(
  proposer: ProposerContext,
  { request: { candidate, approach }, parent, failures }: GraphProposal,
): Promise<NewGraph | NoProposal> {
  const spec = proposer.spec as GraphSpec;
  const rules = editRules(spec);
  const proposal = {
    graph: graphText(parent),
    failures,
    models: rules.models,
    maxEdits,
    attempts: { now: maxAttempts(parent), most: rules.maxAttempts },
    ...(spec.search.traceDetail !== undefined && { traceDetail: spec.search.traceDetail }),
    ...(spec.description !== null && { task: spec.description }),
  };
  const question: Question = { kind: 'edits', graph: parent, proposal };
  let graph = parent;
  let edits: EditJson[] = [];
  const read: ProposerQuestion['read'] = (answer) => {
    const edited = readGraphEdits(parent, answer, { ...rules, schema: editsSchema });
    if (!edited.ok) return edited;
    ({ graph } = edited);
    edits = edited.edits.map(editToJson);
    return { ok: true, text: graphText(graph) };
  };
  const isVaried = approach !== undefined;
  const asked = { candidate, part: 0, component: null, isVaried, question, form: editsForm(maxEdits), read };
  const answer = await askProposer(proposer, asked);
  if (answer.ok) return { outcome: 'proposed', texts: graphTexts(graph), graph, components: [], edits };
  return answer.unchanged ? { outcome: 'unchanged' } : { outcome: 'failed', reason: answer.reason };
}
