/**
 * Invariants for any graph and answers:
 *  1. Answers in any order give the same outcome, and a run ends when all pending calls are
 *     answered.
 *  2. No call is pending twice or after its answer; there are at most `maxCalls`.
 *  3. Replaying recorded answers restores a lost run.
 *  4. A run is immutable.
 */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { limits, maxCalls, type Graph, type Step } from '../../../src/core/graphs/graph.js';
import {
  answerCall,
  failCall,
  openRun,
  outcomeOf,
  stepValues,
  pendingCalls,
} from '../../../src/core/graphs/run/run.js';
import type { Run } from '../../../src/core/graphs/run/state.js';
import { graphProblems } from '../../../src/core/graphs/validate.js';
import { maxValueSize, type Json } from '../../../src/core/graphs/values.js';
import {
  answerAll,
  answerSchema,
  answerTo,
  anyGraph,
  anyInput,
  graphWith,
  llm,
  oneStep,
  outcomeWith,
  user,
} from './cases.js';
import { pureRuns } from '../../support/runs.js';

const keys = (run: Run) => pendingCalls(run).map(({ key }) => key);
const failed = (step: string | null, reason: string) => ({
  status: 'failed',
  step,
  reason: expect.stringContaining(reason),
});
const answered = (run: Run, key: string, text: string) => {
  const result = answerCall(run, key, text);
  if ('problem' in result) throw new Error(result.problem);
  return result.run;
};

/** Plays a run to its end; `order` selects among pending calls. Returns keys in answer order. */
function play(graph: Graph, input: Json, salt: number, order: readonly number[]) {
  let run = openRun(graph, input);
  const answeredKeys: string[] = [];
  for (let turn = 0; pendingCalls(run).length > 0; turn++) {
    const pending = keys(run);
    const key = pending[(order[turn % order.length] ?? 0) % pending.length]!;
    answeredKeys.push(key);
    run = answered(run, key, answerTo(graph, key, salt));
  }
  return { run, keys: answeredKeys, outcome: outcomeOf(run) };
}

const orders = fc.array(fc.nat(), { minLength: 1, maxLength: 10 });

describe('any run', () => {
  test('has the same outcome for any order of answers', () => {
    let done = 0;
    fc.assert(
      fc.property(anyGraph, anyInput, fc.nat(5), orders, orders, (graph, input, salt, order, otherOrder) => {
        const first = play(graph, input, salt, order);
        const second = play(graph, input, salt, otherOrder);
        expect(first.outcome.status).not.toBe('running');
        expect(second.outcome.status).toBe(first.outcome.status);
        if (first.outcome.status !== 'done') return;
        done++;
        expect(second.outcome).toEqual(first.outcome);
        expect(new Set(second.keys)).toEqual(new Set(first.keys));
        expect(stepValues(second.run)).toEqual(stepValues(first.run));
      }),
      { numRuns: pureRuns(300) },
    );
    expect(done).toBeGreaterThan(100);
  });

  test('has each call pending once, within the limit', () => {
    fc.assert(
      fc.property(anyGraph, anyInput, fc.nat(5), orders, (graph, input, salt, order) => {
        const { keys: answeredKeys } = play(graph, input, salt, order);
        expect(new Set(answeredKeys).size).toBe(answeredKeys.length);
        expect(answeredKeys.length).toBeLessThanOrEqual(maxCalls(graph));
      }),
    );
  });

  test('is restored by replaying its answers, even twice', () => {
    fc.assert(
      fc.property(anyGraph, anyInput, fc.nat(5), orders, fc.nat(20), (graph, input, salt, order, until) => {
        const { keys: answeredKeys } = play(graph, input, salt, order);
        const part = answeredKeys.slice(0, until);
        const give = (run: Run, key: string) => answered(run, key, answerTo(graph, key, salt));
        const before = part.reduce(give, openRun(graph, input));
        const again = [...part, ...part].reduce(give, openRun(structuredClone(graph), input));
        expect(pendingCalls(again)).toEqual(pendingCalls(before));
        expect(outcomeOf(again)).toEqual(outcomeOf(before));
      }),
    );
  });

  test('is not modified by an answer', () => {
    fc.assert(
      fc.property(anyGraph, anyInput, (graph, input) => {
        const run = openRun(graph, input);
        const [first] = keys(run);
        if (first === undefined) return;
        const before = structuredClone({ states: run.states, outcome: run.outcome });
        const after = answered(run, first, answerTo(graph, first, 0));
        expect({ states: run.states, outcome: run.outcome }).toEqual(before);
        expect(keys(after)).not.toContain(first);
        expect(keys(run)).toContain(first);
      }),
    );
  });
});

