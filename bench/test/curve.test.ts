/** Statistics of small trajectories, and their file. */
import { afterAll, expect, test } from '@jest/globals';
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { appendTrajectory, readTrajectories } from '../curve/file.js';
import { difference, estimate, sd, summaryTables } from '../curve/summary.js';
import { trajectorySteps, searchKey, rewardAt, type Trajectory } from '../curve/trajectory.js';

const folder = mkdtempSync(join(tmpdir(), 'ratchet-curve-'));
afterAll(() => rmSync(folder, { recursive: true }));

const trajectory = (optimizer: string, world: number, ...rewards: number[]): Trajectory => ({
  optimizer,
  kind: 'rules',
  world,
  shuffledFeedback: false,
  maxRollouts: 1_600,
  worlds: 'hash',
  rollouts: 1_600,
  steps: rewards.map((trueReward, at) => ({ rollouts: 100 * (at + 1), trueReward })),
});

test('a curve has a step for each new best candidate by validation; ties keep the earlier candidate', () => {
  const truth = { a: 0.1, b: 0.6, c: 0.9, d: 0.5 } as Record<string, number>;
  const candidates = [
    { texts: { instruction: 'a' }, reward: 0.2, rollouts: 50 },
    { texts: { instruction: 'b' }, reward: 0.4, rollouts: 106 },
    { texts: { instruction: 'c' }, reward: 0.4, rollouts: 162 },
    { texts: { instruction: 'd' }, reward: 0.7, rollouts: 230 },
  ];
  expect(trajectorySteps(candidates, (texts) => truth[texts['instruction']!]!)).toEqual([
    { rollouts: 50, trueReward: 0.1 },
    { rollouts: 106, trueReward: 0.6 },
    { rollouts: 230, trueReward: 0.5 },
  ]);
});

test('rewardAt returns the reward of the last step up to a number of rollouts', () => {
  const { steps } = trajectory('gepa', 1, 0.1, 0.4);
  expect([99, 100, 199, 200, 1_600].map((rollouts) => rewardAt(steps, rollouts))).toEqual([0.1, 0.1, 0.1, 0.4, 0.4]);
  expect(() => rewardAt([], 100)).toThrow('nothing was validated');
});

test('sd and t interval match tables of Student’s t', () => {
  expect(sd([2, 4, 4, 4, 5, 5, 7, 9])).toBeCloseTo(2.138, 3);
  // Ten values with mean 5.5 and sd 3.028: half the interval is 2.262 * 3.028 / sqrt(10).
  const { mean, low, high, count } = estimate([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  expect([mean, low, high, count]).toEqual([5.5, expect.closeTo(3.334, 3), expect.closeTo(7.666, 3), 10]);
  // With 60 degrees of freedom t is 2.000.
  const many = Array.from({ length: 61 }, (_, i) => i);
  expect((estimate(many).high - 30) / (sd(many) / Math.sqrt(61))).toBeCloseTo(2, 2);
  expect(() => estimate([1])).toThrow('needs two values');
});

test('a difference is paired over the worlds that both optimizers searched', () => {
  const base = [trajectory('gepa', 1, 0.1), trajectory('gepa', 2, 0.8), trajectory('gepa', 3, 0.4)];
  const other = [trajectory('other', 2, 0.9), trajectory('other', 1, 0.2), trajectory('other', 4, 1)];
  const { mean, low, high, count } = difference(other, base, 100);
  expect([mean, low, high, count]).toEqual([expect.closeTo(0.1), expect.closeTo(0.1), expect.closeTo(0.1), 2]);
  const foreign = other.map((own) => ({ ...own, worlds: 'another hash' }));
  expect(() => difference(foreign, base, 100)).toThrow();
});

test('the tables show means, standard deviations and differences from the first optimizer', () => {
  const trajectories = [
    trajectory('gepa', 1, 0.1, 0.3),
    trajectory('gepa', 2, 0.3, 0.5),
    trajectory('other', 1, 0.2, 0.6),
    trajectory('other', 2, 0.6, 0.6),
    { ...trajectory('gepa', 1, 0), shuffledFeedback: true },
  ];
  expect(summaryTables(trajectories, [100, 200]).split('\n')).toEqual([
    '| true reward: mean (sd) | optimizer | worlds | 100 | 200 |',
    '| --- | --- | --- | --- | --- |',
    '| rules | gepa | 2 | 0.200 (0.141) | 0.400 (0.141) |',
    '| rules | other | 2 | 0.400 (0.283) | 0.600 (0.000) |',
    '| rules, shuffled | gepa | 1 | 0.000 | 0.000 |',
    '',
    '| difference: mean (95 %) | optimizer | 100 | 200 |',
    '| --- | --- | --- | --- |',
    '| rules | other over gepa | 0.200 (-1.071 to 1.471) | 0.200 (-1.071 to 1.471) |',
  ]);
});

test('a file returns added trajectories, keys include all settings, and an incomplete line is reported', async () => {
  const path = join(folder, 'new', 'curve.jsonl');
  expect(await readTrajectories(path)).toEqual([]);
  const all = [trajectory('gepa', 1, 0.1), trajectory('gepa', 2, 0.2)];
  for (const item of all) await appendTrajectory(path, item);
  expect(await readTrajectories(path)).toEqual(all);
  const [first] = all as [Trajectory];
  const changes = [{ optimizer: 'x' }, { kind: 'strict' as const }, { world: 9 }, { shuffledFeedback: true }];
  const more = [{ maxRollouts: 9 }, { worlds: 'x' }, {}];
  expect(new Set([...changes, ...more].map((other) => searchKey({ ...first, ...other }))).size).toBe(7);
  const outcome = { ...first, rollouts: 1, steps: [] };
  expect(searchKey(outcome)).toBe(searchKey(first));
  appendFileSync(path, '{"optimizer":');
  await expect(readTrajectories(path)).rejects.toThrow('trajectory 3 is incomplete');
});
