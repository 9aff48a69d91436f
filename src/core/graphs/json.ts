/** The JSON form of graphs and edits, and back. Both say the same; only two fields are named otherwise. */
import type { EditJson, GraphJson, PromptJson, StepJson, VoteByJson } from '../../contracts/graphs/graph.js';
import type { Edit } from './edits/edits.js';
import type { Graph, Prompt, Step, VoteStep } from './graph.js';

/** The graph of a JSON form that its schema has taken. */
export function graphOf({ inputs, steps, output }: GraphJson): Graph {
  return { inputs, steps: steps.map(stepOf), output };
}

/** The JSON form of a graph. */
export function jsonOf({ inputs, steps, output }: Graph): GraphJson {
  return { inputs: [...inputs], steps: steps.map(stepJson), output };
}

/** The edit of a JSON form that its schema has taken. */
export function editOf(edit: EditJson): Edit {
  if (edit.edit === 'add') return { ...edit, step: stepOf(edit.step) };
  return edit.edit === 'vote' ? { ...edit, by: byOf(edit.by) } : edit;
}

/** The JSON form of an edit. */
export function editJson(edit: Edit): EditJson {
  if (edit.edit === 'add') return { ...edit, step: stepJson(edit.step) };
  return (edit.edit === 'vote' ? { ...edit, by: byJson(edit.by) } : edit) as EditJson;
}

function stepOf(step: StepJson): Step {
  switch (step.type) {
    case 'llm':
      // What a schema may hold is checked with the graph.
      return promptOf(step) as Step;
    case 'map': {
      const { max_items, ...others } = promptOf(step);
      return { ...others, ...(max_items === undefined ? {} : { maxItems: max_items }) } as Step;
    }
    case 'vote':
      return { ...step, by: byOf(step.by) };
    case 'select':
    case 'transform':
      return step;
  }
}

function byOf(by: VoteByJson): VoteStep['by'] {
  return by === 'majority' ? by : { judge: promptOf(by.judge) };
}

function promptOf<Held extends PromptJson>({ timeout_s, ...others }: Held) {
  return { ...others, ...(timeout_s === undefined ? {} : { timeoutS: timeout_s }) };
}

function stepJson(step: Step): StepJson {
  switch (step.type) {
    case 'llm':
      return promptJson(step) as StepJson;
    case 'map': {
      const { maxItems, ...others } = promptJson(step);
      return { ...others, ...(maxItems === undefined ? {} : { max_items: maxItems }) } as StepJson;
    }
    case 'vote':
      return { ...step, by: byJson(step.by) } as StepJson;
    case 'select':
    case 'transform':
      return step as StepJson;
  }
}

function byJson(by: VoteStep['by']): VoteByJson {
  return by === 'majority' ? by : ({ judge: promptJson(by.judge) } as VoteByJson);
}

function promptJson<Held extends Prompt>({ timeoutS, ...others }: Held) {
  return { ...others, ...(timeoutS === undefined ? {} : { timeout_s: timeoutS }) };
}
