import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { graphSchema, type GraphJson } from '../../../src/kinds/graph/contract/graph.js';
import type { Graph, Step } from '../../../src/core/graphs/graph.js';
import { graphFromJson, graphToJson } from '../../../src/core/graphs/json.js';
import { graphMermaid } from '../../../src/core/graphs/mermaid.js';
import { graphText } from '../../../src/core/graphs/text.js';
import { anyGraph, answerSchema, graphWith, llm, user } from './cases.js';
import { pureRuns } from '../../support/runs.js';

const judge = { inputs: { q: 'input.question' }, messages: user('{{q}}\n{{candidates}}'), model: 'big', tries: 2 };
const every: Graph = graphWith(
  [
    llm('solve', { question: 'input.question' }, { samples: 3, model: null, timeoutS: 9 }),
    { ...llm('each', { q: 'one.k' }), type: 'map', over: 'solve', as: 'one', maxItems: 5, output: answerSchema },
    { id: 'best', type: 'vote', over: 'each', by: { judge } },
    { id: 'most', type: 'vote', of: ['best.answer', 'input.question'], by: 'majority' },
    {
      id: 'route',
      type: 'select',
      cases: [{ when: { of: 'most', is: 'equals', value: 'a"b' }, then: 'best.answer' }],
      otherwise: 'shown',
    },
    { id: 'shown', type: 'transform', op: 'template', inputs: { a: 'most' }, text: 'first\n  {{a}}' },
    { id: 'cut', type: 'transform', op: 'between', inputs: { text: 'route' }, start: '<', end: '\n' },
  ],
  'cut',
);

describe('the JSON form', () => {
  test('renames two fields', () => {
    const json = graphToJson(every);
    expect(json.steps[0]).toMatchObject({ timeout_s: 9, samples: 3, model: null });
    expect(json.steps[1]).toMatchObject({ max_items: 5 });
    expect(JSON.stringify(json)).not.toMatch(/timeoutS|maxItems/);
  });

  test('any graph passes the schema and converts back unchanged', () => {
    fc.assert(
      fc.property(fc.oneof(anyGraph, fc.constant(every)), (graph) => {
        const parsed = graphSchema.parse(JSON.parse(JSON.stringify(graphToJson(graph))));
        expect(graphFromJson(parsed)).toEqual(graph);
        expect(graphToJson(graphFromJson(parsed))).toEqual(parsed);
      }),
    );
  });

  test.each<[string, (json: GraphJson) => unknown, string]>([
    ['an unknown field', (json) => ({ ...json, edges: [] }), 'edges'],
    ['an unknown field of a step', (json) => ({ ...json, steps: [{ ...json.steps[0], code: 'x' }] }), 'code'],
    ['the internal name of a field', (json) => ({ ...json, steps: [{ ...json.steps[0], timeoutS: 1 }] }), 'timeoutS'],
    ['an unknown type', (json) => ({ ...json, steps: [{ id: 'a', type: 'python' }] }), 'type'],
    ['an unknown op', (json) => ({ ...json, steps: [{ id: 'a', type: 'transform', op: 'eval', inputs: {} }] }), 'op'],
    [
      'an unknown role',
      (json) => ({ ...json, steps: [{ ...json.steps[0], messages: [{ role: 'tool', content: '' }] }] }),
      'role',
    ],
    ['a step without an output', (json) => ({ ...json, steps: [{ ...json.steps[0], output: undefined }] }), 'output'],
    [
      'an output with two forms',
      (json) => ({ ...json, steps: [{ ...json.steps[0], output: { field: 'a', schema: {} } }] }),
      'must be {\\"field\\": name}',
    ],
    [
      'a vote by an unknown method',
      (json) => ({ ...json, steps: [{ id: 'v', type: 'vote', over: 'a', by: 'chance' }] }),
      'must be \\"majority\\"',
    ],
  ])('rejects %s', (_, change, expected) => {
    const parsed = graphSchema.safeParse(JSON.parse(JSON.stringify(change(graphToJson(every)))));
    expect(JSON.stringify(parsed.error?.issues ?? 'taken')).toContain(expected);
  });
});