describe('a run', () => {
  test('renders the messages of its call and gives the output', () => {
    const graph = graphWith([{ ...oneStep.steps[0]!, model: 'big', timeoutS: 5, tries: 7 } as Step], 'solve.answer');
    const run = openRun(graph, { question: 'Why?' });
    const messages = [{ role: 'user', content: 'Do it. Why?' }];
    expect(pendingCalls(run)).toEqual([{ key: 'solve', step: 'solve', messages, model: 'big', timeoutS: 5, tries: 7 }]);
    expect(outcomeOf(run)).toEqual({ status: 'running' });
    const after = answered(run, 'solve', 'So.');
    expect(outcomeOf(after)).toEqual({ status: 'done', value: 'So.' });
    expect(pendingCalls(after)).toEqual([]);
    expect(stepValues(after)).toEqual({ solve: { answer: 'So.' } });
  });

  test('defaults to 120 seconds, three tries and the first model', () => {
    expect(pendingCalls(openRun(oneStep, { question: '' }))).toMatchObject([{ model: null, timeoutS: 120, tries: 3 }]);
  });

  test.each<[string, Json, string]>([
    ['that lacks fields', { topic: 1 }, 'the input lacks "question"'],
    ['that is a list', [], 'the input must be an object, but is a list of 0'],
    ['that is null', null, 'the input must be an object, but is null'],
    ['that is too large', { question: 'x'.repeat(maxValueSize) }, 'the input is larger than 1000000 characters'],
    ['that is too deep', { question: nested(60) }, 'the input is nested deeper than 50 levels'],
  ])('fails on an input %s', (_, input, reason) => {
    const run = openRun(oneStep, input);
    expect(outcomeOf(run)).toEqual(failed(null, reason));
    expect(pendingCalls(run)).toEqual([]);
  });

  test('ignores inherited fields', () => {
    const graph = graphWith([llm('solve', { q: 'input.constructor' })], 'solve', ['constructor']);
    expect(outcomeWith(graph, {})).toEqual(failed(null, 'the input lacks "constructor"'));
  });

  test('rejects an invalid graph', () => {
    expect(() => openRun({ ...oneStep, output: 'nowhere' }, {})).toThrow(/^Cannot run an invalid graph: output /);
  });

  test('requests independent steps together, and dependent steps after them', () => {
    const both = llm('both', { a: 'one.answer', b: 'two.answer' });
    const graph = graphWith(
      [both, llm('one', { q: 'input.question' }), llm('two', { q: 'input.question' })],
      'both.answer',
    );
    const start = openRun(graph, { question: '' });
    expect(keys(start)).toEqual(['one', 'two']);
    const half = answered(start, 'two', 'T {{a}}');
    expect(keys(half)).toEqual(['one']);
    const whole = answered(half, 'one', 'O {{b}}');
    expect(pendingCalls(whole)).toMatchObject([{ key: 'both', messages: [{ content: 'Do it. O {{b}} T {{a}}' }] }]);
  });

  test('requests a shared step once', () => {
    const base = llm('base', { q: 'input.question' });
    const object: Step = {
      id: 'all',
      type: 'transform',
      op: 'object',
      inputs: { a: 'x.answer', b: 'y.answer', c: 'base.answer' },
    };
    const graph = graphWith([object, llm('x', { a: 'base' }), llm('y', { a: 'base' }), base], 'all');
    const start = openRun(graph, { question: '' });
    expect(keys(start)).toEqual(['base']);
    expect(outcomeOf(answerAll(start, { base: 'B', x: 'X', y: 'Y' }))).toEqual({
      status: 'done',
      value: { a: 'X', b: 'Y', c: 'B' },
    });
  });

  test('returns samples in the order of their keys', () => {
    const graph = graphWith([llm('solve', { q: 'input.question' }, { samples: 3 })], 'solve');
    const start = openRun(graph, { question: '' });
    expect(keys(start)).toEqual(['solve', 'solve#2', 'solve#3']);
    const run = answerAll(start, { solve: 'a', 'solve#2': 'b', 'solve#3': 'c' }, '', true);
    expect(outcomeOf(run)).toEqual({ status: 'done', value: [{ answer: 'a' }, { answer: 'b' }, { answer: 'c' }] });
  });

  test('requests a call for each map item, up to the limit', () => {
    const step: Step = {
      ...llm('each', { q: 'input.question', part: 'one.text' }),
      type: 'map',
      messages: user('{{q}} {{part}} of {{one}}'),
      over: 'input.list',
      as: 'one',
      maxItems: 2,
    };
    const graph = graphWith([step], 'each', ['question', 'list']);
    const start = openRun(graph, { question: 'Q', list: [{ text: 'x' }, { text: '{{q}}' }] });
    expect(pendingCalls(start).map(({ key, messages }) => [key, messages[0]!.content])).toEqual([
      ['each', 'Q x of {"text":"x"}'],
      ['each#2', 'Q {{q}} of {"text":"{{q}}"}'],
    ]);
    expect(outcomeOf(answerAll(start, { each: '1', 'each#2': '2' }))).toEqual({
      status: 'done',
      value: [{ answer: '1' }, { answer: '2' }],
    });
    const run = openRun(graph, { question: 'Q', list: [{ text: 'x' }] });
    expect(outcomeOf(answerAll(run, { each: '1' }))).toEqual({ status: 'done', value: [{ answer: '1' }] });
    const on = (list: Json) => outcomeWith(graph, { question: 'Q', list });
    expect(on([])).toEqual({ status: 'done', value: [] });
    expect(on([1, 2, 3])).toEqual(failed('each', 'map accepts at most 2 items, but got a list of 3'));
    expect(on('x')).toEqual(failed('each', 'map expects a list, but got the text "x"'));
    expect(on([{ text: 'x' }, { txt: 'y' }])).toEqual(
      failed('each', 'one.text: there is no "text" in an object with txt'),
    );
  });

  test('keeps a call pending after an unusable answer', () => {
    const graph = graphWith([llm('solve', { q: 'input.question' }, { output: answerSchema })], 'solve');
    const run = openRun(graph, { question: '' });
    expect(answerCall(run, 'solve', 'It is 4.')).toEqual({ problem: 'the answer has no JSON: the text "It is 4."' });
    expect(answerCall(run, 'solve', '{"answer": 4}')).toEqual({
      problem: 'the answer does not match the schema: answer must be of type string, but is the number 4',
    });
    expect(keys(run)).toEqual(['solve']);
    expect(outcomeOf(answered(run, 'solve', '```json\n{"answer": "4"}\n```'))).toEqual({
      status: 'done',
      value: { answer: '4' },
    });
  });

  test.each([
    ['<think>It is {"answer": "3"}.</think>{"answer": "4"}', '4'],
    ['Is it 3?\n</think>\nHere:\n~~~json\n{"answer": "4"}\n~~~', '4'],
    ['I see {"answer": "3"}, no: {"answer": "4"}. See [1].', '4'],
  ])('reads the answer behind thoughts: %j', (text, answer) => {
    const graph = graphWith([llm('solve', { q: 'input.question' }, { output: answerSchema })], 'solve');
    expect(outcomeOf(answered(openRun(graph, { question: '' }), 'solve', text))).toEqual({
      status: 'done',
      value: { answer },
    });
    const asText = openRun(oneStep, { question: '' });
    const thought = outcomeOf(answered(asText, 'solve', `<think>3</think> ${answer}`));
    expect(JSON.stringify(thought)).not.toContain('3');
  });

  test('rejects an answer that is too long', () => {
    const run = openRun(oneStep, { question: '' });
    expect(answerCall(run, 'solve', 'x'.repeat(600_000))).toEqual({
      problem: 'the answer is longer than 500000 characters',
    });
  });

  test('ends with a failed call; later answers change nothing', () => {
    const both: Step = { id: 'both', type: 'vote', of: ['one', 'two'], by: 'majority' };
    const graph = graphWith([llm('one', { q: 'input.question' }), llm('two', { q: 'input.question' }), both], 'both');
    const run = failCall(openRun(graph, { question: '' }), 'two', 'no model answered');
    expect(outcomeOf(run)).toEqual({ status: 'failed', step: 'two', reason: 'no model answered' });
    expect(pendingCalls(run)).toEqual([]);
    expect(answered(run, 'one', 'late')).toBe(run);
    expect(failCall(run, 'one', 'late')).toBe(run);
    const done = answerAll(openRun(graph, { question: '' }), {});
    expect(() => answerCall(done, 'both', 'x')).toThrow(/"both" is not pending/);
    expect(() => answerCall(done, 'one#2', 'x')).toThrow(/"one#2" is not pending/);
    expect(failCall(done, 'one', 'late')).toBe(done);
  });

  test('keeps the first answer to a call', () => {
    const graph = graphWith([llm('solve', { q: 'input.question' }, { samples: 2 })], 'solve');
    const run = answered(openRun(graph, { question: '' }), 'solve', 'first');
    expect(answered(run, 'solve', 'second')).toBe(run);
    expect(failCall(run, 'solve', 'late')).toBe(run);
  });

  test.each(['nobody', 'solve#2', 'solve#1', 'solve#0', 'solve#x', 'solve#0.5', 'solve#', 'solve##', 'later', ''])(
    'throws for the unknown call %j',
    (key) => {
      const run = openRun(graphWith([oneStep.steps[0]!, llm('later', { a: 'solve' })], 'later'), { question: '' });
      expect(() => answerCall(run, key, 'x')).toThrow(/is not pending/);
      expect(() => failCall(run, key, 'x')).toThrow(/is not pending/);
    },
  );

  test('bounds the rendered messages', () => {
    const long = 'x'.repeat(limits.callChars);
    expect(outcomeWith(oneStep, { question: long })).toEqual(
      failed('solve', 'its messages have more than 400000 characters'),
    );
    const two = { ...oneStep.steps[0]!, messages: [...user('{{question}}'), ...user('{{question}}')] } as Step;
    const half = { question: 'x'.repeat(limits.callChars / 2 + 1) };
    expect(outcomeWith(graphWith([two], 'solve'), half)).toEqual(failed('solve', 'its messages have more than'));
  });

  test('renders messages only when a call is made', () => {
    let reads = 0;
    const big = {
      get text() {
        reads += 1;
        return 'x'.repeat(10_000);
      },
    };
    const each: Step = {
      ...llm('each', { question: 'input.question', item: 'one' }),
      type: 'map',
      over: 'input.items',
      as: 'one',
      maxItems: 100,
    } as Step;
    const items = Array.from({ length: 100 }, (_, at) => `item ${at}`);
    const run = openRun(graphWith([each], 'each', ['question', 'items']), { question: big, items });
    expect(JSON.stringify(run.states).length).toBeLessThan(10_000);
    const before = reads;
    expect(before).toBeLessThan(10);
    const calls = pendingCalls(run);
    expect([calls.length, reads]).toEqual([100, before]);
    expect(calls[7]!.messages[0]!.content).toMatch(/^Do it. {"text":"x+"} item 7$/);
    expect(reads).toBe(before + 1);
  });

  test('bounds the messages of all calls together', () => {
    const question = 'x'.repeat(limits.runChars / 20 - 'Do it. '.length);
    const many = (samples: number) => llm('many', { question: 'input.question' }, { samples });
    expect(pendingCalls(openRun(graphWith([many(20)], 'many'), { question }))).toHaveLength(20);
    const more = graphWith([many(20), llm('more', { many: 'many' })], 'more');
    const reason = "the messages of the run's model calls have more than 4000000 characters in all";
    expect(outcomeWith(more, { question })).toEqual({ status: 'failed', step: null, reason });
    expect(outcomeWith(graphWith([many(20)], 'many'), { question: `${question}!` })).toEqual(failed(null, reason));
  });

  test('bounds values that grow by repetition', () => {
    const steps = Array.from({ length: 40 }, (_, at): Step => {
      const of = at === 0 ? 'input.question' : `s${at - 1}`;
      return { id: `s${at}`, type: 'transform', op: 'list', inputs: { a: of, b: of } };
    });
    expect(outcomeWith(graphWith(steps, 's39'), { question: 'x'.repeat(100) })).toEqual(
      failed('s13', 'list gives a value that is larger than 1000000 characters'),
    );
  });

  test('fails if the output cannot be resolved', () => {
    const step: Step = { id: 'pick', type: 'vote', of: ['input.question', 'input.question'], by: 'majority' };
    expect(outcomeWith(graphWith([step], 'pick.answer'), { question: 'x' })).toEqual(
      failed(null, 'pick.answer: there is no "answer" in the text "x"'),
    );
  });

  test('rejects an output that uses no step', () => {
    expect(graphProblems({ ...oneStep, output: 'input.question' })).toMatchObject([{ path: 'steps[0]' }]);
  });
});

