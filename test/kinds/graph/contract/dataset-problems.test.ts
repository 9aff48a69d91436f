import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { datasetProblems } from '../../../../src/kinds/graph/contract/dataset-problems.js';
import { unusedOptions, type VerifierMode } from '../../../../src/scorers/verifier.js';

type Data = Record<string, unknown>;
const task = (id: string, input: unknown = { q: id }, rubric?: string) => ({ id, input, ...(rubric && { rubric }) });
const gold = (task_id: string, output: unknown = 'x') => ({ task_id, output });
const exact = { mode: 'exact' };
const good = { tasks: [task('a'), task('b')], gold_outputs: [gold('a'), gold('b')], verifier_config: exact };
const rubric = { tasks: good.tasks, verifier_config: { mode: 'rubric', model: 'm' } };
/** The paths of the problems. */
const problemPaths = (data: unknown) => datasetProblems(data).map(({ path }) => path.join('.'));

test.each<[string, Data]>([
  ['gold outputs', good],
  ['gold outputs in another order', { ...good, gold_outputs: [gold('b'), gold('a')] }],
  ['a default rubric', { ...rubric, default_rubric: 'r' }],
  ['a rubric for each task', { ...rubric, tasks: [task('a', 'x', 'r'), task('b', 'y', 'r')] }],
  ['rubric and gold output', { ...rubric, default_rubric: 'r', gold_outputs: [gold('a')] }],
  ['gold examples', { ...good, verifier_config: { mode: 'gold_examples', model: 'm', provider: 'p' } }],
  ['a text among objects with one field', { ...good, tasks: [task('a', 'x'), task('b', { input: 1 })] }],
  ['null in a field', { ...good, tasks: [task('a', { q: null }), task('b', { q: 1 })] }],
  [
    'objects in mode json',
    {
      ...good,
      gold_outputs: [gold('a', {}), gold('b', { x: 1 })],
      verifier_config: { mode: 'json', fields: ['x'], case_sensitive: true },
    },
  ],
  ['options of mode numeric', { ...good, verifier_config: { mode: 'numeric', tolerance: 1, relative: false } }],
])('accepts %s', (_, data) => {
  expect(problemPaths(data)).toEqual([]);
});

describe('tasks', () => {
  test('requires at least one', () => {
    expect(problemPaths({ ...good, tasks: [] })).toEqual(['tasks']);
  });

  test('limits their number', () => {
    const tasks = (count: number) => Array.from({ length: count }, (_, at) => task(String(at), 'x'));
    const data = (count: number) => ({ ...rubric, default_rubric: 'r', tasks: tasks(count) });
    expect(problemPaths(data(10_000))).toEqual([]);
    expect(problemPaths(data(10_001))).toEqual(['tasks']);
  });

  test('limits their size in bytes', () => {
    const data = (input: string) => ({ ...rubric, default_rubric: 'r', tasks: [task('a', input)] });
    const around = Buffer.byteLength(JSON.stringify(data('')));
    const room = 10 * 1024 * 1024 - around;
    expect(problemPaths(data('x'.repeat(room)))).toEqual([]);
    expect(problemPaths(data('x'.repeat(room + 1)))).toEqual(['']);
    expect(problemPaths(data('é'.repeat(room / 2 + 1)))).toHaveLength(1);
  });

  test('rejects a repeated id', () => {
    expect(problemPaths({ ...good, tasks: [task('a'), task('b'), task('a'), task('a')] })).toEqual([
      'tasks.2.id',
      'tasks.3.id',
    ]);
    const [problem] = datasetProblems({ ...good, tasks: [task('a'), task('a')] });
    // The message names the id and the first task that has it.
    expect(problem!.message).toMatch(/"a".*tasks\[0\]/);
  });
});

describe('gold outputs', () => {
  test('rejects outputs without a task', () => {
    const data = { ...good, gold_outputs: [...good.gold_outputs, gold('c'), gold('d')] };
    expect(problemPaths(data)).toEqual(['gold_outputs.2.task_id', 'gold_outputs.3.task_id']);
    expect(datasetProblems(data)[1]!.path).toEqual(['gold_outputs', 3, 'task_id']);
  });

  test('rejects two outputs for a task', () => {
    expect(problemPaths({ ...good, gold_outputs: [gold('a'), gold('b'), gold('a')] })).toEqual([
      'gold_outputs.2.task_id',
    ]);
  });

  test.each(['exact', 'contains', 'numeric', 'json', 'gold_examples'])('are required in mode %s', (mode) => {
    const verifier_config = { mode, ...(mode === 'gold_examples' && { model: 'm' }) };
    expect(problemPaths({ tasks: good.tasks, gold_outputs: [gold('a', {})], verifier_config })).toEqual(['tasks.1']);
    expect(problemPaths({ tasks: good.tasks, verifier_config })).toHaveLength(2);
  });

  test('must be objects in mode json', () => {
    const data = { ...good, gold_outputs: [gold('a', {}), gold('b', [1])], verifier_config: { mode: 'json' } };
    expect(problemPaths(data)).toEqual(['gold_outputs.1.output']);
  });
});

describe('rubrics', () => {
  test('requires rubrics or a default rubric', () => {
    expect(problemPaths(rubric)).toEqual(['default_rubric']);
  });

  test('requires a rubric for each task without a default rubric', () => {
    expect(problemPaths({ ...rubric, tasks: [task('a', 'x', 'r'), task('b', 'y')] })).toEqual(['tasks.1.rubric']);
  });
});

