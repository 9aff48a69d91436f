/**
 * run.py agrees with the interpreter: for any graph, input and answers both give the same value, or
 * both fail at a step for a reason possible in the interpreter; and they make the same calls.
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  maxStepCalls,
  type Condition,
  type Graph,
  type LlmStep,
  type Step,
  type Transform,
} from '../../../../../src/core/graphs/graph.js';
import { graphProblems } from '../../../../../src/core/graphs/validate.js';
import { answerTo, anyGraph, anyInput } from '../../../../core/graphs/cases.js';
import {
  conditionCases,
  transformCases,
  transformFailures,
  verdictCases,
} from '../../../../core/graphs/interpreter-cases.js';
import { oddAnswers, oddGraph, oddInput, rightAnswer } from './cases.js';
import { withPython } from '../../../../support/python.js';
import { runs } from '../../../../support/runs.js';
import { startDriver, type Driver } from './driver.js';
import { byKey, outcomesAt, play, type Answers } from './play.js';

const { python, ...able } = withPython();

able.describe('run.py', () => {
  let driver: Driver;
  beforeAll(() => {
    driver = startDriver(python);
  });
  afterAll(() => driver.close());

  /** Compares both; returns the outcome. */
  async function compare(graph: Graph, input: string, answers: Answers, otherwise?: string) {
    const { outcome, calls } = play(graph, input, byKey(answers, otherwise));
    const theirs = await driver.run(graph, input, answers, otherwise);
    if (outcome.status === 'done') {
      expect(theirs).toEqual({ value: JSON.stringify(outcome.value), calls });
      return 'done';
    }
    if (!('failed' in theirs)) throw new Error(`run.py gives ${theirs.value}, and not: ${JSON.stringify(outcome)}`);
    const { step, reason } = theirs.failed;
    const possible = step === null ? [outcome] : outcomesAt(graph, step, input, byKey(answers, otherwise));
    expect(possible).toContainEqual({ status: 'failed', step, reason });
    for (const [key, call] of Object.entries(theirs.calls)) {
      // The interpreter may have failed before this step.
      const { tried, ...other } = calls[key] ?? call;
      expect(call).toEqual({ ...other, tried: expect.any(Number) });
      expect(call.tried).toBeLessThanOrEqual(tried);
    }
    return step === null ? 'failed' : 'failed at a step';
  }

  test('agrees with the interpreter on any graph', async () => {
    const ends: Record<string, number> = {};
    const property = fc.asyncProperty(anyGraph, anyInput, fc.nat(5), async (graph, input, salt) => {
      const answers: Record<string, string[]> = {};
      for (const step of graph.steps) {
        for (let at = 0; at < maxStepCalls(step); at++) {
          const key = at === 0 ? step.id : `${step.id}#${at + 1}`;
          answers[key] = [answerTo(graph, key, salt)];
        }
      }
      const end = await compare(graph, JSON.stringify(input), answers);
      ends[end] = (ends[end] ?? 0) + 1;
    });
    await fc.assert(property, { numRuns: runs(25, 300) });
    expect(ends['done']).toBeGreaterThan(runs(0, 100));
  });

  test('agrees on unusual texts, numbers and JSON, and on unusable answers', async () => {
    const ends: Record<string, number> = {};
    const property = fc.asyncProperty(
      oddGraph,
      oddInput,
      oddAnswers,
      async (graph, input, { first, second, isRight }) => {
        expect(graphProblems(graph)).toEqual([]);
        const answers: Record<string, (string | null)[]> = {};
        for (const [at, step] of graph.steps.entries()) {
          const [last, other] = isRight ? [rightAnswer(step, first), rightAnswer(step, second)] : [null, second];
          const before = at % 2 === 0 ? [first, second] : [];
          for (let call = 1; call <= maxStepCalls(step); call++)
            answers[call === 1 ? step.id : `${step.id}#${call}`] = [...before, call === 2 ? other : last];
        }
        const end = await compare(graph, input, answers);
        ends[end] = (ends[end] ?? 0) + 1;
      },
    );
    await fc.assert(property, { numRuns: runs(75, 1_000) });
    expect(ends['done']).toBeGreaterThan(runs(0, 200));
    expect(ends['failed at a step']).toBeGreaterThan(runs(0, 100));
  });

  test.each(transformCases)('transforms by %j: %j', async (transform, inputs, value) => {
    const theirs = await driver.run(graphOf(transform, inputs), JSON.stringify(inputs), {});
    expect(theirs).toEqual({ value: JSON.stringify(value), calls: {} });
  });

  test.each(transformFailures)('fails with the reason of the interpreter (%#)', async (transform, inputs, reason) => {
    const theirs = await driver.run(graphOf(transform, inputs), JSON.stringify(inputs), {});
    expect(theirs).toEqual({ failed: { step: 't', reason }, calls: {} });
  });

  test.each(conditionCases)('evaluates the condition %s %j of %j: %j', async (is, value, x, holds) => {
    const when = { of: 'input.x', is, ...(value === undefined ? {} : { value }) } as Condition;
    const step: Step = { id: 't', type: 'select', cases: [{ when, then: 'input.yes' }], otherwise: 'input.no' };
    const graph: Graph = { inputs: ['x', 'yes', 'no'], steps: [step], output: 't' };
    const theirs = await driver.run(graph, JSON.stringify({ x, yes: true, no: false }), {});
    if (typeof holds === 'boolean') expect(theirs).toMatchObject({ value: String(holds) });
    else expect(theirs).toMatchObject({ failed: { step: 't', reason: `the condition on input.x: ${holds}` } });
  });

  test('treats a missing field as empty, and fails on it for any other condition', async () => {
    const graphWhen = (when: Condition): Graph => ({
      inputs: ['x'],
      steps: [{ id: 't', type: 'select', cases: [{ when, then: 'input.x' }], otherwise: 'input' }],
      output: 't',
    });
    expect(await compare(graphWhen({ of: 'input.x.k', is: 'empty' }), '{"x": {}}', {})).toBe('done');
    const equals: Condition = { of: 'input.x.k', is: 'equals', value: null };
    expect(await compare(graphWhen(equals), '{"x": {}}', {})).toBe('failed at a step');
  });

  test.each(verdictCases)('parses the verdict %j: %j', async (verdict, index) => {
    const judge = { inputs: {}, messages: [{ role: 'user' as const, content: '{{candidates}}' }], tries: 1 };
    const step: Step = { id: 'best', type: 'vote', over: 'input.list', by: { judge } };
    const graph: Graph = { inputs: ['list'], steps: [step], output: 'best' };
    const end = await compare(graph, '{"list": ["a", "b", "c", " A"]}', {}, verdict);
    expect(end).toBe(index === null ? 'failed at a step' : 'done');
  });

  test('has the interpreter’s limits of inputs, values, messages and answers', async () => {
    const half = '😀'.repeat(250_000);
    const twice: Step = { id: 't', type: 'transform', op: 'list', inputs: { a: 'input.x', b: 'input.x' } };
    const asking = (content: string): Graph => ({
      inputs: ['x'],
      steps: [
        {
          id: 's',
          type: 'llm',
          inputs: { x: 'input.x' },
          messages: [{ role: 'user', content }],
          output: { field: 'k' },
        },
      ],
      output: 's.k',
    });
    const two = asking('{{x}}');
    const [asked] = two.steps as [LlmStep];
    two.steps = [{ ...asked, messages: [...asked.messages, ...asked.messages] }];
    const many = asking('{{x}}');
    many.steps = [{ ...asked, samples: 20 }];
    many.output = 's';
    const each: Step = {
      ...asked,
      id: 'each',
      type: 'map',
      over: 'input.x.items',
      as: 'one',
      inputs: { x: 'input.x.text', y: 'one' },
    };
    const map: Graph = {
      inputs: ['x'],
      steps: [{ ...each, messages: [{ role: 'user', content: '{{x}}{{y}}' }] }],
      output: 'each',
    };
    const tenth = '😀'.repeat(199_999);
    const list = graphOf({ op: 'list' }, { x: 1 });
    for (const [graph, x, answer, end] of [
      [list, half, '', 'done'],
      [list, half + half, '', 'failed'],
      [list, { [half]: 1, ['y'.repeat(499_990)]: 1 }, '', 'done'],
      [list, { [half]: 1, ['y'.repeat(500_000)]: 1 }, '', 'failed'],
      [{ ...list, steps: [twice] }, half.slice(0, -2), '', 'done'],
      [{ ...list, steps: [twice] }, half, '', 'failed at a step'],
      [asking('{{x}}'), '😀'.repeat(200_000), '', 'done'],
      [asking('{{x}}!'), '😀'.repeat(200_000), '', 'failed at a step'],
      [two, '😀'.repeat(100_000), '', 'done'],
      [two, `${'😀'.repeat(100_000)}!`, '', 'failed at a step'],
      [many, '😀'.repeat(100_000), '', 'done'],
      [many, `${'😀'.repeat(100_000)}!`, '', 'failed'],
      [map, { text: tenth, items: Array(10).fill('ab') }, '', 'done'],
      [map, { text: tenth, items: Array(11).fill('a') }, '', 'failed'],
      [asking('{{x}}'), '', half, 'done'],
      [asking('{{x}}'), '', `${half}!`, 'failed at a step'],
    ] as const)
      expect(await compare(graph, JSON.stringify({ x }), {}, answer)).toBe(end);
  });

  test('evaluates each step once, at any number of paths to it', async () => {
    const steps = Array.from({ length: 40 }, (_, at): Step => {
      const from = (name: string) => (at < 2 ? 'asked.k' : `${name}${Math.floor(at / 2) - 1}`);
      const id = `${at % 2 === 0 ? 'a' : 'b'}${Math.floor(at / 2)}`;
      return { id, type: 'vote', of: [from('a'), from('b')], by: 'majority' };
    });
    const asked: Step = {
      id: 'asked',
      type: 'llm',
      inputs: { x: 'input.x' },
      messages: [{ role: 'user', content: '{{x}}' }],
      output: { field: 'k' },
    };
    const last: Step = { id: 'last', type: 'vote', of: ['a19', 'b19'], by: 'majority' };
    expect(await compare({ inputs: ['x'], steps: [last, ...steps, asked], output: 'last' }, '{"x": ""}', {})).toBe(
      'done',
    );
  });

  test('agrees on upper case, lower case and white space of all characters', async () => {
    const changed: Record<string, [string, string]> = {};
    let white = '';
    for (let code = 0; code < 0x110000; code++) {
      const char = String.fromCodePoint(code);
      const [lower, upper] = [char.toLowerCase(), char.toUpperCase()];
      if (lower !== char || upper !== char) changed[char] = [lower, upper];
      if (/\s/.test(char)) white += char;
    }
    const wrong = await driver.wrongCharacters(changed, white);
    // A character that this Node does not know yet.
    expect(wrong.filter(([char, , own]) => !/\p{Cn}/u.test(char + own.join('')))).toEqual([]);
  });
});

/** A graph of one transform with these inputs of the task. */
function graphOf(transform: Transform, inputs: Record<string, unknown>): Graph {
  const names = Object.keys(inputs);
  const refs = Object.fromEntries(names.map((name) => [name, `input.${name}`]));
  return { inputs: names, steps: [{ id: 't', type: 'transform', inputs: refs, ...transform }], output: 't' };
}
