import { describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { labelsOf, type Intent, type LabelGuide } from '../../examples/intents/container.js';
import { isCommon, splitWords } from '../../src/local-model/words.js';
import { optimize } from './optimizer.js';

// A better prompt improves rewards on unseen tasks because of its content: model and proposer know
// no data set, so other words, other labels and permuted labels make no difference.

const bank = join(import.meta.dirname, '../../examples/intents');
const guideOf = (path: string) => JSON.parse(readFileSync(path, 'utf8')) as LabelGuide;
const rowsOf = (path: string) =>
  readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Intent);
const tasks = rowsOf(join(bank, 'data.jsonl'));
const guide = guideOf(join(bank, 'labels.json'));
const clinic = rowsOf(join(import.meta.dirname, 'clinic.jsonl'));
const clinicGuide = guideOf(join(import.meta.dirname, 'clinic-labels.json'));

const labels = labelsOf(tasks);
const renamed = (nameOf: (at: number) => string) => {
  const names = new Map(labels.map((label, at) => [label, nameOf(at)]));
  return {
    tasks: tasks.map(({ text, label }) => ({ text, label: names.get(label)! })),
    guide: Object.fromEntries(Object.entries(guide).map(([label, text]) => [names.get(label)!, text])),
  };
};

describe('a better prompt improves the reward on unseen tasks', () => {
  test.each([
    ['on the sample', { tasks, guide }, 0.6],
    ['with feedback that only names the right label', { tasks, guide: {} }, 0.45],
    ['with permuted labels', renamed((at) => labels[(at + 7) % labels.length]!), 0.6],
    ['with meaningless labels', renamed((at) => `q${at}`), 0.6],
    ['on other words and labels', { tasks: clinic, guide: clinicGuide }, 0.55],
  ])('%s', (_, sample, least) => {
    const training = sample.tasks.length > 500 ? 240 : 100;
    const found = [0, 1, 2].map((rngSeed) => optimize(sample.tasks, sample.guide, { training, rngSeed }));
    const mean = (numbers: number[]) => numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
    expect(mean(found.map(({ baseline }) => baseline))).toBeLessThan(0.25);
    expect(mean(found.map(({ winner }) => winner))).toBeGreaterThan(least);
    for (const { baseline, winner } of found) expect(winner - baseline).toBeGreaterThan(0.25);
  });
});

test('the provider does not contain the distinguishing words of the samples', () => {
  for (const rows of [tasks, clinic]) {
    const wordSets = rows.map(({ text, label }) => ({ label, words: new Set(splitWords(text)) }));
    const telling = new Set<string>();
    for (const { label, words } of wordSets) {
      for (const word of words) {
        const having = wordSets.filter((other) => other.words.has(word));
        const own = having.filter((other) => other.label === label).length;
        if (word.length > 2 && own >= 4 && own / having.length > 0.6) telling.add(word);
      }
    }
    expect(telling.size).toBeGreaterThan(10);
    // A few everyday words (`same`) happen to distinguish labels; knowing them as common words does
    // not help.
    expect([...telling].filter(isCommon).length).toBeLessThan(0.1 * telling.size);
  }
});
