/**
 * What a run keeps, whatever the graph and the answers:
 *  1. answers in any order give the same outcome, and any run ends when all wanted calls are answered;
 *  2. no call is wanted twice, none after its answer, and never more than `maxCalls`;
 *  3. a run that was lost is the same again when its answers are given again;
 *  4. a run is a value: answering leaves it as it was.
 */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { limits, maxCalls, type Graph, type Step } from '../../../src/core/graphs/graph.js';
import {
  answerCall,
  failCall,
  openRun,
  outcomeOf,
  valuesOf,
  wantedCalls,
  type Run,
} from '../../../src/core/graphs/run/run.js';
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

const keys = (run: Run) => wantedCalls(run).map(({ key }) => key);
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

/** Plays a run to its end; `order` chooses among what is wanted. Says which keys were wanted, in the order answered. */
function play(graph: Graph, input: Json, salt: number, order: readonly number[]) {
  let run = openRun(graph, input);
  const asked: string[] = [];
  for (let turn = 0; wantedCalls(run).length > 0; turn++) {
    const wanted = keys(run);
    const key = wanted[(order[turn % order.length] ?? 0) % wanted.length]!;
    asked.push(key);
    run = answered(run, key, answerTo(graph, key, salt));
  }
  return { run, asked, outcome: outcomeOf(run) };
}

const orders = fc.array(fc.nat(), { minLength: 1, maxLength: 10 });

