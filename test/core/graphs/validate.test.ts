import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  limits,
  maxAttempts,
  maxCalls,
  type AnswerForm,
  type Graph,
  type LlmStep,
  type Step,
} from '../../../src/core/graphs/graph.js';
import { singleStepGraph } from '../../../src/core/graphs/single-step.js';
import { graphProblems } from '../../../src/core/graphs/validate.js';
import { anyGraph, graphWith, llm, oneStep, solve, user } from './cases.js';

const judge = { inputs: { q: 'input.question' }, messages: user('{{q}} {{candidates}}') };
const map = (changes: Record<string, unknown> = {}): Step =>
  ({
    ...llm('each', { q: 'input.question' }),
    type: 'map',
    messages: user('{{q}} {{one}}'),
    over: 'input.question',
    as: 'one',
    ...changes,
  }) as Step;
const op = (fields: Record<string, unknown>): Step =>
  ({ id: 'op', type: 'transform', inputs: {}, ...fields }) as unknown as Step;
const oneStepGraph = (changes: Record<string, unknown>): Graph =>
  graphWith([{ ...solve, ...changes } as Step], 'solve');
const singleStep = (step: Step): Graph => graphWith([step], step.id);
const cycleStep = (id: string, of: string) => llm(id, { a: of });
const pick = (changes: Record<string, unknown>): Graph =>
  singleStep({ id: 'pick', type: 'vote', by: 'majority', ...changes } as Step);
const route = (when: Record<string, unknown>): Graph =>
  singleStep({
    id: 'r',
    type: 'select',
    cases: [{ when: { of: 'input', ...when }, then: 'input' }],
    otherwise: 'input',
  } as unknown as Step);

const inputA = 'steps[1].inputs.a';
const many = <T>(count: number, item: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => item(at));
const refs = (count: number, ref: (at: number) => string) =>
  Object.fromEntries(many(count, (at) => [`i${at}`, ref(at)] as const));
const steps = (count: number, changes: Partial<LlmStep>) => many(count, (at) => llm(`s${at}`, { a: 'input' }, changes));
const lower = op({ op: 'lower', inputs: { text: 'input' } });
const closed = { type: 'object', properties: { a: {} }, additionalProperties: false };

