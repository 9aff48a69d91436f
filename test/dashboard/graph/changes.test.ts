import { expect, test } from '@jest/globals';
import { changesOf, outputBox } from '../../../dashboard/src/pages/graph/changes.js';
import { editWords, lineOf } from '../../../dashboard/src/pages/graph/lineage.js';
import type { Graph, Step } from '../../../src/core/graphs/graph.js';

const llm = (id: string, inputs: Record<string, string>, content = 'Answer {{question}}.'): Step => ({
  id,
  type: 'llm',
  inputs,
  messages: [{ role: 'user', content }],
  output: { field: 'answer' },
});

const first: Graph = {
  inputs: ['question'],
  steps: [llm('solve', { question: 'input.question' })],
  output: 'solve.answer',
};
const planned: Graph = {
  inputs: ['question'],
  steps: [
    llm('plan', { question: 'input.question' }),
    llm('solve', { question: 'input.question', plan: 'plan.answer' }),
  ],
  output: 'solve.answer',
};

const marks = (graph: Graph, before: Graph | null) => {
  const { steps, edges, input, output } = changesOf(graph, before);
  return {
    steps: Object.fromEntries([...steps].map(([id, { change }]) => [id, change])),
    edges: Object.fromEntries(edges.map(({ from, to, change }) => [`${from} ${to}`, change])),
    ends: [input, output],
  };
};

test('a graph alone is unmarked', () => {
  expect(marks(planned, null)).toEqual({
    steps: { plan: 'same', solve: 'same' },
    edges: { 'input plan': 'same', 'input solve': 'same', 'plan solve': 'same', [`solve ${outputBox}`]: 'same' },
    ends: ['same', 'same'],
  });
});

test('steps and edges are added, changed and removed', () => {
  expect(marks(planned, first)).toMatchObject({
    steps: { plan: 'added', solve: 'changed' },
    edges: { 'input plan': 'added', 'input solve': 'same', 'plan solve': 'added' },
  });
  expect(marks(first, planned)).toMatchObject({
    steps: { plan: 'removed', solve: 'changed' },
    edges: { 'input plan': 'removed', 'plan solve': 'removed' },
  });
});

test('a change of a text marks its step only', () => {
  const rewritten = { ...first, steps: [llm('solve', { question: 'input.question' }, 'Think about {{question}}.')] };
  expect(marks(rewritten, first)).toMatchObject({ steps: { solve: 'changed' }, edges: { 'input solve': 'same' } });
});

test('an edge that carries another field is changed', () => {
  const rewired = { ...first, steps: [llm('solve', { question: 'input.title' })] };
  expect(marks(rewired, first).edges).toMatchObject({ 'input solve': 'changed' });
});

test('another output is marked at the output', () => {
  const other = { ...planned, output: 'plan.answer' };
  expect(marks(other, planned)).toMatchObject({
    ends: ['same', 'changed'],
    edges: { [`plan ${outputBox}`]: 'added', [`solve ${outputBox}`]: 'removed' },
  });
});

test('the line of a candidate begins with its oldest known ancestor', () => {
  const candidate = (id: string, ...parents: string[]) => ({ candidate_id: id, parent_ids: parents });
  const all = [candidate('c', 'b', 'x'), candidate('x', 'a'), candidate('b', 'a'), candidate('a')];
  expect(lineOf(all, 'c').map(({ candidate_id: id }) => id)).toEqual(['a', 'b', 'c']);
  expect(lineOf(all, 'unknown')).toEqual([]);
});

test('an edit names its step', () => {
  expect(editWords({ edit: 'rewire', step: 'solve', input: 'plan', to: null })).toBe('solve without plan');
});
