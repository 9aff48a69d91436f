/** Static knowledge of a step's value, used to find refs that cannot resolve. */
import { allowedNames } from './json-schema.js';
import type { AnswerForm, Step } from './graph.js';
import { opSignatures } from './ops.js';

/** `fields`: the only possible names of an object; null: any name. */
export type Shape = { kind: 'object'; fields: readonly string[] | null } | { kind: 'list' | 'text' | 'number' | 'any' };

/** The shape of a step's value, derived from the step alone. */
export function stepShape(step: Step): Shape {
  switch (step.type) {
    case 'llm':
      return (step.samples ?? 1) > 1 ? { kind: 'list' } : formShape(step.output);
    case 'map':
      return { kind: 'list' };
    case 'transform': {
      const kind = opSignatures[step.op].gives;
      return kind === 'object' ? { kind, fields: Object.keys(step.inputs) } : { kind };
    }
    case 'vote':
    case 'select':
      return { kind: 'any' };
  }
}

function formShape(form: AnswerForm): Shape {
  if ('field' in form) return { kind: 'object', fields: [form.field] };
  const { type } = form.schema;
  switch (type) {
    case 'object':
      return { kind: 'object', fields: allowedNames(form.schema) };
    case 'array':
      return { kind: 'list' };
    case 'string':
      return { kind: 'text' };
    case 'number':
    case 'integer':
      return { kind: 'number' };
    default:
      return { kind: 'any' };
  }
}

/** Why a path cannot exist in a step's value; null if it can. */
export function pathProblem(step: Step, [name]: readonly string[]): string | null {
  const shape = stepShape(step);
  if (name === undefined || shape.kind === 'any') return null;
  if (shape.kind !== 'object') return `has no "${name}": the value of ${step.id} is a ${shape.kind}`;
  const { fields } = shape;
  return fields === null || fields.includes(name)
    ? null
    : `has no "${name}": the value of ${step.id} has ${fields.join(', ')}`;
}

/** Why a step's whole value cannot be a list; null if it can. */
export function listProblem(step: Step): string | null {
  const { kind } = stepShape(step);
  return kind === 'list' || kind === 'any'
    ? null
    : `must be a list; the value of ${step.id} is ${kind === 'object' ? 'an object' : `a ${kind}`}`;
}
