import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { applyEdits, attemptsLimit } from '../../../../src/core/graphs/edits/edits.js';
import type { Edit } from '../../../../src/core/graphs/edits/editing.js';
import type { Graph, LlmStep, Ref, Step } from '../../../../src/core/graphs/graph.js';
import { usedSteps } from '../../../../src/core/graphs/refs.js';
import { openRun, outcomeOf } from '../../../../src/core/graphs/run/run.js';
import { graphProblems } from '../../../../src/core/graphs/validate.js';
import { answerAll, answerSchema, anyGraph, graphWith, llm, oneStep, user } from '../cases.js';
import { pureRuns } from '../../../support/runs.js';

const rules = { models: ['big', 'small'], maxAttempts: 1_500 };
const solve = llm('solve', { question: 'input.question' }, { model: 'small' });
const trimmed: Step = { id: 'trimmed', type: 'transform', op: 'trim', inputs: { text: 'solve.answer' } };
const graph = graphWith([solve, trimmed], 'trimmed');

function edited(start: Graph, ...edits: Edit[]): Graph {
  const result = applyEdits(start, edits, rules);
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.graph;
}
const refused = (start: Graph, ...edits: Edit[]) => {
  const result = applyEdits(start, edits, rules);
  return result.ok ? 'taken' : result.problems;
};
const problem = (path: string) => ({ path, message: expect.any(String) });
const step = (of: Graph, id: string) => of.steps.find((candidate) => candidate.id === id);
const ids = (of: Graph) => of.steps.map(({ id }) => id);

