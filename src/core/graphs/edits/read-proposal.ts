/** What of a proposer's answer becomes a graph; the same for whoever proposes and for whoever tells of it later. */
import type { editsSchema } from '../../../contracts/graphs/graph.js';
import { maxProposalChars } from '../../proposals/limits.js';
import { parseProposal, type ParsedProposal } from '../../proposals/reflection.js';
import { graphTexts, withGraphTexts } from '../components.js';
import { parseEdits } from './proposal.js';
import { applyEdits, type Edit, type EditRules } from './edits.js';
import type { Graph } from '../graph.js';
import { identityOf } from '../identity.js';
import type { Problem } from '../validate.js';

/** Of one answer. */
export const maxEdits = 3;

export interface ProposerAnswer {
  text: string;
  finishReason: string | null;
}

/** The text that an answer has for a component, if the graph is valid with it. */
export function readGraphText(graph: Graph, component: string, { text, finishReason }: ProposerAnswer): ParsedProposal {
  const parent = graphTexts(graph)[component] ?? '';
  const parsed = parseProposal(text, { parent, maxChars: maxProposalChars, finishReason });
  if (!parsed.ok) return parsed;
  const rewritten = withGraphTexts(graph, { [component]: parsed.text });
  return rewritten.ok ? parsed : { ok: false, reason: inWords(rewritten.problems) };
}

/** `schema`: `editsSchema` of `src/contracts/graphs/graph.ts`, which this layer may not import. */
export interface EditingRules extends EditRules {
  schema: typeof editsSchema;
}

export type ReadEdits = { ok: true; edits: Edit[]; graph: Graph } | { ok: false; reason: string; unchanged?: boolean };

/** The edits that an answer has, and the graph that they make of the parent; or why there are none. */
export function readGraphEdits(
  parent: Graph,
  { text, finishReason }: ProposerAnswer,
  { schema, ...rules }: EditingRules,
): ReadEdits {
  const parsed = parseEdits(text, { finishReason, schema, maxEdits });
  if (!parsed.ok) return parsed;
  const { edits } = parsed;
  const applied = applyEdits(parent, edits, rules);
  if (!applied.ok) return { ok: false, reason: inWords(applied.problems) };
  const { graph } = applied;
  return isSameGraph(graph, parent)
    ? { ok: false, reason: 'the edits leave the graph as it is', unchanged: true }
    : { ok: true, edits, graph };
}

/** Whether two graphs say the same, whatever the order of their fields. */
export function isSameGraph(left: Graph, right: Graph): boolean {
  return identityOf(left) === identityOf(right);
}

/** The first few problems of a graph, as a reason. */
export function inWords(problems: readonly Problem[]): string {
  return problems
    .slice(0, 5)
    .map(({ path, message }) => `${path} ${message}`)
    .join('; ');
}
