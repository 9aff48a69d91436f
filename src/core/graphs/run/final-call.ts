import { callKey } from './advance.js';
import type { Run } from './state.js';

/**
 * The key of the pending call whose text becomes the graph's output unchanged, so that it can be
 * streamed; null if unknown, or if the output is not a single answer's text.
 */
export function finalCall({ plan, states, outcome }: Run): string | null {
  if (outcome.status !== 'running') return null;
  let ref = plan.output;
  let path = ref.path;
  while (typeof ref.from === 'number') {
    const { step } = plan.steps[ref.from]!;
    const state = states[ref.from]!;
    if (state.at === 'choosing' && state.chosen !== null) {
      ref = state.chosen;
      path = [...ref.path, ...path];
      continue;
    }
    const isText = step.type === 'llm' && 'field' in step.output && path.length === 1 && path[0] === step.output.field;
    return isText && state.at === 'calling' && state.open.length === 1 ? callKey(step.id, 0) : null;
  }
  return null;
}
