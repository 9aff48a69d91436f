import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { graphTexts, instructionNames, structureOf, withGraphTexts } from '../../../src/core/graphs/components.js';
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

describe('the components of a graph', () => {
  test('are the messages of its steps that ask a model', () => {
    expect(graphTexts(graph)).toEqual({
      'solve.system': 'Be brief.',
      'solve.user': '{{q}}',
      'solve.user_2': 'Again: {{q}}',
      'best.user': '{{q}} {{candidates}}',
    });
  });

  test('can have other texts', () => {
    const texts = { 'solve.system': 'Be clear.', 'best.user': 'Which of {{candidates}} for {{q}}?' };
    const rewritten = withGraphTexts(graph, texts);
    if (!rewritten.ok) throw new Error(JSON.stringify(rewritten.problems));
    expect(graphTexts(rewritten.graph)).toEqual({ ...graphTexts(graph), ...texts });
    expect(graphTexts(graph)['solve.system']).toBe('Be brief.');
  });

  test('all stay as they are where no text is given', () => {
    fc.assert(
      fc.property(anyGraph, (any) => {
        expect(withGraphTexts(any, {})).toEqual({ ok: true, graph: any });
        expect(withGraphTexts(any, graphTexts(any))).toEqual({ ok: true, graph: any });
      }),
    );
  });

  test.each<[string, string, string]>([
    ['solve.assistant', 'x', 'is no component of the graph'],
    ['toString', 'x', 'is no component of the graph'],
    ['solve.user_2', 'Again.', 'lacks the placeholder {{q}}, which the text before has'],
    ['best.user', '{{q}}', 'lacks the placeholder {{candidates}}, which the text before has'],
    ['solve.system', 'Be {{brief}}.', 'has {{brief}}, which is not an input of the step'],
    ['best.user', '{{q}} {{candidates}} {{x}}', 'has {{x}}, which is not an input of the step'],
    ['solve.system', ' ', 'must not be blank'],
  ])('%s cannot be %j', (name, text, message) => {
    expect(withGraphTexts(graph, { [name]: text })).toEqual({ ok: false, problems: [{ path: name, message }] });
  });

  test('that a reflection may rewrite: system messages where a step has some, else all of the step', () => {
    expect(instructionNames(graph)).toEqual(['solve.system', 'best.user']);
  });

  test('leave the structure as it is, whatever they say', () => {
    const other = withGraphTexts(graph, { 'solve.system': 'Be clear.' });
    expect(other.ok && structureOf(other.graph)).toBe(structureOf(graph));
    const another = {
      ...graph,
      steps: graph.steps.map((step) => (step.id === 'solve' ? { ...step, samples: 3 } : step)),
    };
    expect(structureOf(another)).not.toBe(structureOf(graph));
  });
});