describe('graphProblems rejects a graph', () => {
  test.each<[string, Graph, string]>([
    ['without steps', graphWith([], 'input'), 'steps'],
    ['with too many steps', graphWith(steps(51, {}), 's0'), 'steps'],
    ['with too many texts', oneStepGraph({ messages: user('x'.repeat(500_000)) }), ''],
    ['with too many inputs', { ...oneStep, inputs: ['question', ...many(50, (at) => `i${at}`)] }, 'inputs'],
    ['with a bad name of an input', { ...oneStep, inputs: ['question', 'a.b'] }, 'inputs[1]'],
    ['with a repeated input', { ...oneStep, inputs: ['question', 'question'] }, 'inputs[1]'],
    ['with a bad id', graphWith([llm('so-lve', { a: 'input' })], 'so-lve'), 'steps[0].id'],
    ['with a step called input', graphWith([llm('input', { a: 'input.question' })], 'input'), 'steps[0].id'],
    ['with a repeated id', graphWith([solve, { ...solve }], 'solve'), 'steps[1].id'],
    ['with an unused step', graphWith([solve, llm('idle', { a: 'solve' })], 'solve'), 'steps[1]'],
    ['with a cycle', graphWith([cycleStep('a', 'c'), cycleStep('b', 'a'), cycleStep('c', 'b')], 'a'), 'steps[0]'],
    ['with a step that uses itself', graphWith([cycleStep('a', 'a')], 'a'), 'steps[0]'],
    [
      'with too many tries',
      graphWith([...steps(8, { samples: 20, tries: 10 }), op({ op: 'list', inputs: refs(8, (at) => `s${at}`) })], 'op'),
      'steps',
    ],
    [
      'with too many model calls',
      graphWith(
        [
          ...steps(26, { samples: 20 }),
          op({ op: 'list', inputs: refs(20, (at) => `s${at}`) }),
          op({ id: 'more', op: 'list', inputs: { o: 'op', ...refs(6, (at) => `s${at + 20}`) } }),
        ],
        'more',
      ),
      'steps',
    ],
    ['whose output is no ref', { ...oneStep, output: 'solve..answer' }, 'output'],
    ['whose output is an unknown step', { ...oneStep, output: 'slove' }, 'output'],
    ['whose output has no such field', { ...oneStep, output: 'solve.text' }, 'output'],
    ['with a path into a list', graphWith([{ ...solve, samples: 2 }, llm('b', { a: 'solve.answer' })], 'b'), inputA],
    ['with a path into a text', graphWith([lower, llm('b', { a: 'op.x' })], 'b'), inputA],
    [
      'with a path to a missing field',
      graphWith([op({ op: 'object', inputs: { x: 'input' } }), llm('b', { a: 'op.y' })], 'b'),
      inputA,
    ],
    [
      'with a path outside the schema',
      graphWith([llm('s', { q: 'input' }, { output: { schema: closed } as AnswerForm })], 's.b'),
      'output',
    ],
    ['with a map over an object', graphWith([solve, map({ over: 'solve' })], 'each'), 'steps[1].over'],
    ['with a map over a text', graphWith([lower, map({ over: 'op' })], 'each'), 'steps[1].over'],
  ])('%s', (_, graph, path) => {
    expect(graphProblems(graph)).toContainEqual({ path, message: expect.any(String) });
  });

  const q = (ref: string) => ({ inputs: { question: ref } });
  const says = (content: string) => ({ messages: user(`{{question}}${content}`) });
  test.each<[string, Record<string, unknown>, string]>([
    ['a ref that is too long', q(`input.${'x'.repeat(500)}`), 'inputs.question'],
    ['a ref to an unknown step', q('nobody'), 'inputs.question'],
    ['a ref to an unknown input', q('input.topic'), 'inputs.question'],
    ['a ref to an item without a map', q('one'), 'inputs.question'],
    [
      'too many inputs',
      { inputs: refs(21, () => 'input'), messages: user(many(21, (at) => `{{i${at}}}`).join('')) },
      'inputs',
    ],
    ['a bad name of an input', { inputs: { question: 'input', 'a b': 'input' } }, 'inputs.a b'],
    ['an unused input', { inputs: { question: 'input', other: 'input' } }, 'inputs.other'],
    ['an unknown placeholder', says(' {{other}}'), 'messages[0].content'],
    ['the item of a map outside of it', says(' {{item}}'), 'messages[0].content'],
    ['a malformed placeholder', says(' {{input.question}}'), 'messages[0].content'],
    ['no messages', { inputs: {}, messages: [] }, 'messages'],
    ['too many messages', { messages: many(21, () => user('{{question}}')[0]) }, 'messages'],
    ['a blank message', { messages: [...user('{{question}}'), ...user(' \n')] }, 'messages[1].content'],
    ['a message that is too long', says('x'.repeat(100_000)), 'messages[0].content'],
    ['a message that cannot be stored', says('\0'), 'messages[0].content'],
    ['a model without a name', { model: '' }, 'model'],
    ['a model of a long name', { model: 'x'.repeat(201) }, 'model'],
    ['a model that cannot be stored', { model: 'a\0' }, 'model'],
    ['no try', { tries: 0 }, 'tries'],
    ['fractional tries', { tries: 1.5 }, 'tries'],
    ['no time', { timeoutS: 0 }, 'timeoutS'],
    ['a timeout above the limit', { timeoutS: 3_601 }, 'timeoutS'],
    ['a timeout of NaN', { timeoutS: NaN }, 'timeoutS'],
    ['too many samples', { samples: 21 }, 'samples'],
    ['a bad field', { output: { field: 'a.b' } }, 'output.field'],
    ['a malformed schema', { output: { schema: { ...closed, properties: null } } }, 'output.schema.properties'],
    ['an unknown keyword', { output: { schema: { format: 'date' } } }, 'output.schema.format'],
  ])('with a step with %s', (_, changes, path) => {
    const problem = { path: `steps[0].${path}`, message: expect.any(String) as unknown };
    expect(graphProblems(oneStepGraph(changes))).toContainEqual(problem);
  });

  const judged = (changes: object) => pick({ over: 'input', by: { judge: { ...judge, ...changes } } });
  const judgedWith = (inputs: object) => judged({ inputs: { ...judge.inputs, ...inputs } });
  const each = (changes: Record<string, unknown>) => singleStep(map(changes));
  const transform = (fields: Record<string, unknown>) => singleStep(op(fields));
  const between = (start: string, end: string) => transform({ op: 'between', start, end, inputs: { text: 'input' } });
  test.each<[string, Graph, string]>([
    ['a map whose item is called input', each({ as: 'input', messages: user('{{q}} {{input}}') }), 'as'],
    ['a map whose item is called like a step', each({ as: 'each', messages: user('{{q}} {{each}}') }), 'as'],
    ['a map whose item is called like an input', each({ as: 'q', messages: user('{{q}}') }), 'as'],
    ['a map whose item has a bad name', each({ as: 'a-b', messages: user('{{q}}') }), 'as'],
    ['a map that does not use its item', each({ messages: user('{{q}}') }), 'messages'],
    ['a map of too many items', each({ maxItems: 101 }), 'maxItems'],
    ['a map over its own item', each({ over: 'one' }), 'over'],
    ['a vote over nothing', pick({}), 'over'],
    ['a vote with over and of', pick({ over: 'input', of: ['input', 'input'] }), 'over'],
    ['a vote of a single value', pick({ of: ['input'] }), 'of'],
    ['a vote of too many values', pick({ of: many(21, () => 'input') }), 'of'],
    ['a vote of an unknown step', pick({ of: ['input', 'x'] }), 'of[1]'],
    ['a judge that does not see the candidates', judged({ messages: user('{{q}}') }), 'by.judge.messages'],
    ['a judge that has candidates already', judgedWith({ candidates: 'input' }), 'by.judge.inputs.candidates'],
    ['a judge with an unused input', judgedWith({ x: 'input' }), 'by.judge.inputs.x'],
    ['a judge of an unknown step', judgedWith({ q: 'x' }), 'by.judge.inputs.q'],
    ['a select without cases', singleStep({ id: 'r', type: 'select', cases: [], otherwise: 'input' }), 'cases'],
    ['a condition without a value', route({ is: 'equals' }), 'cases[0].when.value'],
    ['a condition of a long text', route({ is: 'equals', value: 'x'.repeat(10_001) }), 'cases[0].when.value'],
    ['a condition of an unknown step', route({ of: 'x', is: 'empty' }), 'cases[0].when.of'],
    ['an op with another input', transform({ op: 'lower', inputs: { value: 'input' } }), 'inputs'],
    ['an op with two inputs', transform({ op: 'first', inputs: { list: 'input', b: 'input' } }), 'inputs'],
    ['an op without inputs', transform({ op: 'list' }), 'inputs'],
    ['a template of unknown inputs', transform({ op: 'template', text: '{{x}}' }), 'text'],
    ['a template without an input', transform({ op: 'template', text: 'x', inputs: { a: 'input' } }), 'inputs.a'],
    ['a template that is too long', transform({ op: 'template', text: 'x'.repeat(10_001) }), 'text'],
    ['a split by an empty text', transform({ op: 'split', by: '', inputs: { text: 'input' } }), 'by'],
    ['a join by a long text', transform({ op: 'join', by: 'x'.repeat(10_001), inputs: { list: 'input' } }), 'by'],
    ['between without a start', between('', 'x'), 'start'],
    ['between without an end', between('x', ''), 'end'],
    ['a fractional index', transform({ op: 'item', index: 0.5, inputs: { list: 'input' } }), 'index'],
    ['a malformed path', transform({ op: 'pluck', path: 'a..b', inputs: { list: 'input' } }), 'path'],
  ])('with %s', (_, graph, path) => {
    expect(graphProblems(graph)).toContainEqual({ path: `steps[0].${path}`, message: expect.any(String) });
  });

  test('with all its problems at once', () => {
    const graph = { ...oneStepGraph({ samples: 0, tries: 0, inputs: { question: 'x' } }), output: 'y' };
    expect(
      graphProblems(graph)
        .map(({ path }) => path)
        .sort(),
    ).toEqual(['output', 'steps[0]', 'steps[0].inputs.question', 'steps[0].samples', 'steps[0].tries']);
  });
});

