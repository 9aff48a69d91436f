import type { Graph } from '../graph.js';
import { applyEdits } from './edits.js';
import type { Edit, EditRules } from './editing.js';

/** A graph without one of its steps. */
export interface Ablation {
  graph: Graph;
  edit: Edit;
}

/** The valid graphs without one step, the last step first: structure is mostly added at the end. */
export function ablationsOf(graph: Graph, rules: EditRules): Ablation[] {
  return graph.steps.toReversed().flatMap(({ id }) => {
    const edit: Edit = { edit: 'remove', step: id };
    const edited = applyEdits(graph, [edit], rules);
    return edited.ok && edited.graph.steps.length > 0 ? [{ graph: edited.graph, edit }] : [];
  });
}
