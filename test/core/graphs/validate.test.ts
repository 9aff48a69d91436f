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
const one = (changes: Record<string, unknown>): Graph => graphWith([{ ...solve, ...changes } as Step], 'solve');
const alone = (step: Step): Graph => graphWith([step], step.id);
const ring = (id: string, of: string) => llm(id, { a: of });
const pick = (changes: Record<string, unknown>): Graph =>
  alone({ id: 'pick', type: 'vote', by: 'majority', ...changes } as Step);
const route = (when: Record<string, unknown>): Graph =>
  alone({
    id: 'r',
    type: 'select',
    cases: [{ when: { of: 'input', ...when }, then: 'input' }],
    otherwise: 'input',
  } as unknown as Step);

describe('a graph is refused', () => {
  test.each<[string, Graph, string, string]>([
    ['without steps', graphWith([], 'input'), 'steps', 'must hold 1 to 50 steps, and holds 0'],
    [
      'with too many steps',
      graphWith(
        Array.from({ length: 51 }, (_, at) => llm(`s${at}`, { a: 'input' })),
        's0',
      ),
      'steps',
      'must hold 1 to 50 steps, and holds 51',
    ],
    [
      'with too many texts',
      one({ messages: user('x'.repeat(500_000)) }),
      '',
      'the graph is larger than 500000 characters',
    ],
    [
      'with too many inputs',
      { ...oneStep, inputs: ['question', ...Array.from({ length: 50 }, (_, at) => `i${at}`)] },
      'inputs',
      'must hold at most 50 names, and holds 51',
    ],
    [
      'with an input of two names',
      { ...oneStep, inputs: ['question', 'a.b'] },
      'inputs[1]',
      'must be 1 to 100 characters without dots',
    ],
    [
      'with an input that is named twice',
      { ...oneStep, inputs: ['question', 'question'] },
      'inputs[1]',
      'is named twice: "question"',
    ],
    [
      'with a bad id',
      graphWith([llm('so-lve', { a: 'input' })], 'so-lve'),
      'steps[0].id',
      'must be 1 to 64 letters, digits or _',
    ],
    [
      'with a step called input',
      graphWith([llm('input', { a: 'input.question' })], 'input'),
      'steps[0].id',
      'must not be "input"',
    ],
    [
      'with an id twice',
      graphWith([solve, { ...solve }], 'solve'),
      'steps[1].id',
      'is "solve", as that of steps[0] is',
    ],
    [
      'with a step that nothing uses',
      graphWith([solve, llm('idle', { a: 'solve' })], 'solve'),
      'steps[1]',
      '"idle" is not used: nothing that leads to the output takes it',
    ],
    [
      'with a cycle',
      graphWith([ring('a', 'c'), ring('b', 'a'), ring('c', 'b')], 'a'),
      'steps[0]',
      'is in a cycle, each step taking the next: a -> c -> b -> a',
    ],
    [
      'with a step that takes itself',
      graphWith([ring('a', 'a')], 'a'),
      'steps[0]',
      'is in a cycle, each step taking the next: a -> a',
    ],
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
      'may make 1600 model calls a run with all tries; at most 1500 are allowed',
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
      'may make 520 model calls a run; at most 500 are allowed',
    ],
    ['whose output is no ref', { ...oneStep, output: 'solve..answer' }, 'output', '"solve..answer" is no ref'],
    [
      'whose output is an unknown step',
      { ...oneStep, output: 'slove' },
      'output',
      '"slove" names no step; the steps are solve',
    ],
    [
      'whose output has no such field',
      { ...oneStep, output: 'solve.text' },
      'output',
      '"solve.text" has no "text": the value of solve has answer',
    ],

    [
      'with a ref that is too long',
      one({ inputs: { question: `input.${'x'.repeat(500)}` } }),
      'steps[0].inputs.question',
      'is no ref',
    ],
    [
      'with a ref to an unknown step',
      one({ inputs: { question: 'nobody' } }),
      'steps[0].inputs.question',
      '"nobody" names no step',
    ],
    [
      'with a ref to an unknown input',
      one({ inputs: { question: 'input.topic' } }),
      'steps[0].inputs.question',
      '"input.topic" is not an input of the graph; its inputs are question',
    ],
    [
      'with a ref to an item of no map',
      one({ inputs: { question: 'one' } }),
      'steps[0].inputs.question',
      '"one" names no step',
    ],
    [
      'with a path into a list',
      graphWith([{ ...solve, samples: 2 }, llm('b', { a: 'solve.answer' })], 'b'),
      'steps[1].inputs.a',
      '"solve.answer" has no "answer": the value of solve is a list',
    ],
    [
      'with a path into a text',
      graphWith([op({ op: 'lower', inputs: { text: 'input' } }), llm('b', { a: 'op.x' })], 'b'),
      'steps[1].inputs.a',
      'the value of op is a text',
    ],
    [
      'with a path into an object without it',
      graphWith([op({ op: 'object', inputs: { x: 'input' } }), llm('b', { a: 'op.y' })], 'b'),
      'steps[1].inputs.a',
      'the value of op has x',
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
      '"s.b" has no "b": the value of s has a',
    ],

    [
      'with too many inputs of a step',
      one({
        inputs: Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`i${at}`, 'input'])),
        messages: user(Array.from({ length: 21 }, (_, at) => `{{i${at}}}`).join('')),
      }),
      'steps[0].inputs',
      'must hold at most 20 inputs, and holds 21',
    ],
    [
      'with a bad name of an input',
      one({ inputs: { question: 'input', 'a b': 'input' } }),
      'steps[0].inputs.a b',
      'must be 1 to 64 letters',
    ],
    [
      'with an input that no message has',
      one({ inputs: { question: 'input', other: 'input' } }),
      'steps[0].inputs.other',
      'is not used: no message has {{other}}',
    ],
    [
      'with a placeholder that is no input',
      one({ messages: user('{{question}} {{other}}') }),
      'steps[0].messages[0].content',
      'has {{other}}, which is not an input of the step',
    ],
    [
      'with the item of no map',
      one({ messages: user('{{question}} {{item}}') }),
      'steps[0].messages[0].content',
      'has {{item}}, which is not an input',
    ],
    [
      'with what is no placeholder',
      one({ messages: user('{{question}} {{input.question}}') }),
      'steps[0].messages[0].content',
      'has {{input.question}}, which is no placeholder',
    ],
    [
      'without messages',
      graphWith([{ ...solve, inputs: {}, messages: [] }], 'solve'),
      'steps[0].messages',
      'must hold 1 to 20 messages, and holds 0',
    ],
    [
      'with too many messages',
      one({ messages: Array.from({ length: 21 }, () => user('{{question}}')[0]) }),
      'steps[0].messages',
      'must hold 1 to 20 messages, and holds 21',
    ],
    [
      'with a blank message',
      one({ messages: [...user('{{question}}'), ...user(' \n')] }),
      'steps[0].messages[1].content',
      'must not be blank',
    ],
    [
      'with a message that is too long',
      one({ messages: user(`{{question}}${'x'.repeat(100_000)}`) }),
      'steps[0].messages[0].content',
      'has 100012 characters; at most 100000 are allowed',
    ],
    [
      'with a message that cannot be stored',
      one({ messages: user('{{question}}\0') }),
      'steps[0].messages[0].content',
      'has a NUL character',
    ],
    ['with a model without a name', one({ model: '' }), 'steps[0].model', 'must be 1 to 200 characters'],
    ['with a model of a long name', one({ model: 'x'.repeat(201) }), 'steps[0].model', 'must be 1 to 200 characters'],
    ['with no try', one({ tries: 0 }), 'steps[0].tries', 'must be a whole number from 1 to 10'],
    ['with half a try', one({ tries: 1.5 }), 'steps[0].tries', 'must be a whole number from 1 to 10'],
    ['with no time', one({ timeoutS: 0 }), 'steps[0].timeoutS', 'must be above 0 and at most 3600 seconds'],
    ['with a long time', one({ timeoutS: 3_601 }), 'steps[0].timeoutS', 'must be above 0 and at most 3600 seconds'],
    [
      'with no time that is a number',
      one({ timeoutS: NaN }),
      'steps[0].timeoutS',
      'must be above 0 and at most 3600 seconds',
    ],
    ['with too many samples', one({ samples: 21 }), 'steps[0].samples', 'must be a whole number from 1 to 20'],
    ['with a bad field', one({ output: { field: 'a.b' } }), 'steps[0].output.field', 'must be 1 to 64 letters'],
    ['with a model that cannot be stored', one({ model: 'a\0' }), 'steps[0].model', 'must be 1 to 200 characters'],
    [
      'with a schema of the wrong form',
      one({ output: { schema: { type: 'object', properties: null, additionalProperties: false } } }),
      'steps[0].output.schema.properties',
      'must be an object of schemas',
    ],
    [
      'with an unknown keyword',
      one({ output: { schema: { format: 'date' } } }),
      'steps[0].output.schema.format',
      'is not supported',
    ],

    [
      'with a map whose item is called input',
      alone(map({ as: 'input', messages: user('{{q}} {{input}}') })),
      'steps[0].as',
      'must not be "input"',
    ],
    [
      'with a map whose item is called like a step',
      alone(map({ as: 'each', messages: user('{{q}} {{each}}') })),
      'steps[0].as',
      'is the id of a step too: "each"',
    ],
    [
      'with a map whose item is called like an input',
      alone(map({ as: 'q', messages: user('{{q}}') })),
      'steps[0].as',
      'is the name of an input too: "q"',
    ],
    [
      'with a map whose item has a bad name',
      alone(map({ as: 'a-b', messages: user('{{q}}') })),
      'steps[0].as',
      'must be 1 to 64 letters',
    ],
    [
      'with a map that does not look at its item',
      alone(map({ messages: user('{{q}}') })),
      'steps[0].messages',
      'must have {{one}}, which no message and no input has',
    ],
    [
      'with a map of too many items',
      alone(map({ maxItems: 101 })),
      'steps[0].maxItems',
      'must be a whole number from 1 to 100',
    ],
    ['with a map over its own item', alone(map({ over: 'one' })), 'steps[0].over', '"one" names no step'],
    [
      'with a map over an object',
      graphWith([solve, map({ over: 'solve' })], 'each'),
      'steps[1].over',
      '"solve" must be a list; the value of solve is an object',
    ],
    [
      'with a map over a text',
      graphWith([op({ op: 'lower', inputs: { text: 'input' } }), map({ over: 'op' })], 'each'),
      'steps[1].over',
      '"op" must be a list; the value of op is a text',
    ],

    [
      'with a vote over nothing',
      pick({}),
      'steps[0].over',
      'either over (a list) or of (several refs) is needed, and not both',
    ],
    [
      'with a vote over two things',
      pick({ over: 'input', of: ['input', 'input'] }),
      'steps[0].over',
      'either over (a list)',
    ],
    ['with a vote of one', pick({ of: ['input'] }), 'steps[0].of', 'must hold 2 to 20 refs, and holds 1'],
    [
      'with a vote of many',
      pick({ of: Array.from({ length: 21 }, () => 'input') }),
      'steps[0].of',
      'must hold 2 to 20 refs, and holds 21',
    ],
    ['with a vote of an unknown step', pick({ of: ['input', 'x'] }), 'steps[0].of[1]', '"x" names no step'],
    [
      'with a judge that is not shown the candidates',
      pick({ over: 'input', by: { judge: { ...judge, messages: user('{{q}}') } } }),
      'steps[0].by.judge.messages',
      'must have {{candidates}}',
    ],
    [
      'with a judge that has candidates already',
      pick({ over: 'input', by: { judge: { ...judge, inputs: { ...judge.inputs, candidates: 'input' } } } }),
      'steps[0].by.judge.inputs.candidates',
      'must have another name',
    ],
    [
      'with a judge that has an input too much',
      pick({ over: 'input', by: { judge: { ...judge, inputs: { ...judge.inputs, x: 'input' } } } }),
      'steps[0].by.judge.inputs.x',
      'is not used',
    ],
    [
      'with a judge of an unknown step',
      pick({ over: 'input', by: { judge: { ...judge, inputs: { q: 'x' } } } }),
      'steps[0].by.judge.inputs.q',
      '"x" names no step',
    ],

    [
      'with a select without cases',
      alone({ id: 'r', type: 'select', cases: [], otherwise: 'input' }),
      'steps[0].cases',
      'must hold 1 to 20 cases, and holds 0',
    ],
    [
      'with a condition that has nothing to compare with',
      route({ is: 'equals' }),
      'steps[0].cases[0].when.value',
      'equals needs a text',
    ],
    [
      'with a condition of a long text',
      route({ is: 'equals', value: 'x'.repeat(10_001) }),
      'steps[0].cases[0].when.value',
      'has 10001 characters; at most 10000 are allowed',
    ],
    [
      'with a condition of an unknown step',
      route({ of: 'x', is: 'empty' }),
      'steps[0].cases[0].when.of',
      '"x" names no step',
    ],

    [
      'with an op that has another input',
      alone(op({ op: 'lower', inputs: { value: 'input' } })),
      'steps[0].inputs',
      'lower takes exactly one input, named "text"',
    ],
    [
      'with an op that has two',
      alone(op({ op: 'first', inputs: { list: 'input', b: 'input' } })),
      'steps[0].inputs',
      'first takes exactly one input, named "list"',
    ],
    ['with an op without inputs', alone(op({ op: 'list' })), 'steps[0].inputs', 'list needs at least one input'],
    [
      'with a template of unknown inputs',
      alone(op({ op: 'template', text: '{{x}}' })),
      'steps[0].text',
      'has {{x}}, which is not an input',
    ],
    [
      'with a template that leaves out an input',
      alone(op({ op: 'template', text: 'x', inputs: { a: 'input' } })),
      'steps[0].inputs.a',
      'is not used: the text has no {{a}}',
    ],
    [
      'with a template that is too long',
      alone(op({ op: 'template', text: 'x'.repeat(10_001) })),
      'steps[0].text',
      'has 10001 characters',
    ],
    [
      'with a split by nothing',
      alone(op({ op: 'split', by: '', inputs: { text: 'input' } })),
      'steps[0].by',
      'must not be empty',
    ],
    [
      'with a join by a long text',
      alone(op({ op: 'join', by: 'x'.repeat(10_001), inputs: { list: 'input' } })),
      'steps[0].by',
      'has 10001 characters',
    ],
    [
      'with nothing before what is between',
      alone(op({ op: 'between', start: '', end: 'x', inputs: { text: 'input' } })),
      'steps[0].start',
      'must not be empty',
    ],
    [
      'with nothing after what is between',
      alone(op({ op: 'between', start: 'x', end: '', inputs: { text: 'input' } })),
      'steps[0].end',
      'must not be empty',
    ],
    [
      'with half an index',
      alone(op({ op: 'item', index: 0.5, inputs: { list: 'input' } })),
      'steps[0].index',
      'must be a whole number',
    ],
    [
      'with a path that is none',
      alone(op({ op: 'pluck', path: 'a..b', inputs: { list: 'input' } })),
      'steps[0].path',
      'must be names with dots between them',
    ],
  ])('%s', (_, graph, path, message) => {
    const problems = graphProblems(graph);
    expect(problems).toContainEqual({ path, message: expect.stringContaining(message) });
  });

  test('for everything at once', () => {
    const graph = { ...one({ samples: 0, tries: 0, inputs: { question: 'x' } }), output: 'y' };
    expect(
      graphProblems(graph)
        .map(({ path }) => path)
        .sort(),
    ).toEqual(['output', 'steps[0]', 'steps[0].inputs.question', 'steps[0].samples', 'steps[0].tries']);
  });
});

