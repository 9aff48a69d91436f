/** How the graph of a candidate came to be. */
import type { EditJson } from '../../../../src/kinds/graph/contract/graph.js';
import type { CandidateDetail } from '../../data/graph/types.js';

interface Descendant {
  candidate_id: string;
  parent_ids: string[];
}

/** A candidate and its ancestors by first parents, the oldest first. */
export function lineOf<C extends Descendant>(candidates: readonly C[], id: string): C[] {
  const byId = new Map(candidates.map((candidate) => [candidate.candidate_id, candidate]));
  const line: C[] = [];
  for (let next = byId.get(id); next !== undefined && !line.includes(next); next = byId.get(next.parent_ids[0] ?? ''))
    line.unshift(next);
  return line;
}

/** An edit of the structure in words: `add a step before solve`. */
export function editWords(edit: EditJson): string {
  switch (edit.edit) {
    case 'verify':
      return `check the answer of ${edit.step}`;
    case 'critique':
      return `criticize and correct ${edit.step}`;
    case 'decompose':
      return `split ${edit.step} in two`;
    case 'vote':
      return `vote over ${edit.samples} answers of ${edit.step}`;
    case 'add':
      return `add ${edit.step.id}`;
    case 'remove':
      return `remove ${edit.step}`;
    case 'rewire':
      return edit.to === null
        ? `${edit.step} without ${edit.input}`
        : `${edit.step} takes ${edit.input} from ${edit.to}`;
    case 'model':
      return `${edit.step} asks ${edit.model ?? 'the first model'}`;
    case 'prompt':
      return `rewrite ${edit.step}`;
    case 'output':
      return `the output is ${edit.to}`;
  }
}

type Made = Pick<CandidateDetail, 'edits' | 'is_baseline'> & { reflection: { components: string[] } | null };

/** What the proposer did to its parent. */
export function howMade({ edits, reflection, is_baseline: isBaseline }: Made): string {
  if (isBaseline) return 'the first graph';
  if (edits !== null) return edits.map(editWords).join('; ');
  const texts = reflection?.components ?? [];
  return texts.length > 0 ? `rewrites ${texts.join(', ')}` : 'combines its parents';
}