describe('verify', () => {
  test('adds a step with the inputs and the draft, and redirects the users to it', () => {
    const next = edited(graph, { edit: 'verify', step: 'solve', prompt: '{{question}}? {{draft}}!' });
    expect(next).toEqual({
      ...graph,
      steps: [
        solve,
        {
          id: 'solve_verify',
          type: 'llm',
          inputs: { question: 'input.question', draft: 'solve.answer' },
          messages: user('{{question}}? {{draft}}!'),
          model: 'small',
          output: { field: 'answer' },
        },
        { ...trimmed, inputs: { text: 'solve_verify.answer' } },
      ],
    });
    const run = answerAll(openRun(next, { question: 'Q' }), { solve: 'wrong', solve_verify: ' right ' });
    expect(outcomeOf(run)).toEqual({ status: 'done', value: 'right' });
  });

  test('uses default messages unless the edit has messages', () => {
    const messages = [{ role: 'system' as const, content: 'Check.' }, ...user('{{draft}}')];
    expect(step(edited(graph, { edit: 'verify', step: 'solve', messages }), 'solve_verify')).toMatchObject({
      inputs: { draft: 'solve.answer' },
      messages,
    });
    const [message] = (step(edited(graph, { edit: 'verify', step: 'solve' }), 'solve_verify') as LlmStep).messages;
    expect(message!.content).toContain('{{question}}');
    expect(message!.content).toContain('Its answer:\n{{draft}}');
    const formed = graphWith([llm('solve', { q: 'input.question' }, { output: answerSchema })], 'solve');
    const verifier = step(edited(formed, { edit: 'verify', step: 'solve' }), 'solve_verify') as LlmStep;
    expect(verifier).toMatchObject({ inputs: { q: 'input.question', draft: 'solve' }, output: answerSchema });
    expect(verifier.messages[0]!.content).toContain(JSON.stringify((answerSchema as { schema: unknown }).schema));
  });

  test('keeps the id of a step with a long id within the limit', () => {
    const long = 'x'.repeat(64);
    const start = graphWith([{ ...solve, id: long }], `${long}.answer`);
    const short = 'x'.repeat(60);
    expect(ids(edited(start, { edit: 'verify', step: long }))).toEqual([long, `${short}_2`]);
    const critique: Edit = { edit: 'critique', step: long, critique: '{{draft}}', revise: '{{critique}}' };
    expect(ids(edited(start, critique))).toEqual([long, `${short}_2`, `${short}_3`]);
  });

  test("avoids the name of a map's item, and only that name", () => {
    const verify: Edit = { edit: 'verify', step: 'solve', prompt: '{{draft}}' };
    const over = (as: string): Step => {
      const prompt = { inputs: { item: as }, messages: user('{{item}}') };
      return { id: 'each', type: 'map', ...prompt, over: 'listed', as, output: { field: 'text' } };
    };
    const listed: Step = { id: 'listed', type: 'transform', op: 'lines', inputs: { text: 'solve.answer' } };
    const start = (as: string) => graphWith([solve, listed, over(as)], 'each');
    expect(ids(edited(start('solve_verify'), verify))).toContain('solve_verify_2');
    expect(ids(edited(start('x'), verify))).toContain('solve_verify');
  });

  test('numbers the names when applied twice', () => {
    const verify = (id: string): Edit => ({ edit: 'verify', step: id, prompt: '{{draft}}' });
    const twice = edited(oneStep, verify('solve'), verify('solve'));
    expect(ids(twice)).toEqual(['solve', 'solve_verify_2', 'solve_verify']);
    expect(step(twice, 'solve_verify')).toMatchObject({ inputs: { draft: 'solve_verify_2.answer' } });
    expect(twice.output).toBe('solve_verify.answer');
    const both = '{{draft}} {{draft_2}}';
    const again = edited(oneStep, verify('solve'), { edit: 'verify', step: 'solve_verify', prompt: both });
    expect(step(again, 'solve_verify_verify')).toMatchObject({
      inputs: { draft_2: 'solve.answer', draft: 'solve_verify.answer' },
    });
  });

  test('verifies the value chosen by a vote', () => {
    const voted = edited(graph, { edit: 'vote', step: 'solve', samples: 3, by: 'majority' });
    expect(refused(voted, { edit: 'verify', step: 'solve' })).toEqual([problem('edits[0].step')]);
    const next = edited(voted, { edit: 'verify', step: 'solve_vote' });
    expect(step(next, 'solve_vote_verify')).toMatchObject({
      inputs: { question: 'input.question', draft: 'solve_vote.answer' },
      output: { field: 'answer' },
    });
    expect(step(next, 'trimmed')).toMatchObject({ inputs: { text: 'solve_vote_verify.answer' } });
  });

  test.each<[Edit, string]>([
    [{ edit: 'verify', step: 'slove' }, 'edits[0].step'],
    [{ edit: 'verify', step: 'trimmed' }, 'edits[0].step'],
    [{ edit: 'verify', step: 'solve', prompt: 'Check {{question}}.' }, 'edits[0].prompt'],
    [{ edit: 'verify', step: 'solve', messages: user('x') }, 'edits[0].messages'],
    [{ edit: 'verify', step: 'solve', prompt: '{{draft}}', messages: [] }, 'edits[0].messages'],
    [{ edit: 'verify', step: 'solve', prompt: '{{draft}} {{topic}}' }, 'edits[0]'],
  ])('rejects %j', (edit, path) => {
    expect(refused(graph, edit)).toEqual([problem(path)]);
  });

  test('rejects a choice of values that are not answers', () => {
    const vote: Step = { id: 'v', type: 'vote', of: ['solve.answer', 'input.question'], by: 'majority' };
    expect(refused(graphWith([solve, vote], 'v'), { edit: 'verify', step: 'v' })).toEqual([problem('edits[0].step')]);
  });

  test('rejects a choice among answers of different forms', () => {
    const other = llm('other', { q: 'input.question' }, { output: { field: 'text' } });
    const vote: Step = { id: 'v', type: 'vote', of: ['solve', 'other'], by: 'majority' };
    expect(refused(graphWith([solve, other, vote], 'v'), { edit: 'verify', step: 'v' })).toEqual([
      problem('edits[0].step'),
    ]);
  });
});

