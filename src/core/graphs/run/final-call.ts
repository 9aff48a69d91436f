import { keyOfCall } from './advance.js';
import type { Run } from './run.js';

/**
 * The key of the wanted call whose text, as it is, will be the graph's output; null while that is not known, and for every output
 * that is not one answer's text. Nothing else is wanted then, so that its text can be passed on as it comes.
 */
export function finalCall({ plan, states, outcome }: Run): string | null {
  if (outcome.status !== 'running') return null;
  let way = plan.output;
  let path = way.path;
  while (typeof way.from === 'number') {
    const { step } = plan.steps[way.from]!;
    const state = states[way.from]!;
    if (state.at === 'choosing' && state.chosen !== null) {
      way = state.chosen;
      path = [...way.path, ...path];
      continue;
    }
    const isText = step.type === 'llm' && 'field' in step.output && path.length === 1 && path[0] === step.output.field;
    return isText && state.at === 'asking' && state.open.length === 1 ? keyOfCall(step.id, 0) : null;
  }
  return null;
}
