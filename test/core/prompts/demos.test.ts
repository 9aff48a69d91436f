import { describe, expect, test } from '@jest/globals';
import { demosForCall, demosForSeed, renderPrompt, type Demo } from '../../../src/core/prompts/demos.js';
import type { Message } from '../../../src/core/prompts/message.js';

const demo = (seed: number | null, component: string | null = null): Demo => ({
  component,
  seed,
  ordinal: 7,
  input: `in ${seed}`,
  output: `out ${seed}`,
});
const pair = (seed: number | null): Message[] => [
  { role: 'user', content: `in ${seed}` },
  { role: 'assistant', content: `out ${seed}` },
];
const system = (content: string, name?: string): Message => ({
  role: 'system',
  content,
  ...(name !== undefined && { name }),
});
const user: Message = { role: 'user', content: 'own' };

describe('renderPrompt', () => {
  test('inserts demonstrations after the leading system messages, in order', () => {
    const [a, b, late] = [system('a'), system('b'), system('late')];
    const demos = [demo(2), demo(1)];
    expect(renderPrompt([a, b, user, late], demos)).toEqual([a, b, ...pair(2), ...pair(1), user, late]);
    const greeting: Message = { role: 'assistant', content: 'hello' };
    expect(renderPrompt([a, greeting], demos)).toEqual([a, ...pair(2), ...pair(1), greeting]);
    expect(renderPrompt([a], demos)).toEqual([a, ...pair(2), ...pair(1)]);
    expect(renderPrompt([user], demos)).toEqual([...pair(2), ...pair(1), user]);
    expect(renderPrompt([], demos)).toEqual([...pair(2), ...pair(1)]);
  });

  test('inserts demonstrations of a component after its message', () => {
    const [plan, act] = [system('p', 'plan'), system('a', 'act')];
    expect(renderPrompt([plan, act], [demo(1, 'act'), demo(2, 'plan'), demo(3, 'gone'), demo(4, 'act')])).toEqual([
      plan,
      ...pair(2),
      act,
      ...pair(1),
      ...pair(4),
    ]);
    expect(renderPrompt([plan, act], [])).toEqual([plan, act]);
  });
});

describe('demonstration selection', () => {
  test('excludes the instance of the rollout; includes all without a seed', () => {
    const demos = [demo(0), demo(1), demo(null), demo(0)];
    expect(demosForSeed(demos, 0)).toEqual([demo(1), demo(null)]);
    expect(demosForSeed(demos, 9)).toEqual(demos);
    expect(demosForSeed(demos, null)).toEqual(demos);
  });

  test('includes those of the first marked component in the prompt’s order, and those without component', () => {
    const prompt = [system('p', 'plan'), system('a', 'act')];
    const demos = [demo(0, 'act'), demo(1, 'plan'), demo(2)];
    const seeds = (...marked: string[]) => demosForCall(demos, prompt, new Set(marked)).map(({ seed }) => seed);
    expect(seeds('act', 'plan')).toEqual([1, 2]);
    expect(seeds('other', 'act')).toEqual([0, 2]);
    expect(seeds()).toEqual([2]);
    expect(demosForCall(demos, null, new Set(['act']))).toEqual([demo(2)]);
  });
});
