import { describe, expect, test } from '@jest/globals';
import { editsSchema } from '../../src/contracts/graphs/graph.js';
import { buildEditProposal, parseEdits, type FailedRun } from '../../src/core/graphs/edits/proposal.js';
import { applyEdits } from '../../src/core/graphs/edits/edits.js';
import type { Graph, LlmStep } from '../../src/core/graphs/graph.js';
import { singleStepGraph } from '../../src/core/graphs/single-step.js';
import { graphText } from '../../src/core/graphs/text.js';
import { localSays } from './evolve.js';

// The runs in the prompt determine the edits, and every answer can be applied.
const single = singleStepGraph([{ role: 'system', content: 'Answer.' }], ['facts', 'question']);
const facts =
  'The keeper of Alder is Birk. The keeper of Fir is Mo. The height of Birk is 2 m. The height of Mo is 3 m.';
const failed = (
  question: string,
  expected: string,
  steps: Record<string, string>,
  more: Partial<FailedRun> = {},
): FailedRun => ({
  input: JSON.stringify({ facts, question }),
  output: Object.values(steps).at(-1) ?? '',
  feedback: `Wrong.\nExpected: ${expected}\nGiven: x`,
  ...{ reward: 0, calls: 1, tokens: null },
  steps: Object.entries(steps).map(([step, value]) => ({ step, value })),
  ...more,
});

function propose(graph: Graph, failures: FailedRun[]) {
  const request = { graph: graphText(graph), failures, models: ['local'], maxEdits: 3, attempts: { now: 1, most: 72 } };
  const parsed = parseEdits(localSays(buildEditProposal(request)), {
    ...{ finishReason: 'stop', schema: editsSchema, maxEdits: 3 },
  });
  if (!parsed.ok) throw new Error(parsed.reason);
  const applied = applyEdits(graph, parsed.edits, { models: ['local'], maxAttempts: 72 });
  if (!applied.ok) throw new Error(JSON.stringify(applied.problems));
  return { edits: parsed.edits, names: parsed.edits.map(({ edit }) => edit), graph: applied.graph };
}

const two = failed('How high reaches the guard of Alder?', '2 m', { solve: 'Birk' });

describe('edits', () => {
  test('add a step if more lookups lead to the answer than there are steps in a row, and no more', () => {
    const once = propose(single, [two]);
    expect(once.names).toEqual(['decompose']);
    expect(once.graph.steps.map(({ id }) => id)).toEqual(['solve_plan', 'solve']);
    const astray = {
      ...two,
      steps: [
        { step: 'solve_plan', value: 'Mo' },
        { step: 'solve', value: '3 m' },
      ],
    };
    const again = propose(once.graph, [astray]);
    expect(again.names).not.toContain('decompose');
    const third = facts.replace('Alder is Birk', 'Alder is Fir').replace('Fir is Mo', 'Fir is Birk');
    const three = {
      ...astray,
      input: JSON.stringify({ facts: third, question: 'How high is what guards the guard of Alder?' }),
    };
    expect(propose(once.graph, [three]).graph.steps.map(({ id }) => id)).toEqual([
      'solve_plan_plan',
      'solve_plan',
      'solve',
    ]);
  });

  test('improve messages if the lookup is right and the answer is not', () => {
    const one = failed('How high is Birk?', '2 m', { solve: 'The keeper of Alder is Birk' });
    const { names, graph } = propose(single, [one]);
    expect(names).toEqual(['prompt']);
    expect((graph.steps[0] as LlmStep).messages[0]!.content).toContain('- `height`: also high.');
  });

  test('choose the edit that explains most runs', () => {
    const one = failed('How high is Birk?', '2 m', { solve: 'x' });
    expect(propose(single, [one, two, two]).names).toEqual(['decompose']);
    expect(propose(single, [one, one, two]).names).toEqual(['prompt']);
  });

  test('connect an unused input that contains the answer', () => {
    const solve = single.steps[0] as LlmStep;
    const messages = [{ role: 'user' as const, content: '{{question}}' }];
    const blind: Graph = { ...single, steps: [{ ...solve, inputs: { question: 'input.question' }, messages }] };
    const { names, graph } = propose(blind, [failed('How high is Birk?', '2 m', { solve: 'x' })]);
    expect(names).toEqual(['rewire', 'prompt']);
    expect((graph.steps[0] as LlmStep).inputs).toMatchObject({ facts: 'input.facts' });
  });

  test('bypass a check that spoils answers; add a judge’s vote if it also repairs as many', () => {
    const checked = applyEdits(single, [{ edit: 'verify', step: 'solve' }], { models: [], maxAttempts: 72 }) as {
      graph: Graph;
    };
    const spoiled = failed('How high is Birk?', '2 m', { solve: '2 m', solve_verify: '3 m' });
    expect(propose(checked.graph, [spoiled, spoiled]).graph.steps.map(({ id }) => id)).toEqual(['solve']);
    const other = failed('How high is Mo?', '3 m', { solve: '2 m', solve_verify: '2 m' });
    const { names, graph } = propose(checked.graph, [spoiled, other, spoiled]);
    expect(names).toEqual(['add', 'output']);
    expect(graph.output).toBe('chosen');
  });

  test('add a critic for a missing part, and a check for an unexplained failure', () => {
    const lacking = failed('x', '', { solve: 'x' }, { feedback: '- tone: 0.5 of 1. It lacks: thanks.' });
    const { names, edits } = propose(single, [lacking]);
    expect([names, JSON.stringify(edits)]).toEqual([['critique'], expect.stringContaining('It lacks: thanks.')]);
    expect(propose(single, [{ ...lacking, feedback: '' }]).names).toEqual(['verify']);
  });
});