describe('critique', () => {
  const edit: Edit = {
    edit: 'critique',
    step: 'solve',
    critique: 'What of {{draft}}?',
    revise: '{{question}} {{draft}} {{critique}}',
  };

  test('adds a critic and a reviser', () => {
    const next = edited(graph, edit);
    expect(ids(next)).toEqual(['solve', 'solve_critique', 'solve_revise', 'trimmed']);
    expect(step(next, 'solve_critique')).toMatchObject({
      inputs: { draft: 'solve.answer' },
      output: { field: 'critique' },
    });
    expect(step(next, 'solve_revise')).toMatchObject({
      inputs: { question: 'input.question', draft: 'solve.answer', critique: 'solve_critique.critique' },
      output: { field: 'answer' },
    });
    const run = answerAll(openRun(next, { question: 'Q' }), { solve: 'D', solve_critique: 'C', solve_revise: 'R' });
    expect(outcomeOf(run)).toEqual({ status: 'done', value: 'R' });
  });

  test.each<[Partial<Edit>, string]>([
    [{ critique: 'What?' } as Partial<Edit>, 'edits[0].critique'],
    [{ revise: '{{draft}}' } as Partial<Edit>, 'edits[0].revise'],
    [{ step: 'trimmed' }, 'edits[0].step'],
  ])('rejects %j', (change, path) => {
    expect(refused(graph, { ...edit, ...change } as Edit)).toEqual([problem(path)]);
  });
});

describe('decompose', () => {
  const edit: Edit = {
    edit: 'decompose',
    step: 'solve',
    prompt: 'Plan {{question}}.',
    messages: user('{{question}} by {{plan}}'),
  };

  test('adds a plan step before the step', () => {
    const next = edited(graph, edit);
    expect(ids(next)).toEqual(['solve_plan', 'solve', 'trimmed']);
    expect(step(next, 'solve_plan')).toMatchObject({
      inputs: { question: 'input.question' },
      output: { field: 'plan' },
      model: 'small',
    });
    expect(step(next, 'solve')).toMatchObject({
      inputs: { question: 'input.question', plan: 'solve_plan.plan' },
      messages: user('{{question}} by {{plan}}'),
    });
  });

  test('plans once for all items of a map', () => {
    const map: Step = {
      ...llm('each', { question: 'input.question', part: 'one.k' }),
      type: 'map',
      messages: user('{{question}} {{part}}'),
      over: 'input.question',
      as: 'one',
    };
    const whole = graphWith([map], 'each');
    const messages = user('{{question}} {{part}} {{plan}}');
    expect(step(edited(whole, { ...edit, step: 'each', messages } as Edit), 'each_plan')).toMatchObject({
      inputs: { question: 'input.question' },
    });
    expect(refused(whole, { ...edit, step: 'each', messages, prompt: '{{part}}' } as Edit)).toEqual([
      problem('edits[0]'),
    ]);
  });

  test('rejects messages without the plan or an input, and a step without a model', () => {
    expect(refused(graph, { ...edit, messages: user('{{question}}') } as Edit)).toEqual([problem('edits[0].messages')]);
    expect(refused(graph, { ...edit, messages: user('{{plan}}') } as Edit)).toEqual([problem('edits[0]')]);
    expect(refused(graph, { ...edit, step: 'trimmed' } as Edit)).toEqual([problem('edits[0].step')]);
  });
});

describe('vote', () => {
  const edit: Edit = { edit: 'vote', step: 'solve', samples: 3, by: 'majority' };
  const judge = { inputs: { q: 'input.question' }, messages: user('{{q}} {{candidates}}') };

  test('samples the step and votes', () => {
    const next = edited(graph, edit);
    expect(next.steps).toEqual([
      { ...solve, samples: 3 },
      { id: 'solve_vote', type: 'vote', over: 'solve', by: 'majority' },
      { ...trimmed, inputs: { text: 'solve_vote.answer' } },
    ]);
    expect(step(edited(graph, { ...edit, by: { judge: { ...judge, model: 'big' } } }), 'solve_vote')).toMatchObject({
      by: { judge: { model: 'big' } },
    });
  });

  test.each<[Partial<Edit & { edit: 'vote' }>, string]>([
    [{ samples: 1 }, 'edits[0].samples'],
    [{ samples: 2.5 }, 'edits[0].samples'],
    [{ samples: 21 }, 'edits[0].samples'],
    [{ step: 'trimmed' }, 'edits[0].step'],
    [{ by: { judge: { ...judge, model: 'huge' } } }, 'edits[0].by.judge.model'],
    [{ by: { judge: { ...judge, messages: user('{{q}}') } } }, 'edits[0]'],
  ])('rejects %j', (change, path) => {
    expect(refused(graph, { ...edit, ...change })).toEqual([problem(path)]);
  });

  test('rejects a second vote on the same step', () => {
    expect(refused(graph, edit, edit)).toEqual([problem('edits[1].step')]);
  });
});