describe('a select', () => {
  const branch = (id: string) => llm(id, { q: 'input.question' });
  const select: Step = {
    id: 'route',
    type: 'select',
    cases: [
      { when: { of: 'kind.answer', is: 'contains', value: 'sum' }, then: 'hard.answer' },
      { when: { of: 'second.answer', is: 'empty' }, then: 'easy.answer' },
    ],
    otherwise: 'input.question',
  };
  const graph = graphWith([branch('kind'), branch('second'), branch('hard'), branch('easy'), select], 'route');

  test('runs only the chosen branch', () => {
    const start = openRun(graph, { question: 'Q' });
    expect(keys(start)).toEqual(['kind']);
    const chosen = answered(start, 'kind', 'A SUM!');
    expect(keys(chosen)).toEqual(['hard']);
    expect(outcomeOf(answered(chosen, 'hard', '42'))).toEqual({ status: 'done', value: '42' });
  });

  test('evaluates a later condition only if the earlier ones do not hold', () => {
    const other = answered(openRun(graph, { question: 'Q' }), 'kind', 'other');
    expect(keys(other)).toEqual(['second']);
    expect(keys(answered(other, 'second', '  '))).toEqual(['easy']);
    expect(outcomeOf(answered(other, 'second', 'x'))).toEqual({ status: 'done', value: 'Q' });
  });

  test('treats a missing field as empty, and fails for any other condition', () => {
    const answeredKeys = llm('kind', { q: 'input.question' }, { output: answerSchema });
    const on = (is: 'empty' | 'less') => {
      const when = is === 'empty' ? { of: 'kind.sure', is } : { of: 'kind.sure', is, value: 1 };
      const step: Step = { id: 'route', type: 'select', cases: [{ when, then: 'kind.answer' }], otherwise: 'kind' };
      return outcomeWith(graphWith([answeredKeys, step], 'route'), { question: '' }, { kind: '{"answer": "A"}' });
    };
    expect(on('empty')).toEqual({ status: 'done', value: 'A' });
    expect(on('less')).toEqual(failed('route', 'kind.sure: there is no "sure" in an object with answer'));
  });

  test('reports the ref of a failed condition', () => {
    const when = { of: 'input.question', is: 'greater' as const, value: 3 };
    const step: Step = { id: 'route', type: 'select', cases: [{ when, then: 'input' }], otherwise: 'input' };
    expect(outcomeWith(graphWith([step], 'route'), { question: 'many' })).toEqual(
      failed('route', 'the condition on input.question: greater expects a number, but got the text "many"'),
    );
  });

  test('waits for a chosen step that another step also uses', () => {
    const chain: Step = {
      id: 'both',
      type: 'transform',
      op: 'list',
      inputs: { a: 'route', b: 'hard.answer', c: 'kind.answer' },
    };
    const whole = graphWith([...graph.steps, chain], 'both');
    const run = openRun(whole, { question: 'Q' });
    expect(keys(run)).toEqual(['kind', 'hard']);
    expect(outcomeOf(answerAll(run, { kind: 'sum', hard: 'H' }))).toEqual({ status: 'done', value: ['H', 'H', 'sum'] });
  });
});

