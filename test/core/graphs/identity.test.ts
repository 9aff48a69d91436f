import { expect, test } from '@jest/globals';
import type { Graph } from '../../../src/core/graphs/graph.js';
import { graphIdentity } from '../../../src/core/graphs/identity.js';
import { graphFromJson, graphToJson } from '../../../src/core/graphs/json.js';
import { structureKey } from '../../../src/core/graphs/components.js';
import { graphWith, llm } from './cases.js';

const list = (inputs: Record<string, string>) =>
  graphWith([{ id: 'both', type: 'transform', op: 'list', inputs }], 'both');
const asking = (properties: Record<string, object>) =>
  graphWith([llm('solve', { q: 'input.question' }, { output: { schema: { type: 'object', properties } } })], 'solve');

test.each<[string, Graph, Graph]>([
  ['inputs', list({ original: 'input.question', b: 'input' }), list({ b: 'input', original: 'input.question' })],
  ['properties', asking({ why: {}, a: {} }), asking({ a: {}, why: {} })],
])('the order of %s changes identity and structure', (_, left, right) => {
  expect(graphIdentity(left)).not.toBe(graphIdentity(right));
  expect(structureKey(left)).not.toBe(structureKey(right));
});

test('the order of other fields does not change identity', () => {
  const left = graphWith([llm('solve', { q: 'input.question' }, { tries: 2, model: 'm' })], 'solve');
  const [{ id, ...rest }] = left.steps as [Graph['steps'][number]];
  const right = { output: left.output, steps: [{ ...rest, id }], inputs: left.inputs } as Graph;
  expect(graphIdentity(right)).toBe(graphIdentity(left));
  expect(structureKey(right)).toBe(structureKey(left));
});

test('undefined fields and the JSON form do not change identity', () => {
  const left = graphWith([llm('solve', { q: 'input.question' }, { timeoutS: 3 })], 'solve');
  const unsaid = { ...left, steps: left.steps.map((step) => ({ ...step, model: undefined })) } as unknown as Graph;
  expect(graphIdentity(unsaid)).toBe(graphIdentity(left));
  expect(graphIdentity(graphFromJson(JSON.parse(JSON.stringify(graphToJson(left)))))).toBe(graphIdentity(left));
});
