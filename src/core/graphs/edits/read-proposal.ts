/** Turns a proposer's answer into a graph. */
import type { editsSchema } from '../../../kinds/graph/contract/graph.js';
import { maxProposalChars } from '../../proposals/limits.js';
import { parseProposal, type ParsedProposal } from '../../proposals/reflection.js';
import { graphTexts, withGraphTexts } from '../components.js';
import { parseEdits } from './proposal.js';
import { applyEdits } from './edits.js';
import type { Edit, EditRules } from './editing.js';
import type { Graph } from '../graph.js';
import { graphIdentity } from '../identity.js';
import type { Problem } from '../validate.js';

/** Maximum edits of one answer. */
export const maxEdits = 3;

export interface ProposerAnswer {
  text: string;
  finishReason: string | null;
}

/** Parses a component's new text; rejects it if the graph is invalid with it. */
export function readGraphText(graph: Graph, component: string, { text, finishReason }: ProposerAnswer): ParsedProposal {
  const parent = graphTexts(graph)[component] ?? '';
  // `withGraphTexts` knows the step's inputs.
  const rules = { parent, maxChars: maxProposalChars(parent), finishReason, problemOf: () => null };
  const parsed = parseProposal(text, rules);
  if (!parsed.ok) return parsed;
  const rewritten = withGraphTexts(graph, { [component]: parsed.text });
  return rewritten.ok ? parsed : { ok: false, reason: formatProblems(rewritten.problems) };
}

/** `schema`: this layer may not import a contract. */
export interface EditingRules extends EditRules {
  schema: typeof editsSchema;
}

export type ReadEdits = { ok: true; edits: Edit[]; graph: Graph } | { ok: false; reason: string; unchanged?: boolean };

export function readGraphEdits(
  parent: Graph,
  { text, finishReason }: ProposerAnswer,
  { schema, ...rules }: EditingRules,
): ReadEdits {
  const parsed = parseEdits(text, { finishReason, schema, maxEdits });
  if (!parsed.ok) return parsed;
  const { edits } = parsed;
  const applied = applyEdits(parent, edits, rules);
  if (!applied.ok) return { ok: false, reason: formatProblems(applied.problems) };
  const { graph } = applied;
  return isSameGraph(graph, parent)
    ? { ok: false, reason: 'the edits leave the graph as it is', unchanged: true }
    : { ok: true, edits, graph };
}

/** Whether two graphs are equal, regardless of the order of their fields. */
function isSameGraph(left: Graph, right: Graph): boolean {
  return graphIdentity(left) === graphIdentity(right);
}

export function formatProblems(problems: readonly Problem[]): string {
  return problems
    .slice(0, 5)
    .map(({ path, message }) => `${path} ${message}`)
    .join('; ');
}
