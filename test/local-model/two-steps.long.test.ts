import { describe, expect, test } from '@jest/globals';
import { drawsOf } from '../../examples/two-steps/draws.js';
import { groupsOfTask, initialPrompt, taskOf, twoStepTasks } from '../../examples/two-steps/tasks.js';
import { company, type Theme } from '../../examples/two-steps/themes.js';
import { isCommon, splitWords } from '../../src/local-model/words.js';
import type { PromptMessage } from '../../src/core/graphs/graph.js';
import { singleStepGraph } from '../../src/core/graphs/single-step.js';
import { evolve, localSays, meanReward } from './evolve.js';

// On two-step questions no single call beats chance with any prompt; a graph of two calls does.
const start = singleStepGraph([{ role: 'system', content: initialPrompt }], ['facts', 'question']);
const budget = { rolloutBudget: 400, effort: 'medium' } as const;

test('a seed always makes the same tasks', () => {
  expect(twoStepTasks(3, 20)).toEqual(twoStepTasks(3, 20));
  expect(twoStepTasks(3, 20)).not.toEqual(twoStepTasks(4, 20));
});

describe('a single call', () => {
  /** A prompt of random pieces: guidance, orders, formats and statements of tasks. */
  function prompts(theme: Theme, count: number): PromptMessage[][] {
    const draws = drawsOf(5);
    const all = [...theme.links, ...theme.ofThings, ...theme.ofGroups];
    const guidance = all.map(({ name, asked }) => `- \`${name}\`: above all ${asked.join(', ')}.`).join('\n');
    const pieces = [
      `What to look up, by how it is asked for:\n${guidance}`,
      'Give what is found alone, and nothing else.',
      'First find the group that it belongs to, then look up what is said of that group, step by step.',
      `Answer like \`${theme.ofGroups[0]!.values[0]!}\`.`,
      `Labels: ${theme.ofGroups.flatMap(({ values }) => values).join(', ')}`,
      ...theme.groups.map((group) => `about: ${group}`),
      ...theme.things.map((thing) => `${thing} belongs to ${draws.pick(theme.groups)}.`),
      'Answer with JSON: {"answer": "…"}',
      `about: ${theme.ofGroups.map(({ name }) => name).join(', ')}`,
      'question: {{question}}',
      'facts: {{facts}}',
      '{{facts}} {{question}}',
      'plan: {{facts}}',
    ];
    return Array.from({ length: count }, () => {
      const [system, ahead, behind] = [1, 2, 3].map(() => draws.some(pieces, draws.pick([0, 1, 2, 4])).join('\n\n'));
      return [
        { role: 'system', content: system! },
        { role: 'user', content: `${ahead}\n\nfacts: {{facts}}\n\nquestion: {{question}}\n\n${behind}` },
      ];
    });
  }

  test('is right for at most one kind of relation between things and groups', () => {
    const ways = Array.from({ length: groupsOfTask }, (_, way) => way);
    const rates = prompts(company, 120).map((messages) => {
      const right = [0, 1, 2, 3].flatMap((seed) =>
        ways.map((way) => {
          const { facts, question, answer } = taskOf(company, drawsOf(seed), 2, way);
          const fill = (text: string) => text.replaceAll('{{facts}}', facts).replaceAll('{{question}}', question);
          const said = localSays(messages.map(({ role, content }) => ({ role, content: fill(content) })));
          return said.replace(/^\{"answer":"(.*)"\}$/, '$1') === answer;
        }),
      );
      return right.filter(Boolean).length / right.length;
    });
    expect(Math.max(...rates)).toBeLessThanOrEqual(1 / groupsOfTask);
    // Some prompts guess.
    expect(Math.max(...rates)).toBeGreaterThan(0);
  });
});

describe.each([
  ['the words of the sample', 0],
  ['invented words', 7],
])('with %s', (_, seed) => {
  const tasks = twoStepTasks(seed, 100);
  const fresh = twoStepTasks(seed, 300).slice(100);
  const found = [0, 1].map((rngSeed) => {
    const search = (edits: boolean) => evolve(start, tasks, { ...budget, rngSeed }, { edits });
    return { graph: search(true), prompt: search(false) };
  });

  test('finds a graph that clearly beats the best prompt on unseen tasks', () => {
    for (const { graph, prompt } of found) {
      const [evolved, best] = [meanReward(graph.best, fresh), meanReward(prompt.best, fresh)];
      expect(graph.best.steps.length).toBe(2);
      expect(graph.view.verdict).toMatchObject({ verdict: 'better', basis: 'heldout' });
      expect(best).toBeGreaterThan(0.05);
      expect(best).toBeLessThan(1 / 4 + 3 / 4 / groupsOfTask);
      expect(evolved).toBeGreaterThan(best + 0.4);
    }
  });

  test('needs learned words as well as structure', () => {
    const { graphs, view } = found[0]!.graph;
    const first = view.candidates.find(({ candidate }) => graphs.get(candidate)!.steps.length === 2)!;
    expect(meanReward(found[0]!.graph.best, fresh)).toBeGreaterThan(
      meanReward(graphs.get(first.candidate)!, fresh) + 0.15,
    );
  });
});

test('the provider does not contain the words of the sample', () => {
  const { things, groups, links, ofThings, ofGroups } = company;
  const said = [...things, ...groups, ...[...links, ...ofThings, ...ofGroups].map(({ name }) => name)];
  const values = [...ofThings, ...ofGroups].flatMap((relation) => relation.values);
  expect([...said, ...values].flatMap(splitWords).filter(isCommon)).toEqual([]);
});
