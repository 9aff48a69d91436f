/** What is known of a step's value before it has run, so that a ref that can lead nowhere is found. */
import { closedNames } from './json-schema.js';
import type { AnswerForm, Step } from './graph.js';
import { opForms } from './transform.js';

/** `fields`: the only names that an object can have; null: any. */
export type Shape = { kind: 'object'; fields: readonly string[] | null } | { kind: 'list' | 'text' | 'number' | 'any' };

/** What is known of the value of a step from the step alone. */
export function shapeOf(step: Step): Shape {
  switch (step.type) {
    case 'llm':
      return (step.samples ?? 1) > 1 ? { kind: 'list' } : shapeOfForm(step.output);
    case 'map':
      return { kind: 'list' };
    case 'transform': {
      const kind = opForms[step.op].gives;
      return kind === 'object' ? { kind, fields: Object.keys(step.inputs) } : { kind };
    }
    case 'vote':
    case 'select':
      return { kind: 'any' };
  }
}

function shapeOfForm(form: AnswerForm): Shape {
  if ('field' in form) return { kind: 'object', fields: [form.field] };
  const { type } = form.schema;
  switch (type) {
    case 'object':
      return { kind: 'object', fields: closedNames(form.schema) };
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

/** Why a step's value can have nothing at a path, or null. */
export function pathProblem(step: Step, [name]: readonly string[]): string | null {
  const shape = shapeOf(step);
  if (name === undefined || shape.kind === 'any') return null;
  if (shape.kind !== 'object') return `has no "${name}": the value of ${step.id} is a ${shape.kind}`;
  const { fields } = shape;
  return fields === null || fields.includes(name)
    ? null
    : `has no "${name}": the value of ${step.id} has ${fields.join(', ')}`;
}

/** Why a step's value cannot be a list, or null; without a path. */
export function listProblem(step: Step): string | null {
  const { kind } = shapeOf(step);
  return kind === 'list' || kind === 'any'
    ? null
    : `must be a list; the value of ${step.id} is ${kind === 'object' ? 'an object' : `a ${kind}`}`;
}
