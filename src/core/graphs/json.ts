/** Converts graphs and edits to and from their JSON form; only two field names differ. */
import type { EditJson, GraphJson, PromptJson, StepJson, VoteByJson } from '../../kinds/graph/contract/graph.js';
import type { Edit } from './edits/editing.js';
import type { Graph, Prompt, Step, VoteStep } from './graph.js';

export function graphFromJson({ inputs, steps, output }: GraphJson): Graph {
  return { inputs, steps: steps.map(stepFromJson), output };
}

export function graphToJson({ inputs, steps, output }: Graph): GraphJson {
  return { inputs: [...inputs], steps: steps.map(stepToJson), output };
}

export function editFromJson(edit: EditJson): Edit {
  if (edit.edit === 'add') return { ...edit, step: stepFromJson(edit.step) };
  return edit.edit === 'vote' ? { ...edit, by: voteByFromJson(edit.by) } : edit;
}

export function editToJson(edit: Edit): EditJson {
  if (edit.edit === 'add') return { ...edit, step: stepToJson(edit.step) };
  return (edit.edit === 'vote' ? { ...edit, by: voteByToJson(edit.by) } : edit) as EditJson;
}

function stepFromJson(step: StepJson): Step {
  switch (step.type) {
    case 'llm':
      // The graph's validation checks the JSON Schema.
      return promptFromJson(step) as Step;
    case 'map': {
      const { max_items, ...others } = promptFromJson(step);
      return { ...others, ...(max_items === undefined ? {} : { maxItems: max_items }) } as Step;
    }
    case 'vote':
      return { ...step, by: voteByFromJson(step.by) };
    case 'select':
    case 'transform':
      return step;
  }
}

function voteByFromJson(by: VoteByJson): VoteStep['by'] {
  return by === 'majority' ? by : { judge: promptFromJson(by.judge) };
}

function promptFromJson<WithPrompt extends PromptJson>({ timeout_s, ...others }: WithPrompt) {
  return { ...others, ...(timeout_s === undefined ? {} : { timeoutS: timeout_s }) };
}

function stepToJson(step: Step): StepJson {
  switch (step.type) {
    case 'llm':
      return promptToJson(step) as StepJson;
    case 'map': {
      const { maxItems, ...others } = promptToJson(step);
      return { ...others, ...(maxItems === undefined ? {} : { max_items: maxItems }) } as StepJson;
    }
    case 'vote':
      return { ...step, by: voteByToJson(step.by) } as StepJson;
    case 'select':
    case 'transform':
      return step as StepJson;
  }
}

function voteByToJson(by: VoteStep['by']): VoteByJson {
  return by === 'majority' ? by : ({ judge: promptToJson(by.judge) } as VoteByJson);
}

function promptToJson<WithPrompt extends Prompt>({ timeoutS, ...others }: WithPrompt) {
  return { ...others, ...(timeoutS === undefined ? {} : { timeout_s: timeoutS }) };
}