describe('graphProblems accepts', () => {
  test('any generated graph', () => {
    fc.assert(fc.property(anyGraph, (graph) => expect(graphProblems(graph)).toEqual([])));
  });

  test.each<[string, Graph]>([
    ['of one step', oneStep],
    [
      'whose map uses its item only through an input',
      singleStep(map({ inputs: { q: 'one.text' }, messages: user('{{q}}') })),
    ],
    ['whose maps have equal item names', graphWith([map(), map({ id: 'next', over: 'each' })], 'next')],
    ['whose template has no inputs', singleStep(op({ op: 'template', text: '' }))],
    ['whose join is by an empty text', singleStep(op({ op: 'join', by: '', inputs: { list: 'input' } }))],
    [
      'whose id is a property of Object.prototype',
      graphWith([llm('constructor', { toString: 'input' })], 'constructor.answer'),
    ],
    ['with an unused input', { ...oneStep, inputs: ['question', 'x-y', '__proto__'] }],
    ['at its limits', oneStepGraph({ samples: 20, tries: 10, timeoutS: 3_600, model: 'x'.repeat(200) })],
    [
      'with a field allowed by a schema',
      graphWith([llm('s', { q: 'input' }, { output: { schema: { type: 'object' } } })], 's.x.y'),
    ],
    [
      'with a list guaranteed by a schema',
      graphWith([llm('s', { q: 'input' }, { output: { schema: { type: 'array' } } }), map({ over: 's' })], 'each'),
    ],
  ])('%s', (_, graph) => {
    expect(graphProblems(graph)).toEqual([]);
  });
});