describe('a graph is taken', () => {
  test('that is any of those that tests make', () => {
    fc.assert(fc.property(anyGraph, (graph) => expect(graphProblems(graph)).toEqual([])));
  });

  test.each<[string, Graph]>([
    ['of one step', oneStep],
    [
      'whose map looks at its item through an input alone',
      alone(map({ inputs: { q: 'one.text' }, messages: user('{{q}}') })),
    ],
    ['whose maps call their items alike', graphWith([map(), map({ id: 'next', over: 'each' })], 'next')],
    ['whose template has no inputs', alone(op({ op: 'template', text: '' }))],
    ['whose join is by nothing', alone(op({ op: 'join', by: '', inputs: { list: 'input' } }))],
    [
      'whose id is that of something that every object has',
      graphWith([llm('constructor', { toString: 'input' })], 'constructor.answer'),
    ],
    ['with an input that it does not look at', { ...oneStep, inputs: ['question', 'x-y', '__proto__'] }],
    ['at its limits', one({ samples: 20, tries: 10, timeoutS: 3_600, model: 'x'.repeat(200) })],
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

test('the most calls of a run are those of its samples, items and judges', () => {
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

describe('the graph of an initial prompt', () => {
  test('has the inputs that its messages have', () => {
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
  ])('gets a message with its inputs where it has none of them: %s', (_, inputs, content) => {
    const graph = singleStepGraph(user('Answer.'), inputs);
    expect(graph.steps[0]).toMatchObject({ messages: [...user('Answer.'), ...user(content)] });
    expect(graphProblems(graph)).toEqual([]);
  });

  test('keeps names apart that are the same for templates', () => {
    const graph = singleStepGraph(user('Answer.'), ['a-b', 'a_b']);
    expect(graph.steps[0]).toMatchObject({ inputs: { a_b: 'input.a-b', a_b_2: 'input.a_b' } });
    expect(graphProblems(graph)).toEqual([]);
  });

  test('without inputs is the prompt alone', () => {
    const graph = singleStepGraph(user('Answer.'), []);
    expect(graph.steps[0]).toMatchObject({ inputs: {}, messages: user('Answer.') });
    expect(graphProblems(graph)).toEqual([]);
  });
});
