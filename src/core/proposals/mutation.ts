import type { Approach } from './approach.js';
import type { ComponentSelection, ProposalRequest } from '../search/protocol.js';

/** The part of a search's configuration that decides how candidates are changed. */
export interface MutationConfig {
  /** Absent: by feedback. */
  componentSelection?: ComponentSelection;
  /** Candidates are graphs, whose structure can be edited. */
  editsStructure?: boolean;
  /** Factor on the lengths of the traces shown to a proposer of graphs; absent: 1. */
  traceDetail?: number;
}

/**
 * How a parent is changed: of graphs, even numbers edit the structure and odd numbers rewrite
 * prompts, which take turns. Restarts and compressions only rewrite prompts.
 */
export function mutationOf(
  candidate: number,
  { componentSelection: selection = 'feedback', editsStructure = false }: MutationConfig,
  approach: Approach = 'revise',
): Pick<ProposalRequest, 'kind' | 'components'> {
  if (!editsStructure) return { kind: 'rewrite', components: { selection, turn: candidate } };
  if (candidate % 2 === 0 && approach === 'revise') return { kind: 'edit' };
  return { kind: 'rewrite', components: { selection, turn: Math.floor(candidate / 2) } };
}
