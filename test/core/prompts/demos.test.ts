import { describe, expect, test } from '@jest/globals';
import { demosForCall, demosForSeed, renderPrompt, roomForDemos, type Demo } from '../../../src/core/prompts/demos.js';
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

describe('room for demonstrations', () => {
  const all = (count: number, tokens: number) => Array.from({ length: count }, () => tokens);

  test('is for 16 of any length, and for more within 4,000 tokens, read or expected', () => {
    expect(roomForDemos(all(200, 10))).toBe(100);
    expect(roomForDemos(all(200, 1_000))).toBe(16);
    expect(roomForDemos(all(200, 100))).toBe(40);
    expect(roomForDemos(all(8, 100))).toBe(40);
    expect(roomForDemos([...all(18, 200), ...all(60, 10)])).toBe(58);
    expect(roomForDemos([])).toBe(100);
  });

  test('ends where the limit of the prompt does', () => {
    expect(roomForDemos(all(200, 100), 1_050)).toBe(10);
    expect(roomForDemos(all(4, 100), 1_050)).toBe(10);
    expect(roomForDemos(all(200, 100), -1)).toBe(0);
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