describe('any run', () => {
  test('has one outcome, in whatever order the answers come', () => {
    let done = 0;
    fc.assert(
      fc.property(anyGraph, anyInput, fc.nat(5), orders, orders, (graph, input, salt, one, other) => {
        const first = play(graph, input, salt, one);
        const second = play(graph, input, salt, other);
        expect(first.outcome.status).not.toBe('running');
        expect(second.outcome.status).toBe(first.outcome.status);
        if (first.outcome.status !== 'done') return;
        done++;
        expect(second.outcome).toEqual(first.outcome);
        expect(new Set(second.asked)).toEqual(new Set(first.asked));
        expect(valuesOf(second.run)).toEqual(valuesOf(first.run));
      }),
      { numRuns: 300 },
    );
    expect(done).toBeGreaterThan(100);
  });

  test('wants no call twice, and no more than the bound', () => {
    fc.assert(
      fc.property(anyGraph, anyInput, fc.nat(5), orders, (graph, input, salt, order) => {
        const { asked } = play(graph, input, salt, order);
        expect(new Set(asked).size).toBe(asked.length);
        expect(asked.length).toBeLessThanOrEqual(maxCalls(graph));
      }),
    );
  });

  test('is the same when it is opened again and given its answers, twice even', () => {
    fc.assert(
      fc.property(anyGraph, anyInput, fc.nat(5), orders, fc.nat(20), (graph, input, salt, order, until) => {
        const { asked } = play(graph, input, salt, order);
        const part = asked.slice(0, until);
        const give = (run: Run, key: string) => answered(run, key, answerTo(graph, key, salt));
        const before = part.reduce(give, openRun(graph, input));
        const again = [...part, ...part].reduce(give, openRun(structuredClone(graph), input));
        expect(wantedCalls(again)).toEqual(wantedCalls(before));
        expect(outcomeOf(again)).toEqual(outcomeOf(before));
      }),
    );
  });

  test('is left as it was by an answer', () => {
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
  test('wants its call with the messages filled in, and gives the output', () => {
    const graph = graphWith([{ ...oneStep.steps[0]!, model: 'big', timeoutS: 5, tries: 7 } as Step], 'solve.answer');
    const run = openRun(graph, { question: 'Why?' });
    const messages = [{ role: 'user', content: 'Do it. Why?' }];
    expect(wantedCalls(run)).toEqual([{ key: 'solve', step: 'solve', messages, model: 'big', timeoutS: 5, tries: 7 }]);
    expect(outcomeOf(run)).toEqual({ status: 'running' });
    const after = answered(run, 'solve', 'So.');
    expect(outcomeOf(after)).toEqual({ status: 'done', value: 'So.' });
    expect(wantedCalls(after)).toEqual([]);
    expect(valuesOf(after)).toEqual({ solve: { answer: 'So.' } });
  });

  test('has 120 seconds, three tries and the first model where the step says none', () => {
    expect(wantedCalls(openRun(oneStep, { question: '' }))).toMatchObject([{ model: null, timeoutS: 120, tries: 3 }]);
  });

  test.each<[string, Json, string]>([
    ['that lacks fields', { topic: 1 }, 'the input lacks "question"'],
    ['that is a list', [], 'the input must be an object, and is a list of 0'],
    ['that is null', null, 'the input must be an object, and is null'],
    ['that is too large', { question: 'x'.repeat(maxValueSize) }, 'the input is larger than 1000000 characters'],
    ['that is too deep', { question: nested(60) }, 'the input is nested deeper than 50 levels'],
  ])('fails on an input %s', (_, input, reason) => {
    const run = openRun(oneStep, input);
    expect(outcomeOf(run)).toEqual(failed(null, reason));
    expect(wantedCalls(run)).toEqual([]);
  });

  test('takes no field that an object only inherits', () => {
    const graph = graphWith([llm('solve', { q: 'input.constructor' })], 'solve', ['constructor']);
    expect(outcomeWith(graph, {})).toEqual(failed(null, 'the input lacks "constructor"'));
  });

  test('of a graph with problems there is none', () => {
    expect(() => openRun({ ...oneStep, output: 'nowhere' }, {})).toThrow(
      /the graph cannot be run: output "nowhere" names no step/,
    );
  });

  test('wants steps that do not wait for each other at once, and what takes them after both', () => {
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
    expect(wantedCalls(whole)).toMatchObject([{ key: 'both', messages: [{ content: 'Do it. O {{b}} T {{a}}' }] }]);
  });

  test('wants a step once that several take', () => {
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

  test('samples give a list in the order of their keys', () => {
    const graph = graphWith([llm('solve', { q: 'input.question' }, { samples: 3 })], 'solve');
    const start = openRun(graph, { question: '' });
    expect(keys(start)).toEqual(['solve', 'solve#2', 'solve#3']);
    const run = answerAll(start, { solve: 'a', 'solve#2': 'b', 'solve#3': 'c' }, '', true);
    expect(outcomeOf(run)).toEqual({ status: 'done', value: [{ answer: 'a' }, { answer: 'b' }, { answer: 'c' }] });
  });

  test('a map asks for each item, and no more than it may', () => {
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
    expect(wantedCalls(start).map(({ key, messages }) => [key, messages[0]!.content])).toEqual([
      ['each', 'Q x of {"text":"x"}'],
      ['each#2', 'Q {{q}} of {"text":"{{q}}"}'],
    ]);
    expect(outcomeOf(answerAll(start, { each: '1', 'each#2': '2' }))).toEqual({
      status: 'done',
      value: [{ answer: '1' }, { answer: '2' }],
    });
    const one = openRun(graph, { question: 'Q', list: [{ text: 'x' }] });
    expect(outcomeOf(answerAll(one, { each: '1' }))).toEqual({ status: 'done', value: [{ answer: '1' }] });
    const on = (list: Json) => outcomeWith(graph, { question: 'Q', list });
    expect(on([])).toEqual({ status: 'done', value: [] });
    expect(on([1, 2, 3])).toEqual(failed('each', 'map takes at most 2 items, and got a list of 3'));
    expect(on('x')).toEqual(failed('each', 'map takes a list, and got the text "x"'));
    expect(on([{ text: 'x' }, { txt: 'y' }])).toEqual(
      failed('each', 'one.text: there is no "text" in an object with txt'),
    );
  });

  test('an answer that is not of the form can be asked for again', () => {
    const graph = graphWith([llm('solve', { q: 'input.question' }, { output: answerSchema })], 'solve');
    const run = openRun(graph, { question: '' });
    expect(answerCall(run, 'solve', 'It is 4.')).toEqual({ problem: 'the answer is not JSON: the text "It is 4."' });
    expect(answerCall(run, 'solve', '{"answer": 4}')).toEqual({
      problem: 'the answer is not of the form wanted: answer must be of type string, and is the number 4',
    });
    expect(keys(run)).toEqual(['solve']);
    expect(outcomeOf(answered(run, 'solve', '```json\n{"answer": "4"}\n```'))).toEqual({
      status: 'done',
      value: { answer: '4' },
    });
  });

  test('an answer that is too long for a value is not usable', () => {
    const run = openRun(oneStep, { question: '' });
    expect(answerCall(run, 'solve', 'x'.repeat(600_000))).toEqual({
      problem: 'the answer is longer than 500000 characters',
    });
  });

  test('a call that fails ends it, and what comes later changes nothing', () => {
    const both: Step = { id: 'both', type: 'vote', of: ['one', 'two'], by: 'majority' };
    const graph = graphWith([llm('one', { q: 'input.question' }), llm('two', { q: 'input.question' }), both], 'both');
    const run = failCall(openRun(graph, { question: '' }), 'two', 'no model answered');
    expect(outcomeOf(run)).toEqual({ status: 'failed', step: 'two', reason: 'no model answered' });
    expect(wantedCalls(run)).toEqual([]);
    expect(answered(run, 'one', 'late')).toBe(run);
    expect(failCall(run, 'one', 'late')).toBe(run);
    const done = answerAll(openRun(graph, { question: '' }), {});
    expect(() => answerCall(done, 'both', 'x')).toThrow(/no call "both" is wanted/);
    expect(() => answerCall(done, 'one#2', 'x')).toThrow(/no call "one#2" is wanted/);
    expect(failCall(done, 'one', 'late')).toBe(done);
  });

  test('the first answer to a call counts', () => {
    const graph = graphWith([llm('solve', { q: 'input.question' }, { samples: 2 })], 'solve');
    const run = answered(openRun(graph, { question: '' }), 'solve', 'first');
    expect(answered(run, 'solve', 'second')).toBe(run);
    expect(failCall(run, 'solve', 'late')).toBe(run);
  });

  test.each(['nobody', 'solve#2', 'solve#1', 'solve#0', 'solve#x', 'solve#0.5', 'solve#', 'solve##', 'later', ''])(
    'a call %j that was not wanted is told as a fault',
    (key) => {
      const run = openRun(graphWith([oneStep.steps[0]!, llm('later', { a: 'solve' })], 'later'), { question: '' });
      expect(() => answerCall(run, key, 'x')).toThrow(/no call .* is wanted in this run/);
      expect(() => failCall(run, key, 'x')).toThrow(/no call .* is wanted in this run/);
    },
  );

  test('messages, with what is put into them, are bounded', () => {
    const long = 'x'.repeat(limits.callChars);
    expect(outcomeWith(oneStep, { question: long })).toEqual(
      failed('solve', 'its messages have more than 400000 characters'),
    );
    const two = { ...oneStep.steps[0]!, messages: [...user('{{question}}'), ...user('{{question}}')] } as Step;
    const half = { question: 'x'.repeat(limits.callChars / 2 + 1) };
    expect(outcomeWith(graphWith([two], 'solve'), half)).toEqual(failed('solve', 'its messages have more than'));
  });

  test('messages are put together when a call is made, and not held for all that wait', () => {
    let reads = 0;
    const big = {
      get text() {
        reads += 1;
        return 'x'.repeat(10_000);
      },
    };
    const each: Step = {
      ...llm('each', { question: 'input.question', item: 'one' }),
      ...{ type: 'map', over: 'input.items', as: 'one', maxItems: 100 },
    } as Step;
    const items = Array.from({ length: 100 }, (_, at) => `item ${at}`);
    const run = openRun(graphWith([each], 'each', ['question', 'items']), { question: big, items });
    expect(JSON.stringify(run.states).length).toBeLessThan(10_000);
    const before = reads;
    expect(before).toBeLessThan(10);
    const calls = wantedCalls(run);
    expect([calls.length, reads]).toEqual([100, before]);
    expect(calls[7]!.messages[0]!.content).toMatch(/^Do it. {"text":"x+"} item 7$/);
    expect(reads).toBe(before + 1);
  });

  test('messages of all calls of a run together are bounded, by whichever step they are', () => {
    const question = 'x'.repeat(limits.runChars / 20 - 'Do it. '.length);
    const many = (samples: number) => llm('many', { question: 'input.question' }, { samples });
    expect(wantedCalls(openRun(graphWith([many(20)], 'many'), { question }))).toHaveLength(20);
    const more = graphWith([many(20), llm('more', { many: 'many' })], 'more');
    const reason = "the messages of the run's model calls have more than 4000000 characters in all";
    expect(outcomeWith(more, { question })).toEqual({ status: 'failed', step: null, reason });
    expect(outcomeWith(graphWith([many(20)], 'many'), { question: `${question}!` })).toEqual(failed(null, reason));
  });

  test('what lists of lists grow to is bounded, and costs no more than the bound', () => {
    const steps = Array.from({ length: 40 }, (_, at): Step => {
      const of = at === 0 ? 'input.question' : `s${at - 1}`;
      return { id: `s${at}`, type: 'transform', op: 'list', inputs: { a: of, b: of } };
    });
    expect(outcomeWith(graphWith(steps, 's39'), { question: 'x'.repeat(100) })).toEqual(
      failed('s13', 'list gives a value that is larger than 1000000 characters'),
    );
  });

  test('an output that leads nowhere is told', () => {
    const step: Step = { id: 'pick', type: 'vote', of: ['input.question', 'input.question'], by: 'majority' };
    expect(outcomeWith(graphWith([step], 'pick.answer'), { question: 'x' })).toEqual(
      failed(null, 'pick.answer: there is no "answer" in the text "x"'),
    );
  });

  test('an output can be of the input alone only where a step is used', () => {
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

  test('runs the branch that it chooses, and no other', () => {
    const start = openRun(graph, { question: 'Q' });
    expect(keys(start)).toEqual(['kind']);
    const chosen = answered(start, 'kind', 'A SUM!');
    expect(keys(chosen)).toEqual(['hard']);
    expect(outcomeOf(answered(chosen, 'hard', '42'))).toEqual({ status: 'done', value: '42' });
  });

  test('asks for a later condition only when those before do not hold', () => {
    const other = answered(openRun(graph, { question: 'Q' }), 'kind', 'other');
    expect(keys(other)).toEqual(['second']);
    expect(keys(answered(other, 'second', '  '))).toEqual(['easy']);
    expect(outcomeOf(answered(other, 'second', 'x'))).toEqual({ status: 'done', value: 'Q' });
  });

  test('takes a field that an answer leaves out as empty, and fails on it by any other condition', () => {
    const asked = llm('kind', { q: 'input.question' }, { output: answerSchema });
    const on = (is: 'empty' | 'less') => {
      const when = is === 'empty' ? { of: 'kind.sure', is } : { of: 'kind.sure', is, value: 1 };
      const step: Step = { id: 'route', type: 'select', cases: [{ when, then: 'kind.answer' }], otherwise: 'kind' };
      return outcomeWith(graphWith([asked, step], 'route'), { question: '' }, { kind: '{"answer": "A"}' });
    };
    expect(on('empty')).toEqual({ status: 'done', value: 'A' });
    expect(on('less')).toEqual(failed('route', 'kind.sure: there is no "sure" in an object with answer'));
  });

  test('says on what its condition fails', () => {
    const when = { of: 'input.question', is: 'greater' as const, value: 3 };
    const step: Step = { id: 'route', type: 'select', cases: [{ when, then: 'input' }], otherwise: 'input' };
    expect(outcomeWith(graphWith([step], 'route'), { question: 'many' })).toEqual(
      failed('route', 'the condition on input.question: greater takes a number, and got the text "many"'),
    );
  });

  test('whose chosen step another takes too waits for it', () => {
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

  test('by majority takes what most say', () => {
    const graph = graphWith([sampled, { id: 'best', type: 'vote', over: 'solve', by: 'majority' }], 'best.answer');
    expect(outcomeWith(graph, { question: '' }, given)).toEqual({ status: 'done', value: 'one' });
  });

  test('by a judge shows it the different answers, numbered and quoted, and takes the one that it names', () => {
    let run = openRun(judged, { question: 'Q' });
    for (const [key, text] of Object.entries(given)) run = answered(run, key, text);
    const content = 'Q?\nCandidate 1:\n> one\n\nCandidate 2:\n> Candidate 9:\n> two';
    expect(wantedCalls(run)).toMatchObject([{ key: 'best', model: 'big', messages: [{ role: 'user', content }] }]);
    expect(answerCall(run, 'best', 'the second')).toMatchObject({
      problem: expect.stringContaining('names no candidate'),
    });
    expect(outcomeOf(answered(run, 'best', 'I take 2.'))).toEqual({ status: 'done', value: 'Candidate 9:\ntwo' });
  });

  test('asks no judge where all say the same', () => {
    const run = answerAll(openRun(judged, { question: 'Q' }), { solve: 'x', 'solve#2': 'X', 'solve#3': 'x ' });
    expect(outcomeOf(run)).toEqual({ status: 'done', value: 'x' });
  });

  test('fails on an empty list, and on what is no list', () => {
    const graph = graphWith([{ id: 'best', type: 'vote', over: 'input.question', by: 'majority' }], 'best');
    expect(outcomeWith(graph, { question: [] })).toEqual(
      failed('best', 'vote has nothing to choose from: the list is empty'),
    );
    expect(outcomeWith(graph, { question: 7 })).toEqual(failed('best', 'vote takes a list, and got the number 7'));
  });
});

test('a transform that fails says its step, its op and what it got', () => {
  const step: Step = { id: 'n', type: 'transform', op: 'number', inputs: { text: 'solve.answer' } };
  const graph = graphWith([oneStep.steps[0]!, step], 'n');
  expect(outcomeWith(graph, { question: '' }, { solve: 'none' })).toEqual(
    failed('n', 'number finds no number in the text "none"'),
  );
});

test('a value that no step gives a text for is put in as JSON, once', () => {
  const step = llm('solve', { q: 'input' });
  const run = openRun(graphWith([step], 'solve', []), { b: [1, '{{q}}'] });
  expect(wantedCalls(run)[0]!.messages[0]!.content).toBe('Do it. {"b":[1,"{{q}}"]}');
});

function nested(depth: number): Json {
  let value: Json = 1;
  for (let level = 0; level < depth; level++) value = [value];
  return value;
}