describe('the description in the metadata', () => {
  const long = 'd'.repeat(100_001);
  const fault = (name: string) => [`metadata.${name}`];

  test.each<[string, object, string[]]>([
    ['is accepted at the limit', { task_description: long.slice(1), more: long }, []],
    ['is rejected above the limit', { task_description: long }, fault('task_description')],
    ['is rejected above the limit as description', { description: long, task_description: ' ' }, fault('description')],
    ['is ignored as description beside task_description', { description: long, task_description: 'd' }, []],
  ])('%s', (_, metadata, problems) => {
    expect(problemPaths({ ...good, metadata })).toEqual(problems);
  });
});

describe('the verifier', () => {
  test.each(['rubric', 'gold_examples'])('requires a model in mode %s', (mode) => {
    expect(problemPaths({ ...good, default_rubric: 'r', verifier_config: { mode } })).toEqual([
      'verifier_config.model',
    ]);
  });

  const all = { model: 'm', provider: 'p', tolerance: 1, relative: true, case_sensitive: true, fields: ['a'] };
  test.each<[VerifierMode, string[]]>([
    ['exact', ['model', 'provider', 'tolerance', 'relative', 'fields']],
    ['contains', ['model', 'provider', 'tolerance', 'relative', 'fields']],
    ['numeric', ['model', 'provider', 'case_sensitive', 'fields']],
    ['json', ['model', 'provider', 'tolerance', 'relative']],
    ['rubric', ['tolerance', 'relative', 'case_sensitive', 'fields']],
    ['gold_examples', ['tolerance', 'relative', 'case_sensitive', 'fields']],
  ])('finds options that mode %s does not use, which are no problem', (mode, unused) => {
    const gold_outputs = [gold('a', {}), gold('b', {})];
    const data = { ...good, gold_outputs, default_rubric: 'r', verifier_config: { mode, ...all } };
    expect(problemPaths(data)).toEqual([]);
    expect(unusedOptions({ ...all, mode })).toEqual(unused);
  });

  test('requires a weight if fields are given', () => {
    const gold_outputs = [gold('a', {}), gold('b', {})];
    expect(problemPaths({ ...good, gold_outputs, verifier_config: { mode: 'json', fields: {} } })).toEqual([
      'verifier_config.fields',
    ]);
  });

  test('limits the number of weights', () => {
    const gold_outputs = [gold('a', {}), gold('b', {})];
    const weights = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`f${at}`, 1]));
    const data = (count: number) => ({
      ...good,
      gold_outputs,
      verifier_config: { mode: 'json', fields: weights(count) },
    });
    expect(problemPaths(data(200))).toEqual([]);
    expect(problemPaths(data(201))).toEqual(['verifier_config.fields']);
  });
});

describe('fields of inputs', () => {
  const of = (...inputs: unknown[]) => ({
    ...rubric,
    default_rubric: 'r',
    tasks: inputs.map((input, at) => task(`t${at}`, input)),
  });

  test('reports the tasks that lack a field', () => {
    const lacking = of({ a: 1, b: 1 }, { b: 2, a: 2 }, { a: 3 }, { a: 1, b: 2 });
    expect(problemPaths(lacking)).toEqual(['tasks.2.input']);
    expect(datasetProblems(lacking)[0]!.message).toMatch(/"t2".*"b"/);
    expect(problemPaths(of({ a: 1, b: 1 }, { a: 1 }))).toHaveLength(1);
    expect(problemPaths(of({ a: 1 }, 'text'))).toEqual(['tasks.1.input', 'tasks.0.input']);
  });

  test('reports the tasks that have a field if they are fewer', () => {
    const extra = of({ a: 1 }, { a: 2, b: 1 }, { a: 3 });
    expect(problemPaths(extra)).toEqual(['tasks.1.input']);
    expect(datasetProblems(extra)[0]!.message).toMatch(/"t1".*"b"/);
    expect(problemPaths(of({}, { constructor: 1 }, {}))).toHaveLength(1);
  });

  test('reports at most 20 for tasks with different fields', () => {
    const inputs = Array.from({ length: 10_000 }, (_, at) => ({ [`f${at}`]: 1, [`g${at}`]: 1 }));
    expect(problemPaths(of(...inputs))).toHaveLength(20);
  });
});

test('reports all kinds of problems, at most 20 of each', () => {
  const tasks = Array.from({ length: 50 }, (_, at) => task(String(at), 'x'));
  const gold_outputs = Array.from({ length: 25 }, () => gold('none'));
  const reported = problemPaths({ tasks, gold_outputs, verifier_config: { mode: 'exact', model: 'm' } });
  // Twenty outputs without a task, and twenty repeated outputs for a task.
  expect(reported.filter((path) => /^gold_outputs\.\d+\.task_id$/.test(path))).toHaveLength(40);
  expect(reported).toHaveLength(40);
});

test('ignores values that do not match the schema', () => {
  for (const value of [undefined, null, 1, 'x', [], {}, { tasks: {} }]) expect(datasetProblems(value)).toEqual([]);
  expect(problemPaths({ tasks: [null, 1, { id: 2, input: 'x' }, { id: 'a', input: 3 }], gold_outputs: 'x' })).toEqual(
    [],
  );
  expect(problemPaths({ tasks: [task('a')], verifier_config: { mode: 'best', x: 1 } })).toEqual([]);
  const shape = fc.record(
    {
      tasks: fc.oneof(fc.jsonValue(), fc.array(fc.record({ id: fc.jsonValue(), input: fc.jsonValue() }))),
      gold_outputs: fc.oneof(fc.jsonValue(), fc.array(fc.record({ task_id: fc.jsonValue() }))),
      verifier_config: fc.record({ mode: fc.constantFrom('json', 'rubric', 'numeric', 1), fields: fc.jsonValue() }),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), shape), (data) => {
      expect(Array.isArray(datasetProblems(data))).toBe(true);
    }),
  );
});
