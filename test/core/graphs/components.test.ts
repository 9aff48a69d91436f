import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { graphTexts, instructionNames, structureKey, withGraphTexts } from '../../../src/core/graphs/components.js';
import { anyGraph, graphWith, llm, user } from './cases.js';

const judge = { inputs: { q: 'input.question' }, messages: user('{{q}} {{candidates}}') };
const graph = graphWith(
  [
    llm(
      'solve',
      { q: 'input.question' },
      { samples: 2, messages: [{ role: 'system', content: 'Be brief.' }, ...user('{{q}}'), ...user('Again: {{q}}')] },
    ),
    { id: 'best', type: 'vote', over: 'solve', by: { judge } },
    { id: 'text', type: 'transform', op: 'json_text', inputs: { value: 'best' } },
  ],
  'text',
);

describe('graph components', () => {
  test('are the messages of steps with a model', () => {
    expect(graphTexts(graph)).toEqual({
      'solve.system': 'Be brief.',
      'solve.user': '{{q}}',
      'solve.user_2': 'Again: {{q}}',
      'best.user': '{{q}} {{candidates}}',
    });
  });

  test('withGraphTexts replaces texts', () => {
    const texts = { 'solve.system': 'Be clear.', 'best.user': 'Which of {{candidates}} for {{q}}?' };
    const rewritten = withGraphTexts(graph, texts);
    if (!rewritten.ok) throw new Error(JSON.stringify(rewritten.problems));
    expect(graphTexts(rewritten.graph)).toEqual({ ...graphTexts(graph), ...texts });
    expect(graphTexts(graph)['solve.system']).toBe('Be brief.');
  });

  test('withGraphTexts keeps all texts without changes', () => {
    fc.assert(
      fc.property(anyGraph, (any) => {
        expect(withGraphTexts(any, {})).toEqual({ ok: true, graph: any });
        expect(withGraphTexts(any, graphTexts(any))).toEqual({ ok: true, graph: any });
      }),
    );
  });

  test.each<[string, string]>([
    ['solve.assistant', 'x'],
    ['toString', 'x'],
    ['solve.user_2', 'Again.'],
    ['best.user', '{{q}}'],
    ['solve.system', 'Be {{brief}}.'],
    ['best.user', '{{q}} {{candidates}} {{x}}'],
    ['solve.system', ' '],
  ])('withGraphTexts rejects %s = %j', (name, text) => {
    expect(withGraphTexts(graph, { [name]: text })).toMatchObject({ ok: false, problems: [{ path: name }] });
  });

  test('instructionNames lists system messages, or all messages of a step without any', () => {
    expect(instructionNames(graph)).toEqual(['solve.system', 'best.user']);
  });

  test('structureKey ignores the texts', () => {
    const other = withGraphTexts(graph, { 'solve.system': 'Be clear.' });
    expect(other.ok && structureKey(other.graph)).toBe(structureKey(graph));
    const another = {
      ...graph,
      steps: graph.steps.map((step) => (step.id === 'solve' ? { ...step, samples: 3 } : step)),
    };
    expect(structureKey(another)).not.toBe(structureKey(graph));
  });
});
