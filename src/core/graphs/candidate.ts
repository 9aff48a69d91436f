/** Candidates as prompt texts or as graphs: when two are the same, and how several are merged. */
import type { Demo } from '../prompts/demos.js';
import { mergeCandidates, type LineageTexts, type Texts } from '../proposals/components.js';
import { structureKey, withGraphTexts } from './components.js';
import type { Graph } from './graph.js';
import { graphIdentity } from './identity.js';

export interface CandidateContent {
  texts: Texts;
  demos: readonly Demo[];
  graph: Graph | null;
}

/** The deduplication key of a candidate. */
export function candidateKey({ texts, demos, graph }: CandidateContent): string {
  if (graph) return graphIdentity(graph);
  const shown = demos.map(({ component, input, output }) => [component, input, output]);
  return JSON.stringify([Object.entries(texts), shown]);
}

/** A candidate in its lineage; `graph` null: a prompt. */
export interface MergeableCandidate extends LineageTexts {
  graph: Graph | null;
}

export type MergeResult =
  { ok: true; texts: Texts; graph: Graph | null; parents: number[] } | { ok: false; reason: string };

export function mergeProposal(
  candidates: ReadonlyMap<number, MergeableCandidate>,
  parents: readonly number[],
): MergeResult {
  const sides = parents.map((parent) => candidates.get(parent)!);
  const common = sides[0]!.parents.find((parent) => sides.every((side) => side.parents.includes(parent)));
  if (common === undefined) return { ok: false, reason: 'the candidates have no parent in common' };
  const base = candidates.get(common)!;
  const { graph } = base;
  if (graph && !sides.every((side) => structureKey(side.graph!) === structureKey(graph))) {
    return { ok: false, reason: 'the candidates differ in structure' };
  }
  const merged = mergeCandidates(base.texts, sides);
  if (!merged) return { ok: false, reason: 'the candidates changed the same text in different ways' };
  if (!graph) return { ok: true, graph: null, ...merged };
  const rewritten = withGraphTexts(graph, merged.texts);
  return rewritten.ok
    ? { ok: true, ...merged, graph: rewritten.graph }
    : { ok: false, reason: 'the combined changes make no valid graph' };
}
