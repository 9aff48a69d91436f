/**
 * Worlds of lookups: the task model (one lookup per call), the proposer of texts and edits, and
 * reading graph.txt. Rewards follow a formula, so the value of a structure can be proved.
 */
import { expect, test } from '@jest/globals';
import { editsSchema } from '../../src/kinds/graph/contract/graph.js';
import { buildEditProposal, parseEdits } from '../../src/core/graphs/edits/proposal.js';
import { applyEdits } from '../../src/core/graphs/edits/edits.js';
import type { Edit } from '../../src/core/graphs/edits/editing.js';
import type { Graph } from '../../src/core/graphs/graph.js';
import { graphText } from '../../src/core/graphs/text.js';
import { buildReflection } from '../../src/core/proposals/reflection.js';
import { frozenLookupHash, lookupWorldsHash } from '../worlds/freeze.js';
import { readGraphText } from '../worlds/graph-text.js';
import { steps, townWanted } from '../worlds/lookup-texts.js';
import { lookupKinds, openLookupWorld, promptGraph, type LookupWorld } from '../worlds/lookups.js';
import { proposalOf } from './reflections.js';

const [twoStep, oneStep] = lookupKinds.map((kind) => openLookupWorld(kind, 1)) as [LookupWorld, LookupWorld];
const system = (content: string) => ({ role: 'system' as const, content });
const user = (content: string) => ({ role: 'user' as const, content });

function edited(graph: Graph, edits: readonly Edit[]): Graph {
  const applied = applyEdits(graph, edits, { models: [], maxAttempts: 72 });
  if (!applied.ok) throw new Error(JSON.stringify(applied.problems));
  return applied.graph;
}
const decomposed = (prompt: string) =>
  edited(promptGraph(prompt), [
    {
      edit: 'decompose',
      step: 'solve',
      prompt: `{{question}}\n${townWanted}`,
      messages: [system(prompt), user('{{question}}\nThe town: {{plan}}')],
    },
  ]);

test('the worlds match the frozen hash', () => {
  expect(lookupWorldsHash()).toBe(frozenLookupHash);
});

test('two-step: one call solves few inputs, more step by step, and two calls solve all', async () => {
  const { baseline, perfect, trueReward } = twoStep;
  const rewards = [];
  for (const prompt of [baseline, perfect, `${perfect}\n${steps}`]) rewards.push(await trueReward(promptGraph(prompt)));
  const [first, second, third] = rewards as [number, number, number];
  expect(first).toBeGreaterThan(0);
  expect(second).toBeGreaterThan(first);
  expect(third).toBeGreaterThan(second + 0.2);
  expect(third).toBeLessThan(0.75);
  expect(await trueReward(decomposed(perfect))).toBe(1);
  expect(await trueReward(decomposed(baseline))).toBeLessThan(0.5);
});

test('one-step: one call solves all inputs, and a second call changes nothing', async () => {
  const { baseline, perfect, trueReward } = oneStep;
  expect(await trueReward(promptGraph(perfect))).toBe(1);
  expect(await trueReward(decomposed(perfect))).toBe(1);
  expect(await trueReward(decomposed(baseline))).toBe(await trueReward(promptGraph(baseline)));
});

test('a verify step without rules keeps the draft', async () => {
  const { perfect, trueReward } = twoStep;
  const checked = edited(promptGraph(perfect), [{ edit: 'verify', step: 'solve' }]);
  expect(await trueReward(checked)).toBe(await trueReward(promptGraph(perfect)));
});

/** Failures of a prompt in a single-step graph. */
function failuresOf({ input, answer, score }: LookupWorld, prompt: string, count: number) {
  const all = Array.from({ length: 120 }, (_, seed) => {
    const output = answer([system(prompt), user(input(seed))]);
    return { input: input(seed), output, ...score(seed, output), steps: [] };
  });
  return all.filter(({ reward }) => reward === 0).slice(0, count);
}

test('the proposer adds missing words to a prompt, most of them correctly', () => {
  const { baseline: instruction, perfect, propose } = oneStep;
  const right = failuresOf(oneStep, instruction, 40).filter((failure) => {
    const answer = propose(buildReflection({ instruction, examples: [failure] }));
    const learned = proposalOf(answer, instruction).split('\n').slice(1);
    return learned.length === 1 && perfect.includes(learned[0]!);
  });
  expect(right.length).toBeGreaterThan(20);
  expect(right.length).toBeLessThan(40);
});

test('the proposer writes edits of several kinds, most of them valid', () => {
  const graph = promptGraph(twoStep.baseline);
  const failures = failuresOf(twoStep, twoStep.baseline, 100);
  const kinds = new Map<string, number>();
  for (const failure of failures) {
    const question = buildEditProposal({
      graph: graphText(graph),
      failures: [{ ...failure, calls: 1, tokens: null }],
      models: [],
      maxEdits: 3,
      attempts: { now: 3, most: 72 },
    });
    const parsed = parseEdits(twoStep.propose(question), { finishReason: 'stop', schema: editsSchema, maxEdits: 3 });
    const kind = parsed.ok ? parsed.edits[0]!.edit : 'none';
    if (parsed.ok) edited(graph, parsed.edits);
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
  }
  expect([...kinds.keys()].sort()).toEqual(['critique', 'decompose', 'none', 'prompt', 'verify', 'vote']);
  expect(kinds.get('decompose')).toBeGreaterThan(kinds.get('none')!);
});

test('readGraphText reads graph.txt, and rejects unsupported parts', () => {
  const plain = promptGraph(twoStep.perfect);
  const voted = edited(decomposed(twoStep.perfect), [{ edit: 'vote', step: 'solve', samples: 3, by: 'majority' }]);
  for (const graph of [plain, voted, edited(voted, [{ edit: 'verify', step: 'solve_vote' }])])
    expect(readGraphText(graphText(graph))).toEqual(graph);
  const [step] = plain.steps;
  const other = graphText({ ...plain, steps: [{ ...step!, model: 'm' } as typeof step & object] });
  expect(() => readGraphText(other)).toThrow('model');
});