describe('add, rewire and output', () => {
  const hint = llm('hint', { q: 'input.question' });

  test('adds a step that is used after later edits', () => {
    const next = edited(
      graph,
      { edit: 'add', step: hint },
      { edit: 'rewire', step: 'solve', input: 'hint', to: 'hint.answer' },
      { edit: 'prompt', step: 'solve', messages: user('{{question}} {{hint}}') },
    );
    expect(step(next, 'solve')).toMatchObject({ inputs: { question: 'input.question', hint: 'hint.answer' } });
    expect(edited(graph, { edit: 'add', step: hint }, { edit: 'output', to: 'hint.answer' })).toEqual({
      ...graph,
      steps: [hint],
      output: 'hint.answer',
    });
  });

  test.each<[Edit[], string]>([
    [[{ edit: 'add', step: hint }], 'edits[0]'],
    [[{ edit: 'add', step: solve }], 'edits[0].step.id'],
    [[{ edit: 'add', step: { ...hint, model: 'huge' } }], 'edits[0].step.model'],
    [
      [
        { edit: 'add', step: llm('bad id', { q: 'input' }) },
        { edit: 'output', to: 'bad id' },
      ],
      'edits[0]',
    ],
    [[{ edit: 'output', to: 'nowhere' }], 'edits[0]'],
    [[{ edit: 'output', to: 'solve.answers' }], 'edits[0]'],
    [[{ edit: 'rewire', step: 'solve', input: 'question', to: 'trimmed' }], 'edits[0]'],
    [[{ edit: 'rewire', step: 'solve', input: 'q', to: 'input' }], 'edits[0]'],
    [[{ edit: 'rewire', step: 'solve', input: 'question', to: null }], 'edits[0]'],
    [[{ edit: 'rewire', step: 'solve', input: 'q', to: null }], 'edits[0].input'],
    [[{ edit: 'rewire', step: 'trimmed', input: 'x', to: 'input' }], 'edits[0]'],
  ])('rejects %j', (edits, path) => {
    expect(refused(graph, ...edits)).toContainEqual(problem(path));
  });

  test('rewires every ref of a step', () => {
    const judge = { inputs: { q: 'input.question' }, messages: user('{{q}} {{candidates}}') };
    const vote: Step = { id: 'v', type: 'vote', of: ['solve.answer', 'input.question'], by: { judge } };
    const when = { of: 'v', is: 'empty' as const };
    const select: Step = { id: 'r', type: 'select', cases: [{ when, then: 'v' }], otherwise: 'input.question' };
    const list: Step = { id: 'l', type: 'vote', over: 'input.question', by: 'majority' };
    const all: Step = { id: 'all', type: 'transform', op: 'list', inputs: { a: 'v', b: 'r', c: 'l' } };
    const whole = graphWith([solve, vote, select, list, all], 'all');
    const indexes: [string, string][] = [
      ['v', 'of[1]'],
      ['v', 'q'],
      ['v', 'by.judge.inputs.q'],
      ['r', 'cases[0].when.of'],
      ['r', 'cases[0].then'],
      ['r', 'otherwise'],
      ['l', 'over'],
      ['all', 'c'],
      ['all', 'inputs.c'],
    ];
    for (const [id, input] of indexes) {
      const next = edited(whole, { edit: 'rewire', step: id, input, to: 'input' });
      const own = (of: Graph) => JSON.stringify(step(of, id)!).split('"input"').length;
      expect([id, input, own(next)]).toEqual([id, input, own(whole) + 1]);
    }
    expect(refused(whole, { edit: 'rewire', step: 'r', input: 'over', to: 'input' })).toEqual([
      problem('edits[0].input'),
    ]);
  });

  test('rewire to null drops an input', () => {
    const two = graphWith([llm('solve', { a: 'input.question', b: 'input' })], 'solve');
    const next = edited(
      two,
      { edit: 'rewire', step: 'solve', input: 'b', to: null },
      { edit: 'prompt', step: 'solve', messages: user('{{a}}') },
    );
    expect(step(next, 'solve')).toMatchObject({ inputs: { a: 'input.question' } });
  });
});