describe('graph.txt', () => {
  test('contains every field', () => {
    expect(graphText(every)).toBe(`inputs: question
output: cut

step solve: llm
  input question = input.question
  model: null
  timeout: 9 s
  message, user
  > Do it. {{question}}
  samples: 3
  gives: field answer

step each: map
  for each one of solve
  at most 5 items
  input q = one.k
  message, user
  > Do it. {{q}}
  gives for each: JSON of the form {"type":"object","properties":{"answer":{"type":"string"},"sure":{"type":"number"}},"required":["answer"],"additionalProperties":false}

step best: vote
  over: each
  by: a judge
    input q = input.question
    model: "big"
    tries: 2
    message, user
    > {{q}}
    > {{candidates}}

step most: vote
  of: best.answer, input.question
  by: majority

step route: select
  when most is equals "a\\"b" then best.answer
  otherwise shown

step shown: transform, template
  input a = most
  text
  > first
  >   {{a}}

step cut: transform, between
  input text = route
  start: "<"
  end: "\\n"
`);
  });

  test('quotes texts line by line, and writes texts with invisible characters as JSON', () => {
    const shown = (content: string) =>
      graphText(graphWith([llm('a', {}, { messages: user(content) })], 'a')).split('\n')[5];
    expect(shown('if x:\n\treturn é')).toBe('  > if x:');
    expect(shown('\tx')).toBe('  > \tx');
    expect(shown('a\r\n\u200b\u0007')).toBe(
      '  JSON "a\\u000d\\u000a\\u200b\\u0007"'.replace('\\u000d\\u000a', '\\r\\n'),
    );
  });

  test('differs for different graphs', () => {
    const change = fc.tuple(
      fc.nat(),
      fc.constantFrom(' ', '\n', '\r', '\u2028', '\u200b', '"', '\\', '\n> ', 'x\n  samples: 3'),
    );
    fc.assert(
      fc.property(anyGraph, change, anyGraph, (graph, [at, text], other) => {
        const step = graph.steps[at % graph.steps.length]!;
        const texts = (given: Step): Step =>
          given.type === 'llm' || given.type === 'map'
            ? { ...given, messages: given.messages.map((message) => ({ ...message, content: message.content + text })) }
            : { ...given, id: `${given.id}${text}` };
        const changed = { ...graph, steps: graph.steps.map((item) => (item === step ? texts(item) : item)) };
        expect(graphText(changed)).not.toBe(graphText(graph));
        expect(graphText(graph) === graphText(other)).toBe(JSON.stringify(graph) === JSON.stringify(other));
      }),
      { numRuns: pureRuns(300) },
    );
  });

  test('no text or id can pose as another part', () => {
    const piece = fc.constantFrom(
      '\n',
      '\r',
      '\u2028',
      '\u0085',
      'step solve: llm',
      '  ',
      '> ',
      '"',
      'output: x',
      '```',
    );
    const hostile = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
    const lines = (text: string) =>
      text.split(/[\n\v\f\r\u0085\u2028\u2029]/).filter((line) => !/^ *(> |JSON "|step "|input |$)/.test(line));
    fc.assert(
      fc.property(hostile, hostile, (content, id) => {
        const graph = (text: string, name: string): Graph => ({
          inputs: ['question'],
          steps: [{ ...llm('a', { q: 'input' }), id: name, messages: user(text) }],
          output: 'solve',
        });
        const shown = lines(graphText(graph(content, `"${id}`)));
        expect(shown).toEqual(lines(graphText(graph('x', '"x'))));
      }),
    );
  });
});

describe('graphMermaid', () => {
  test('draws a node for each step and an arrow for each ref', () => {
    const graph = { ...every, steps: every.steps.map((step) => step) };
    const lines = graphMermaid(graph).trimEnd().split('\n');
    expect(lines).toEqual([
      'flowchart TD',
      '  input(["input: question"])',
      '  s0["solve<br/>llm, 3 samples"]',
      '  s1["each<br/>map"]',
      '  s2["best<br/>vote, judge, big"]',
      '  s3[/"most<br/>vote, majority"/]',
      '  s4{"route<br/>select"}',
      '  s5[/"shown<br/>template"/]',
      '  s6[/"cut<br/>between"/]',
      '  output(["output"])',
      '  input -->|"question = input.question"| s0',
      '  s0 -->|"over = solve"| s1',
      '  s1 -->|"over = each"| s2',
      '  input -->|"q = input.question"| s2',
      '  s2 -->|"of#91;0#93; = best.answer"| s3',
      '  input -->|"of#91;1#93; = input.question"| s3',
      '  s3 -.->|"cases#91;0#93;.when.of = most"| s4',
      '  s2 -.->|"cases#91;0#93;.then = best.answer"| s4',
      '  s5 -.->|"otherwise = shown"| s4',
      '  s3 -->|"a = most"| s5',
      '  s4 -->|"text = route"| s6',
      '  s6 -->|"cut"| output',
    ]);
  });

  test('escapes any id, input and model', () => {
    const piece = fc.constantFrom(
      '"',
      '\n',
      ']',
      '}',
      '|',
      '-->',
      '<script>',
      '&quot;',
      '#35;',
      '%%',
      'end',
      ';',
      '`',
      '\\',
      '\u2028',
      'ö',
      '(',
      ' ',
    );
    const hostile = fc.array(piece, { minLength: 1, maxLength: 12 }).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(hostile, hostile, hostile, (id, input, model) => {
        const step = { ...llm('a', { [input]: `input.${input.replaceAll('.', '')}` }), id, model };
        const lines = graphMermaid({ inputs: [input], steps: [step], output: id.replaceAll('.', '') })
          .trimEnd()
          .split('\n');
        const label = '"[^"<>|`&\\\\\\[\\](){}%\\n\\r\\u2028;]*((#\\d+;)[^"<>|`&\\\\\\[\\](){}%\\n\\r\\u2028;]*)*"';
        expect(lines[1]).toMatch(new RegExp(`^  input\\(\\[${label}\\]\\)$`));
        expect(lines[2]!.replace('<br/>', '')).toMatch(new RegExp(`^  s0\\[${label}\\]$`));
        for (const line of lines.slice(4))
          expect(line).toMatch(new RegExp(`^  (input|s0) -->\\|${label}\\| (s0|output)$`));
        expect(lines.length).toBeGreaterThanOrEqual(5);
        expect(lines.length).toBeLessThanOrEqual(6);
      }),
    );
  });

  test('cuts long labels', () => {
    const graph = graphWith([llm('solve', { q: `input.${'x'.repeat(90)}` })], 'solve');
    expect(
      Math.max(
        ...graphMermaid(graph)
          .split('\n')
          .map((line) => line.length),
      ),
    ).toBeLessThan(100);
  });
});
