import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { limits, maxAttempts, maxCalls, type Graph, type Step } from '../../../src/core/graphs/graph.js';
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

describe('graphProblems rejects a graph', () => {
  test.each<[string, Graph, string]>([
    ['without steps', graphWith([], 'input'), 'steps'],
    [
      'with too many steps',
      graphWith(
        Array.from({ length: 51 }, (_, at) => llm(`s${at}`, { a: 'input' })),
        's0',
      ),
      'steps',
    ],
    ['with too many texts', oneStepGraph({ messages: user('x'.repeat(500_000)) }), ''],
    [
      'with too many inputs',
      { ...oneStep, inputs: ['question', ...Array.from({ length: 50 }, (_, at) => `i${at}`)] },
      'inputs',
    ],
    ['with an input of two names', { ...oneStep, inputs: ['question', 'a.b'] }, 'inputs[1]'],
    ['with an input that is named twice', { ...oneStep, inputs: ['question', 'question'] }, 'inputs[1]'],
    ['with a bad id', graphWith([llm('so-lve', { a: 'input' })], 'so-lve'), 'steps[0].id'],
    ['with a step called input', graphWith([llm('input', { a: 'input.question' })], 'input'), 'steps[0].id'],
    ['with an id twice', graphWith([solve, { ...solve }], 'solve'), 'steps[1].id'],
    ['with a step that nothing uses', graphWith([solve, llm('idle', { a: 'solve' })], 'solve'), 'steps[1]'],
    ['with a cycle', graphWith([cycleStep('a', 'c'), cycleStep('b', 'a'), cycleStep('c', 'b')], 'a'), 'steps[0]'],
    ['with a step that takes itself', graphWith([cycleStep('a', 'a')], 'a'), 'steps[0]'],
    [
      'with too many tries',
      graphWith(
        [
          ...Array.from({ length: 8 }, (_, at) => llm(`s${at}`, { a: 'input' }, { samples: 20, tries: 10 })),
          op({ op: 'list', inputs: Object.fromEntries(Array.from({ length: 8 }, (_, at) => [`i${at}`, `s${at}`])) }),
        ],
        'op',
      ),
      'steps',
    ],
    [
      'with too many model calls',
      graphWith(
        [
          ...Array.from({ length: 26 }, (_, at) => llm(`s${at}`, { a: 'input' }, { samples: 20 })),
          op({ op: 'list', inputs: Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`i${at}`, `s${at}`])) }),
          op({
            id: 'more',
            op: 'list',
            inputs: { o: 'op', ...Object.fromEntries(Array.from({ length: 6 }, (_, at) => [`i${at}`, `s${at + 20}`])) },
          }),
        ],
        'more',
      ),
      'steps',
    ],
    ['whose output is no ref', { ...oneStep, output: 'solve..answer' }, 'output'],
    ['whose output is an unknown step', { ...oneStep, output: 'slove' }, 'output'],
    ['whose output has no such field', { ...oneStep, output: 'solve.text' }, 'output'],

    [
      'with a ref that is too long',
      oneStepGraph({ inputs: { question: `input.${'x'.repeat(500)}` } }),
      'steps[0].inputs.question',
    ],
    ['with a ref to an unknown step', oneStepGraph({ inputs: { question: 'nobody' } }), 'steps[0].inputs.question'],
    [
      'with a ref to an unknown input',
      oneStepGraph({ inputs: { question: 'input.topic' } }),
      'steps[0].inputs.question',
    ],
    ['with a ref to an item of no map', oneStepGraph({ inputs: { question: 'one' } }), 'steps[0].inputs.question'],
    [
      'with a path into a list',
      graphWith([{ ...solve, samples: 2 }, llm('b', { a: 'solve.answer' })], 'b'),
      'steps[1].inputs.a',
    ],
    [
      'with a path into a text',
      graphWith([op({ op: 'lower', inputs: { text: 'input' } }), llm('b', { a: 'op.x' })], 'b'),
      'steps[1].inputs.a',
    ],
    [
      'with a path into an object without it',
      graphWith([op({ op: 'object', inputs: { x: 'input' } }), llm('b', { a: 'op.y' })], 'b'),
      'steps[1].inputs.a',
    ],
    [
      'with a path that a schema rules out',
      graphWith(
        [
          llm(
            's',
            { q: 'input' },
            { output: { schema: { type: 'object', properties: { a: {} }, additionalProperties: false } } },
          ),
        ],
        's.b',
      ),
      'output',
    ],

    [
      'with too many inputs of a step',
      oneStepGraph({
        inputs: Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`i${at}`, 'input'])),
        messages: user(Array.from({ length: 21 }, (_, at) => `{{i${at}}}`).join('')),
      }),
      'steps[0].inputs',
    ],
    [
      'with a bad name of an input',
      oneStepGraph({ inputs: { question: 'input', 'a b': 'input' } }),
      'steps[0].inputs.a b',
    ],
    [
      'with an input that no message has',
      oneStepGraph({ inputs: { question: 'input', other: 'input' } }),
      'steps[0].inputs.other',
    ],
    [
      'with a placeholder that is no input',
      oneStepGraph({ messages: user('{{question}} {{other}}') }),
      'steps[0].messages[0].content',
    ],
    [
      'with the item of no map',
      oneStepGraph({ messages: user('{{question}} {{item}}') }),
      'steps[0].messages[0].content',
    ],
    [
      'with what is no placeholder',
      oneStepGraph({ messages: user('{{question}} {{input.question}}') }),
      'steps[0].messages[0].content',
    ],
    ['without messages', graphWith([{ ...solve, inputs: {}, messages: [] }], 'solve'), 'steps[0].messages'],
    [
      'with too many messages',
      oneStepGraph({ messages: Array.from({ length: 21 }, () => user('{{question}}')[0]) }),
      'steps[0].messages',
    ],
    [
      'with a blank message',
      oneStepGraph({ messages: [...user('{{question}}'), ...user(' \n')] }),
      'steps[0].messages[1].content',
    ],
    [
      'with a message that is too long',
      oneStepGraph({ messages: user(`{{question}}${'x'.repeat(100_000)}`) }),
      'steps[0].messages[0].content',
    ],
    [
      'with a message that cannot be stored',
      oneStepGraph({ messages: user('{{question}}\0') }),
      'steps[0].messages[0].content',
    ],
    ['with a model without a name', oneStepGraph({ model: '' }), 'steps[0].model'],
    ['with a model of a long name', oneStepGraph({ model: 'x'.repeat(201) }), 'steps[0].model'],
    ['with no try', oneStepGraph({ tries: 0 }), 'steps[0].tries'],
    ['with half a try', oneStepGraph({ tries: 1.5 }), 'steps[0].tries'],
    ['with no time', oneStepGraph({ timeoutS: 0 }), 'steps[0].timeoutS'],
    ['with a long time', oneStepGraph({ timeoutS: 3_601 }), 'steps[0].timeoutS'],
    ['with no time that is a number', oneStepGraph({ timeoutS: NaN }), 'steps[0].timeoutS'],
    ['with too many samples', oneStepGraph({ samples: 21 }), 'steps[0].samples'],
    ['with a bad field', oneStepGraph({ output: { field: 'a.b' } }), 'steps[0].output.field'],
    ['with a model that cannot be stored', oneStepGraph({ model: 'a\0' }), 'steps[0].model'],
    [
      'with a schema of the wrong form',
      oneStepGraph({ output: { schema: { type: 'object', properties: null, additionalProperties: false } } }),
      'steps[0].output.schema.properties',
    ],
    [
      'with an unknown keyword',
      oneStepGraph({ output: { schema: { format: 'date' } } }),
      'steps[0].output.schema.format',
    ],

    [
      'with a map whose item is called input',
      singleStep(map({ as: 'input', messages: user('{{q}} {{input}}') })),
      'steps[0].as',
    ],
    [
      'with a map whose item is called like a step',
      singleStep(map({ as: 'each', messages: user('{{q}} {{each}}') })),
      'steps[0].as',
    ],
    [
      'with a map whose item is called like an input',
      singleStep(map({ as: 'q', messages: user('{{q}}') })),
      'steps[0].as',
    ],
    ['with a map whose item has a bad name', singleStep(map({ as: 'a-b', messages: user('{{q}}') })), 'steps[0].as'],
    ['with a map that does not look at its item', singleStep(map({ messages: user('{{q}}') })), 'steps[0].messages'],
    ['with a map of too many items', singleStep(map({ maxItems: 101 })), 'steps[0].maxItems'],
    ['with a map over its own item', singleStep(map({ over: 'one' })), 'steps[0].over'],
    ['with a map over an object', graphWith([solve, map({ over: 'solve' })], 'each'), 'steps[1].over'],
    [
      'with a map over a text',
      graphWith([op({ op: 'lower', inputs: { text: 'input' } }), map({ over: 'op' })], 'each'),
      'steps[1].over',
    ],

    ['with a vote over nothing', pick({}), 'steps[0].over'],
    ['with a vote over two things', pick({ over: 'input', of: ['input', 'input'] }), 'steps[0].over'],
    ['with a vote of one', pick({ of: ['input'] }), 'steps[0].of'],
    ['with a vote of many', pick({ of: Array.from({ length: 21 }, () => 'input') }), 'steps[0].of'],
    ['with a vote of an unknown step', pick({ of: ['input', 'x'] }), 'steps[0].of[1]'],
    [
      'with a judge that is not shown the candidates',
      pick({ over: 'input', by: { judge: { ...judge, messages: user('{{q}}') } } }),
      'steps[0].by.judge.messages',
    ],
    [
      'with a judge that has candidates already',
      pick({ over: 'input', by: { judge: { ...judge, inputs: { ...judge.inputs, candidates: 'input' } } } }),
      'steps[0].by.judge.inputs.candidates',
    ],
    [
      'with a judge that has an input too much',
      pick({ over: 'input', by: { judge: { ...judge, inputs: { ...judge.inputs, x: 'input' } } } }),
      'steps[0].by.judge.inputs.x',
    ],
    [
      'with a judge of an unknown step',
      pick({ over: 'input', by: { judge: { ...judge, inputs: { q: 'x' } } } }),
      'steps[0].by.judge.inputs.q',
    ],

    [
      'with a select without cases',
      singleStep({ id: 'r', type: 'select', cases: [], otherwise: 'input' }),
      'steps[0].cases',
    ],
    ['with a condition that has nothing to compare with', route({ is: 'equals' }), 'steps[0].cases[0].when.value'],
    [
      'with a condition of a long text',
      route({ is: 'equals', value: 'x'.repeat(10_001) }),
      'steps[0].cases[0].when.value',
    ],
    ['with a condition of an unknown step', route({ of: 'x', is: 'empty' }), 'steps[0].cases[0].when.of'],

    [
      'with an op that has another input',
      singleStep(op({ op: 'lower', inputs: { value: 'input' } })),
      'steps[0].inputs',
    ],
    [
      'with an op that has two',
      singleStep(op({ op: 'first', inputs: { list: 'input', b: 'input' } })),
      'steps[0].inputs',
    ],
    ['with an op without inputs', singleStep(op({ op: 'list' })), 'steps[0].inputs'],
    ['with a template of unknown inputs', singleStep(op({ op: 'template', text: '{{x}}' })), 'steps[0].text'],
    [
      'with a template that leaves out an input',
      singleStep(op({ op: 'template', text: 'x', inputs: { a: 'input' } })),
      'steps[0].inputs.a',
    ],
    ['with a template that is too long', singleStep(op({ op: 'template', text: 'x'.repeat(10_001) })), 'steps[0].text'],
    ['with a split by nothing', singleStep(op({ op: 'split', by: '', inputs: { text: 'input' } })), 'steps[0].by'],
    [
      'with a join by a long text',
      singleStep(op({ op: 'join', by: 'x'.repeat(10_001), inputs: { list: 'input' } })),
      'steps[0].by',
    ],
    [
      'with nothing before what is between',
      singleStep(op({ op: 'between', start: '', end: 'x', inputs: { text: 'input' } })),
      'steps[0].start',
    ],
    [
      'with nothing after what is between',
      singleStep(op({ op: 'between', start: 'x', end: '', inputs: { text: 'input' } })),
      'steps[0].end',
    ],
    ['with half an index', singleStep(op({ op: 'item', index: 0.5, inputs: { list: 'input' } })), 'steps[0].index'],
    [
      'with a path that is none',
      singleStep(op({ op: 'pluck', path: 'a..b', inputs: { list: 'input' } })),
      'steps[0].path',
    ],
  ])('%s', (_, graph, path) => {
    const problems = graphProblems(graph);
    expect(problems).toContainEqual({ path, message: expect.any(String) });
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
      'whose map looks at its item through an input alone',
      singleStep(map({ inputs: { q: 'one.text' }, messages: user('{{q}}') })),
    ],
    ['whose maps call their items alike', graphWith([map(), map({ id: 'next', over: 'each' })], 'next')],
    ['whose template has no inputs', singleStep(op({ op: 'template', text: '' }))],
    ['whose join is by nothing', singleStep(op({ op: 'join', by: '', inputs: { list: 'input' } }))],
    [
      'whose id is that of something that every object has',
      graphWith([llm('constructor', { toString: 'input' })], 'constructor.answer'),
    ],
    ['with an input that it does not look at', { ...oneStep, inputs: ['question', 'x-y', '__proto__'] }],
    ['at its limits', oneStepGraph({ samples: 20, tries: 10, timeoutS: 3_600, model: 'x'.repeat(200) })],
    [
      'with a field that a schema allows',
      graphWith([llm('s', { q: 'input' }, { output: { schema: { type: 'object' } } })], 's.x.y'),
    ],
    [
      'with a list that a schema promises',
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