describe('remove', () => {
  test('reverts verify, critique and vote', () => {
    const undo = (edit: Edit, id: string) => edited(edited(graph, edit), { edit: 'remove', step: id });
    expect(undo({ edit: 'verify', step: 'solve' }, 'solve_verify')).toEqual(graph);
    const critique: Edit = { edit: 'critique', step: 'solve', critique: '{{draft}}', revise: '{{draft}} {{critique}}' };
    expect(undo(critique, 'solve_revise')).toEqual(graph);
    expect(undo({ edit: 'vote', step: 'solve', samples: 3, by: 'majority' }, 'solve_vote')).toEqual(graph);
  });

  test('removes a transform; its users take its input', () => {
    expect(edited(graph, { edit: 'remove', step: 'trimmed' })).toEqual(graphWith([solve], 'solve.answer'));
  });

  test('removes steps that become unused', () => {
    const next = edited(graph, { edit: 'output', to: 'solve.answer' });
    expect(ids(next)).toEqual(['solve']);
    expect(ids(edited(graph, { edit: 'output', to: 'solve.answer' }, { edit: 'remove', step: 'trimmed' }))).toEqual([
      'solve',
    ]);
  });

  test('removes a select with one choice', () => {
    const select: Step = {
      id: 'r',
      type: 'select',
      cases: [{ when: { of: 'input.question', is: 'empty' }, then: 'solve' }],
      otherwise: 'solve',
    };
    expect(edited(graphWith([solve, select], 'r.answer'), { edit: 'remove', step: 'r' }).output).toBe('solve.answer');
  });

  test.each<[string, Graph, string]>([
    ['a step after the input', graph, 'solve'],
    ['the output step', oneStep, 'solve'],
    [
      'a vote over several steps',
      graphWith(
        [solve, { ...solve, id: 'other' }, { id: 'v', type: 'vote', of: ['solve', 'other'], by: 'majority' }],
        'v',
      ),
      'v',
    ],
    [
      'a vote over a step with other users',
      graphWith(
        [
          { ...solve, samples: 2 },
          { id: 'v', type: 'vote', over: 'solve', by: 'majority' },
          { id: 'all', type: 'transform', op: 'list', inputs: { a: 'solve', b: 'v' } },
        ],
        'all',
      ),
      'v',
    ],
    [
      'a transform of several inputs',
      graphWith([solve, { id: 'o', type: 'transform', op: 'list', inputs: { a: 'solve', b: 'input' } }], 'o'),
      'o',
    ],
    [
      'a step with another output form',
      graphWith([solve, llm('next', { a: 'solve' }, { output: { field: 'other' } })], 'next'),
      'next',
    ],
    [
      'a step after two equal steps',
      graphWith([solve, { ...solve, id: 'other' }, llm('next', { a: 'solve', b: 'other' })], 'next'),
      'next',
    ],
  ])('rejects removing %s', (_, start, id) => {
    expect(graphProblems(start)).toEqual([]);
    expect(refused(start, { edit: 'remove', step: id })).toEqual([problem('edits[0].step')]);
  });
});

