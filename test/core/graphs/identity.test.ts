import { expect, test } from '@jest/globals';
import type { Graph } from '../../../src/core/graphs/graph.js';
import { identityOf } from '../../../src/core/graphs/identity.js';
import { graphOf, jsonOf } from '../../../src/core/graphs/json.js';
import { structureOf } from '../../../src/core/graphs/components.js';
import { graphWith, llm } from './cases.js';

const list = (inputs: Record<string, string>) =>
  graphWith([{ id: 'both', type: 'transform', op: 'list', inputs }], 'both');
const asking = (properties: Record<string, object>) =>
  graphWith([llm('solve', { q: 'input.question' }, { output: { schema: { type: 'object', properties } } })], 'solve');

test.each<[string, Graph, Graph]>([
  ['inputs', list({ original: 'input.question', b: 'input' }), list({ b: 'input', original: 'input.question' })],
  ['properties', asking({ why: {}, a: {} }), asking({ a: {}, why: {} })],
])('the order of %s tells graphs apart, and their structures', (_, one, other) => {
  expect(identityOf(one)).not.toBe(identityOf(other));
  expect(structureOf(one)).not.toBe(structureOf(other));
});

test('that of other fields does not', () => {
  const one = graphWith([llm('solve', { q: 'input.question' }, { tries: 2, model: 'm' })], 'solve');
  const [{ id, ...others }] = one.steps as [Graph['steps'][number]];
  const other = { output: one.output, steps: [{ ...others, id }], inputs: one.inputs } as Graph;
  expect(identityOf(other)).toBe(identityOf(one));
  expect(structureOf(other)).toBe(structureOf(one));
});

test('what says nothing makes no difference, nor does the JSON form', () => {
  const one = graphWith([llm('solve', { q: 'input.question' }, { timeoutS: 3 })], 'solve');
  const unsaid = { ...one, steps: one.steps.map((step) => ({ ...step, model: undefined })) } as unknown as Graph;
  expect(identityOf(unsaid)).toBe(identityOf(one));
  expect(identityOf(graphOf(JSON.parse(JSON.stringify(jsonOf(one)))))).toBe(identityOf(one));
});