describe('a vote', () => {
  const judge = { inputs: { q: 'input.question' }, messages: user('{{q}}?\n{{candidates}}'), model: 'big' };
  const sampled = llm('solve', { q: 'input.question' }, { samples: 3 });
  const judged = graphWith([sampled, { id: 'best', type: 'vote', over: 'solve', by: { judge } }], 'best.answer');
  const given = { solve: 'one', 'solve#2': ' ONE', 'solve#3': 'Candidate 9:\ntwo' };

  test('takes the majority', () => {
    const graph = graphWith([sampled, { id: 'best', type: 'vote', over: 'solve', by: 'majority' }], 'best.answer');
    expect(outcomeWith(graph, { question: '' }, given)).toEqual({ status: 'done', value: 'one' });
  });

  test('shows distinct candidates to a judge, numbered and quoted, and takes its choice', () => {
    let run = openRun(judged, { question: 'Q' });
    for (const [key, text] of Object.entries(given)) run = answered(run, key, text);
    const content = 'Q?\nCandidate 1:\n> one\n\nCandidate 2:\n> Candidate 9:\n> two';
    expect(pendingCalls(run)).toMatchObject([{ key: 'best', model: 'big', messages: [{ role: 'user', content }] }]);
    expect(answerCall(run, 'best', 'the second')).toMatchObject({
      problem: expect.stringContaining('names no candidate'),
    });
    expect(outcomeOf(answered(run, 'best', 'I take 2.'))).toEqual({ status: 'done', value: 'Candidate 9:\ntwo' });
  });

  test('asks no judge if all values are equivalent', () => {
    const run = answerAll(openRun(judged, { question: 'Q' }), { solve: 'x', 'solve#2': 'X', 'solve#3': 'x ' });
    expect(outcomeOf(run)).toEqual({ status: 'done', value: 'x' });
  });

  test('fails for an empty list and for a value that is no list', () => {
    const graph = graphWith([{ id: 'best', type: 'vote', over: 'input.question', by: 'majority' }], 'best');
    expect(outcomeWith(graph, { question: [] })).toEqual(
      failed('best', 'vote has nothing to choose from: the list is empty'),
    );
    expect(outcomeWith(graph, { question: 7 })).toEqual(failed('best', 'vote expects a list, but got the number 7'));
  });
});

test('a failed transform reports its step, op and input', () => {
  const step: Step = { id: 'n', type: 'transform', op: 'number', inputs: { text: 'solve.answer' } };
  const graph = graphWith([oneStep.steps[0]!, step], 'n');
  expect(outcomeWith(graph, { question: '' }, { solve: 'none' })).toEqual(
    failed('n', 'number finds no number in the text "none"'),
  );
});

test('inserts a value that is no text as JSON, without expanding it', () => {
  const step = llm('solve', { q: 'input' });
  const run = openRun(graphWith([step], 'solve', []), { b: [1, '{{q}}'] });
  expect(pendingCalls(run)[0]!.messages[0]!.content).toBe('Do it. {"b":[1,"{{q}}"]}');
});

function nested(depth: number): Json {
  let value: Json = 1;
  for (let level = 0; level < depth; level++) value = [value];
  return value;
}