describe('model and prompt', () => {
  const voted = edited(graph, {
    edit: 'vote',
    step: 'solve',
    samples: 2,
    by: { judge: { inputs: {}, messages: user('{{candidates}}') } },
  });

  test('replace the model and the messages', () => {
    expect(step(edited(graph, { edit: 'model', step: 'solve', model: 'big' }), 'solve')).toEqual({
      ...solve,
      model: 'big',
    });
    expect(step(edited(graph, { edit: 'model', step: 'solve', model: null }), 'solve')).toEqual({
      ...solve,
      model: null,
    });
    expect(step(edited(voted, { edit: 'model', step: 'solve_vote', model: 'big' }), 'solve_vote')).toMatchObject({
      by: { judge: { model: 'big' } },
    });
    expect(
      step(
        edited(voted, { edit: 'prompt', step: 'solve_vote', messages: user('Take of {{candidates}}') }),
        'solve_vote',
      ),
    ).toMatchObject({ by: { judge: { messages: user('Take of {{candidates}}') } } });
  });

  test.each<[Edit, string]>([
    [{ edit: 'model', step: 'solve', model: 'huge' }, 'edits[0].model'],
    [{ edit: 'model', step: 'trimmed', model: 'big' }, 'edits[0].step'],
    [{ edit: 'prompt', step: 'trimmed', messages: user('x') }, 'edits[0].step'],
    [{ edit: 'prompt', step: 'solve', messages: user('x') }, 'edits[0]'],
    [{ edit: 'prompt', step: 'solve', messages: user('{{question}}{{x}}') }, 'edits[0]'],
  ])('rejects %j', (edit, path) => {
    expect(refused(graph, edit)).toEqual([problem(path)]);
  });
});

test('attributes a problem to the last edit that caused it', () => {
  const right: Edit = { edit: 'model', step: 'solve', model: 'big' };
  const bad: Edit = { edit: 'prompt', step: 'solve', messages: user('{{question}} {{x}}') };
  expect(refused(graph, right, { edit: 'verify', step: 'solve' }, bad)).toEqual([problem('edits[2]')]);
  expect(refused(graph, right, { edit: 'verify', step: 'nobody' }, bad)).toEqual([problem('edits[1].step')]);
});

test('returns a valid graph and does not modify the original', () => {
  const text = fc.constantFrom(
    '{{draft}}',
    '{{draft}} {{critique}}',
    '{{a}} {{b}} {{draft}}',
    '{{a}}{{b}}{{plan}}',
    '{{a}} {{b}}',
    'x',
  );
  const edit = (of: Graph): fc.Arbitrary<Edit> => {
    const asking = of.steps.flatMap((candidate) => (candidate.type === 'llm' ? [candidate.id] : []));
    const id = fc.oneof(
      { weight: 10, arbitrary: fc.constantFrom(...(asking.length > 0 ? asking : ids(of))) },
      { weight: 10, arbitrary: fc.constantFrom(...ids(of)) },
      { weight: 2, arbitrary: fc.constantFrom('s0_verify', 's0_vote', 'nobody') },
    );
    const ref = fc.oneof(
      id,
      id.map((candidate) => `${candidate}.answer`),
      fc.constantFrom<Ref>('input', 'input.topic', '..'),
    );
    const messages = fc.constantFrom('{{a}} {{b}}', '{{a}}{{b}}{{plan}}', 'x').map(user);
    return fc.oneof(
      fc.record({ edit: fc.constant('verify' as const), step: id }),
      fc.record({ edit: fc.constant('verify' as const), step: id, prompt: text }),
      fc.record({ edit: fc.constant('critique' as const), step: id, critique: text, revise: text }),
      fc.record({ edit: fc.constant('decompose' as const), step: id, prompt: text, messages }),
      fc.record({
        edit: fc.constant('vote' as const),
        step: id,
        samples: fc.nat(5),
        by: fc.constant('majority' as const),
      }),
      fc.record({
        edit: fc.constant('add' as const),
        step: fc.record({
          id,
          type: fc.constant('vote' as const),
          of: fc.tuple(ref, ref),
          by: fc.constant('majority' as const),
        }),
      }),
      fc.record({ edit: fc.constant('remove' as const), step: id }),
      fc.record({
        edit: fc.constant('rewire' as const),
        step: id,
        input: fc.constantFrom('a', 'over', 'of[0]', 'otherwise', 'text'),
        to: ref,
      }),
      fc.record({ edit: fc.constant('model' as const), step: id, model: fc.constantFrom('big', 'huge', null) }),
      fc.record({ edit: fc.constant('prompt' as const), step: id, messages }),
      fc.record({ edit: fc.constant('output' as const), to: ref }),
    );
  };
  const anyCase = anyGraph.chain((of) => fc.tuple(fc.constant(of), fc.array(edit(of), { minLength: 1, maxLength: 2 })));
  let taken = 0;
  fc.assert(
    fc.property(anyCase, ([of, edits]) => {
      const before = structuredClone(of);
      const result = applyEdits(of, edits, rules);
      expect(of).toEqual(before);
      if (!result.ok) {
        expect(result.problems.length).toBeGreaterThan(0);
        for (const { path } of result.problems) expect(path).toMatch(/^edits(\[\d\](\..+)?)?$/);
        return;
      }
      taken++;
      expect(graphProblems(result.graph)).toEqual([]);
      expect(usedSteps(result.graph).size).toBe(result.graph.steps.length);
    }),
    { numRuns: pureRuns(1_000) },
  );
  expect(taken).toBeGreaterThan(50);
});