test('maxCalls counts samples, items and judges', () => {
  const steps: Step[] = [
    solve,
    llm('many', { q: 'input' }, { samples: 7, tries: 5 }),
    map(),
    map({ id: 'few', maxItems: 3 }),
    { id: 'v', type: 'vote', over: 'many', by: { judge } },
    { id: 'w', type: 'vote', over: 'many', by: 'majority' },
    op({ op: 'list' }),
  ];
  expect(maxCalls({ steps })).toBe(1 + 7 + 20 + 3 + 1);
  expect(maxAttempts({ steps })).toBe(3 + 7 * 5 + 3 * 20 + 3 * 3 + 3);
  expect(maxCalls({ steps })).toBeLessThan(limits.calls);
});

describe('singleStepGraph', () => {
  test('takes the inputs that occur in the messages', () => {
    const messages = [{ role: 'system' as const, content: 'Be brief.', name: 'x' }, ...user('Q: {{ question }}')];
    const graph = singleStepGraph(messages, ['question', 'topic']);
    expect(graph).toEqual({
      inputs: ['question', 'topic'],
      steps: [
        {
          id: 'solve',
          type: 'llm',
          inputs: { question: 'input.question' },
          messages: [{ role: 'system', content: 'Be brief.' }, ...user('Q: {{ question }}')],
          output: { field: 'answer' },
        },
      ],
      output: 'solve.answer',
    });
  });

  test.each<[string, string[], string]>([
    ['one input', ['question'], '{{question}}'],
    ['several', ['question', 'topic'], 'question: {{question}}\n\ntopic: {{topic}}'],
    ['names that templates do not have', ['my-text', '_id'], 'my-text: {{my_text}}\n\n_id: {{x_id}}'],
  ])('adds a message with all inputs to messages without any: %s', (_, inputs, content) => {
    const graph = singleStepGraph(user('Answer.'), inputs);
    expect(graph.steps[0]).toMatchObject({ messages: [...user('Answer.'), ...user(content)] });
    expect(graphProblems(graph)).toEqual([]);
  });

  test('numbers inputs that map to the same template name', () => {
    const graph = singleStepGraph(user('Answer.'), ['a-b', 'a_b']);
    expect(graph.steps[0]).toMatchObject({ inputs: { a_b: 'input.a-b', a_b_2: 'input.a_b' } });
    expect(graphProblems(graph)).toEqual([]);
  });

  test('adds no message without inputs', () => {
    const graph = singleStepGraph(user('Answer.'), []);
    expect(graph.steps[0]).toMatchObject({ inputs: {}, messages: user('Answer.') });
    expect(graphProblems(graph)).toEqual([]);
  });
});
