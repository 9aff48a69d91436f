import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { labelsOf, readIntents, type Intent, type LabelGuide } from '../../examples/intents/container.js';
import { isCommon, splitWords } from '../../src/local-model/words.js';
import { optimize, type Found } from './optimizer.js';

// A better prompt improves rewards on unseen tasks because of its content: model and proposer know
// no data set, so other words, other labels and permuted labels make no difference.

const bank = join(import.meta.dirname, '../../examples/intents');
const guideOf = (path: string) => JSON.parse(readFileSync(path, 'utf8')) as LabelGuide;
const rngSeeds = [0, 1, 2];
const mean = (numbers: number[]) => numbers.reduce((sum, number) => sum + number, 0) / numbers.length;

function average(run: (rngSeed: number) => Found): { baseline: number; winner: number; gain: number; worst: number } {
  const found = rngSeeds.map(run);
  const baseline = mean(found.map((run) => run.baseline));
  const winner = mean(found.map((run) => run.winner));
  return {
    baseline,
    winner,
    gain: winner - baseline,
    worst: Math.min(...found.map((run) => run.winner - run.baseline)),
  };
}

let tasks: Intent[];
let guide: LabelGuide;
let server: Server;
let clinic: { tasks: Intent[]; guide: LabelGuide };

beforeAll(async () => {
  tasks = await readIntents(join(bank, 'data.jsonl'));
  guide = guideOf(join(bank, 'labels.json'));
  server = createServer((request, response) =>
    response.end(readFileSync(join(import.meta.dirname, `clinic${request.url!.slice(1)}`))),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const labels = (await (await fetch(`${url}/-labels.json`)).json()) as LabelGuide;
  clinic = { tasks: await readIntents(`${url}/.jsonl`), guide: labels };
});
afterAll(() => new Promise<void>((resolve) => void server.close(() => resolve())));

describe('a better prompt improves the reward on unseen tasks', () => {
  test('on the sample, with feedback that explains the right label', () => {
    const { baseline, gain, worst } = average((rngSeed) => optimize(tasks, guide, { training: 240, rngSeed }));
    expect(baseline).toBeLessThan(0.25);
    expect(gain).toBeGreaterThan(0.5);
    expect(worst).toBeGreaterThan(0.4);
  });

  test('on the sample, with feedback that only names the right label', () => {
    const { gain, worst } = average((rngSeed) => optimize(tasks, {}, { training: 240, rngSeed }));
    expect(gain).toBeGreaterThan(0.35);
    expect(worst).toBeGreaterThan(0.25);
  });

  test('about as much on clinic data with other words and labels, served over HTTP', () => {
    const sample = average((rngSeed) => optimize(tasks, guide, { training: 100, rngSeed }));
    const other = average((rngSeed) => optimize(clinic.tasks, clinic.guide, { training: 100, rngSeed }));
    expect(other.baseline).toBeLessThan(0.2);
    expect(other.worst).toBeGreaterThan(0.4);
    expect(other.gain).toBeGreaterThan(0.85 * sample.gain);
  });

  test('as much with permuted or meaningless labels', () => {
    const labels = labelsOf(tasks);
    const renamed = (nameOf: (at: number) => string) => {
      const names = new Map(labels.map((label, at) => [label, nameOf(at)]));
      const about = Object.fromEntries(Object.entries(guide).map(([label, text]) => [names.get(label)!, text]));
      const rows = tasks.map(({ text, label }) => ({ text, label: names.get(label)! }));
      return average((rngSeed) => optimize(rows, about, { training: 240, rngSeed }));
    };
    const exchanged = renamed((at) => labels[(at + 7) % labels.length]!);
    expect(exchanged.winner).toBeGreaterThan(0.6);
    const opaque = renamed((at) => `q${at}`);
    expect(opaque.baseline).toBeLessThan(0.15);
    expect(opaque.winner).toBeGreaterThan(0.6);
  });

  test('within its budget, and repeatably', () => {
    const once = optimize(tasks, guide, { training: 100, maxRollouts: 400 });
    expect(once.rollouts).toBeLessThanOrEqual(400);
    expect(optimize(tasks, guide, { training: 100, maxRollouts: 400 })).toEqual(once);
  });
});

test('the provider does not contain the distinguishing words of the samples', () => {
  for (const rows of [tasks, clinic.tasks]) {
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
