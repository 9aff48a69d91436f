import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { graphSchema } from '../../src/kinds/graph/contract/graph.js';
import { graphFromJson } from '../../src/core/graphs/json.js';
import { opSignatures } from '../../src/core/graphs/ops.js';
import { driveGraph } from '../../src/core/graphs/run/drive.js';
import { outcomeOf } from '../../src/core/graphs/run/run.js';
import { graphProblems } from '../../src/core/graphs/validate.js';
import { fencesOf, tableOf } from './pages.js';

// The examples of docs/reference/graph-format.md are valid and run; its tables name every kind.

const page = 'docs/reference/graph-format.md';
const graphs = fencesOf(page)
  .filter(({ info }) => info === 'json')
  .map(({ line, body }) => ({ line, json: graphSchema.parse(JSON.parse(body)) }));

const input = {
  question: '2 + 2?',
  mail: 'Please pay 3 EUR.',
  text: 'one\n\ntwo',
  scores: [1, 2, 3],
  names: ['first', 'last'],
  note: 'see <a b> there',
};

function answerTo(text: string): string {
  if (text.includes('as JSON')) return '{"total": 3, "currency": "EUR"}';
  if (text.includes('with its number')) return '2';
  return text.includes('step by step') ? 'four' : 'unsure';
}

const outputs = [
  'unsure',
  3,
  ['unsure', 'unsure'],
  ['unsure', 'unsure'],
  'four',
  { text: 'last: 6', names: 'first, last, a, b' },
];

test.each(graphs.map(({ line, json }, at) => [line, json, outputs[at]] as const))(
  'the example in line %i is valid and gives its output',
  async (_, json, expected) => {
    const graph = graphFromJson(json);
    expect(graphProblems(graph)).toEqual([]);
    const task = Object.fromEntries(Object.entries(input).filter(([name]) => json.inputs.includes(name)));
    const { run } = await driveGraph(graph, task, ({ messages }) =>
      Promise.resolve({ ok: true, text: answerTo(messages.map(({ content }) => content).join('\n')) }),
    );
    expect(outcomeOf(run)).toEqual({ status: 'done', value: expected });
  },
);

const namesIn = (cells: readonly string[]) =>
  cells.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name!));

test('the tables name every kind of step and every op, and examples show every kind', () => {
  const schema = JSON.stringify(z.toJSONSchema(graphSchema, { unrepresentable: 'any' }));
  const types = [...schema.matchAll(/"type":\{"type":"string","const":"(\w+)"\}/g)].map(([, name]) => name);
  expect(namesIn(tableOf(page, '`type`').map(([first = '']) => first)).sort()).toEqual([...new Set(types)].sort());
  expect(namesIn(tableOf(page, '`op`').map(([first = '']) => first)).sort()).toEqual(Object.keys(opSignatures).sort());
  const shown = graphs.flatMap(({ json }) => json.steps.map(({ type }) => type));
  expect([...new Set(shown)].sort()).toEqual([...new Set(types)].sort());
});
