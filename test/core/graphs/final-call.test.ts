/** Invariant: a call named by finalCall is the only pending one, and its text is the output. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { finalCall } from '../../../src/core/graphs/run/final-call.js';
import type { Graph, Step } from '../../../src/core/graphs/graph.js';
import { usedSteps } from '../../../src/core/graphs/refs.js';
import { answerCall, openRun, outcomeOf, pendingCalls } from '../../../src/core/graphs/run/run.js';
import type { Run } from '../../../src/core/graphs/run/state.js';
import { answerSchema, answerTo, anyGraph, anyInput, graphWith, llm, oneStep, solve } from './cases.js';
import { pureRuns } from '../../support/runs.js';

const keys = (run: Run) => pendingCalls(run).map(({ key }) => key);
const answered = (run: Run, key: string, text: string) => {
  const result = answerCall(run, key, text);
  if ('problem' in result) throw new Error(result.problem);
  return result.run;
};

/** Graphs of llm and select steps over earlier steps; the last step gives the output. */
const answersAndSelects: fc.Arbitrary<Graph> = fc
  .array(fc.tuple(fc.boolean(), fc.nat(), fc.nat(), fc.nat()), { minLength: 1, maxLength: 8 })
  .map((plans) => {
    const texts = ['input.question'];
    const steps = plans.map(([isSelect, ...by], at): Step => {
      const [first, second, third] = by.map((n) => texts[n % texts.length]!) as [string, string, string];
      const id = `s${at}`;
      texts.push(isSelect ? id : `${id}.answer`);
      const when = { of: first, is: 'contains' as const, value: 'yes' };
      return isSelect
        ? { id, type: 'select', cases: [{ when, then: second }], otherwise: third }
        : llm(id, { a: first, b: second });
    });
    const output = texts.at(-1)!;
    const used = usedSteps({ steps, output });
    return { inputs: ['question'], steps: steps.filter(({ id }) => used.has(id)), output };
  });

test('finalCall holds its invariant in any run', () => {
  const through = new Map<string, number>();
  fc.assert(
    fc.property(fc.oneof(anyGraph, answersAndSelects), anyInput, fc.nat(5), fc.nat(10), (graph, input, salt, order) => {
      let run = openRun(graph, input);
      for (let pending = keys(run); pending.length > 0; pending = keys(run)) {
        const final = finalCall(run);
        const key = final ?? pending[order % pending.length]!;
        const text = answerTo(graph, key, salt);
        run = answered(run, key, text);
        if (final === null) continue;
        expect(pending).toEqual([final]);
        expect(outcomeOf(run)).toEqual({ status: 'done', value: text });
        const { type } = graph.steps.at(-1)!;
        through.set(type, (through.get(type) ?? 0) + 1);
      }
      expect(finalCall(run)).toBeNull();
    }),
    { numRuns: pureRuns(500) },
  );
  expect(through.get('llm')).toBeGreaterThan(50);
  expect(through.get('select')).toBeGreaterThan(5);
});

describe('finalCall', () => {
  const start = (graph: Graph) => openRun(graph, { question: 'Q' });
  const named = (graph: Graph) => finalCall(start(graph));

  test('is the call of the output step once its dependencies have values', () => {
    expect(named(oneStep)).toBe('solve');
    const run = start(graphWith([solve, llm('check', { draft: 'solve.answer' })], 'check.answer'));
    expect(finalCall(run)).toBeNull();
    expect(finalCall(answered(run, 'solve', 'x'))).toBe('check');
  });

  test.each<[string, Step[], string]>([
    ['an object with the text in it', [solve], 'solve'],
    ['a field of JSON', [{ ...solve, output: answerSchema } as Step], 'solve.answer'],
    ['JSON', [{ ...solve, output: answerSchema } as Step], 'solve'],
    [
      'a field of several samples that a select has chosen',
      [
        { ...solve, samples: 2 } as Step,
        {
          id: 'route',
          type: 'select',
          otherwise: 'solve',
          cases: [{ when: { of: 'input.question', is: 'empty' }, then: 'input.question' }],
        },
      ],
      'route.answer',
    ],
    ['one of several samples', [{ ...solve, samples: 2 } as Step], 'solve'],
    ['a changed text', [solve, { id: 'up', type: 'transform', op: 'upper', inputs: { text: 'solve.answer' } }], 'up'],
    ['chosen by a vote', [solve, { id: 'pick', type: 'vote', of: ['solve', 'solve'], by: 'majority' }], 'pick.answer'],
  ])('is null if the output is %s', (_, steps, output) => {
    expect(named(graphWith(steps, output))).toBeNull();
  });

  test('follows selects once they have chosen', () => {
    const branch = (id: string) => llm(id, { q: 'input.question' });
    const select = (id: string, then: string, otherwise: string): Step => {
      return { id, type: 'select', cases: [{ when: { of: `${id}If.answer`, is: 'empty' }, then }], otherwise };
    };
    const steps = [
      ...['outerIf', 'innerIf', 'easy', 'hard'].map(branch),
      select('inner', 'hard', 'easy'),
      select('outer', 'innerIf.answer', 'inner.answer'),
    ];
    const run = start(graphWith(steps, 'outer'));
    // Its text would be the output if chosen, but the call answers the condition.
    expect([keys(run), finalCall(run)]).toEqual([['outerIf'], null]);
    expect(finalCall(answered(run, 'outerIf', ''))).toBe('innerIf');
    const inner = answered(run, 'outerIf', 'x');
    expect([keys(inner), finalCall(inner)]).toEqual([['innerIf'], null]);
    expect(finalCall(answered(inner, 'innerIf', 'x'))).toBe('easy');
    expect(finalCall(answered(inner, 'innerIf', ''))).toBe('hard');
  });

  test('is null if a condition depends on the output step', () => {
    const route: Step = {
      id: 'route',
      type: 'select',
      otherwise: 'solve.answer',
      cases: [{ when: { of: 'solve.answer', is: 'empty' }, then: 'input.question' }],
    };
    expect(named(graphWith([solve, route], 'route'))).toBeNull();
  });
});