describe('model calls of a run', () => {
  const add = (id: string, more: Partial<LlmStep> = {}): Edit => ({
    edit: 'add',
    step: llm(id, { draft: 'solve.answer' }, more),
  });
  const use = (id: string): Edit => ({ edit: 'rewire', step: 'trimmed', input: 'text', to: `${id}.answer` });
  const bounded = (start: Graph, maxAttempts: number, ...edits: Edit[]) =>
    applyEdits(start, edits, { ...rules, maxAttempts });

  test('the limit is four times the first graph, or 24 calls with default tries', () => {
    expect(attemptsLimit(oneStep)).toBe(24 * 3);
    expect(attemptsLimit(graphWith([llm('solve', {}, { samples: 5, tries: 7 })], 'solve'))).toBe(4 * 5 * 7);
  });

  test('the limit includes all tries of all steps', () => {
    const start = graphWith([{ ...solve, tries: 10 }, trimmed], 'trimmed');
    const vote: Edit = { edit: 'vote', step: 'solve', samples: 2, by: 'majority' };
    expect(bounded(start, 20, vote)).toMatchObject({ ok: true });
    expect(bounded(start, 19, vote)).toEqual({
      ok: false,
      problems: [
        {
          path: 'edits',
          message: 'may make 20 model calls per run with all tries; at most 19 are allowed',
        },
      ],
    });
    expect(bounded(start, 13, add('check'), use('check'))).toMatchObject({ ok: true });
    expect(bounded(start, 12, add('check'), use('check'))).toMatchObject({ ok: false });
  });

  test.each<[string, Edit, string]>([
    ['tries', add('check', { tries: 1 }), 'edits[0].step.tries'],
    ['time-outs', add('check', { timeoutS: 1 }), 'edits[0].step.timeout_s'],
    [
      'tries of a judge',
      {
        edit: 'vote',
        step: 'solve',
        samples: 2,
        by: { judge: { inputs: {}, messages: user('{{candidates}}'), tries: 2 } },
      },
      'edits[0].by.judge.tries',
    ],
    [
      'time-outs of a judge',
      {
        edit: 'add',
        step: {
          id: 'v',
          type: 'vote',
          of: ['solve', 'trimmed'],
          by: { judge: { inputs: {}, messages: user('{{candidates}}'), timeoutS: 9 } },
        },
      },
      'edits[0].step.by.judge.timeout_s',
    ],
  ])('rejects an edit that sets %s', (_, edit, path) => {
    expect(refused(graph, edit, use('check'))).toEqual([problem(path)]);
  });
});
