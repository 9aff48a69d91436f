import { expect, test } from '@jest/globals';
import { createHash } from 'node:crypto';
import { range } from '../../../support/range.js';
import type { Approach } from '../../../../src/core/proposals/approach.js';
import { config, drive, proposed, type World } from './driver.js';

// A model of open text: a change of the prompt changes answers on rows that it was not written for,
// so a gain on a few rows may be a loss over all. Each prompt has a true share of right answers.

interface Kind {
  base: number;
  /** Share of the possible gain that rows as turns, and a text, make; negative: a loss. */
  turns: { mean: number; sd: number };
  /** Failing rows from which on the mean gain is whole. */
  enough?: number;
  text: { mean: number; sd: number };
  /** By the form of the question; others: `text`. */
  forms?: Partial<Record<Approach, Kind['text']>>;
}

interface Prompt {
  share: number;
  /** Its share without turns. */
  text: number;
  turns: readonly number[];
  /** In 0 to 1; an answer is right below `share`. */
  difficulty(seed: number): number;
}

const best = 0.92;
/** Answers that a change draws anew. */
const redrawn = { turns: 0.35, text: 0.25, sentences: 0.15 };

const uniform = (...key: (string | number)[]) =>
  createHash('sha1').update(key.join('|')).digest().readUInt32BE(0) / 2 ** 32;
const normal = ({ mean, sd }: Kind['text'], ...key: (string | number)[]) =>
  mean + sd * Math.sqrt(-2 * Math.log(1 - uniform(...key, 'a'))) * Math.cos(2 * Math.PI * uniform(...key, 'b'));
const moved = (share: number, by: number) =>
  Math.max(0.02, Math.min(0.98, by > 0 ? share + (best - share) * Math.min(1, by) : share * (1 + by)));
const standard = { mean: 0, sd: 1 };
/** The share of the variance of sets of turns that their rows explain, each for itself. */
const ofRows = 0.6;

function openText(run: number, kind: Kind): { world: World; prompts: Map<number, Prompt> } {
  const base: Prompt = {
    share: kind.base,
    text: kind.base,
    turns: [],
    difficulty: (seed) => uniform(run, 'base', seed),
  };
  const prompts = new Map([[0, base]]);
  const seedOf = new Map<number, number>();
  const isRight = (prompt: Prompt, seed: number) => prompt.difficulty(seed) < prompt.share;
  const add = (id: number, parent: Prompt, share: number, changed: Partial<Prompt>, anew: number) => {
    const difficulty = (seed: number) =>
      uniform(run, id, 'anew', seed) < anew ? uniform(run, id, seed) : parent.difficulty(seed);
    prompts.set(id, { ...parent, ...changed, share, difficulty });
  };
  const world: World = {
    rollout({ ordinal, candidate, seed }) {
      seedOf.set(ordinal, seed);
      return Number(isRight(prompts.get(candidate)!, seed));
    },
    propose(request) {
      const { candidate, compose, merge } = request;
      const parent = prompts.get(merge?.[0] ?? request.parent)!;
      if (compose) {
        const turns = compose.demos[0]!.labeled.map((ordinal) => seedOf.get(ordinal)!);
        const failing = turns.filter((seed) => !isRight(base, seed)).length;
        const mean = kind.turns.mean * (0.1 + 0.9 * Math.min(1, failing / (kind.enough ?? 12)));
        const values = turns.map((seed) => normal(standard, run, 'row', seed));
        const ofSet = normal(standard, run, candidate);
        const row = values.reduce((total, value) => total + value, 0) / Math.sqrt(values.length);
        const gain = mean + kind.turns.sd * (Math.sqrt(ofRows) * row + Math.sqrt(1 - ofRows) * ofSet);
        add(candidate, parent, moved(parent.text, gain), { turns }, redrawn.turns);
      } else if (request.kind === 'ablate') {
        if (parent.text === base.text) return { outcome: 'failed', reason: 'no sentence is new' };
        const text = base.text + (parent.text - base.text) * (0.2 + 0.8 * uniform(run, candidate, 'left'));
        add(candidate, parent, parent.share + text - parent.text, { text }, redrawn.sentences);
      } else if (!merge) {
        const form = kind.forms?.[request.approach ?? 'revise'] ?? kind.text;
        const text = moved(parent.text, normal(form, run, candidate));
        add(candidate, parent, moved(parent.share, text / parent.text - 1), { text }, redrawn.text);
      } else add(candidate, parent, parent.share, {}, 0);
      return proposed(request);
    },
    findDemos: ({ ordinals }) => ({
      components: ['system'],
      slots: [{ component: null, bootstrapped: [], labeled: ordinals, sameAnswer: [], room: 100 }],
    }),
  };
  return { world, prompts };
}

const runs = 24;

/** The mean true share of the winners. */
function winners(kind: Kind, maxRollouts: number): number {
  const shares = range(0, runs).map((run) => {
    const { world, prompts } = openText(run, kind);
    const settings = { populationSize: 2, generations: 499, demonstrations: 64, rngSeed: run };
    const seeds = { trainSeeds: range(0, 60), evaluationSeeds: range(100, 40) };
    const { state } = drive(config({ ...settings, ...seeds, maxRollouts }), world);
    return prompts.get(state.best!.candidate)!.share;
  });
  return shares.reduce((total, share) => total + share, 0) / runs;
}

test.each<[string, Kind, [budget: number, least: number][]]>([
  [
    'turns help, most texts harm',
    { base: 0.6, turns: { mean: 0.8, sd: 0.16 }, text: { mean: -0.25, sd: 0.25 } },
    [
      [200, 0.79],
      [400, 0.85],
    ],
  ],
  [
    'turns help a little, texts more',
    { base: 0.5, turns: { mean: 0.2, sd: 0.1 }, text: { mean: 0.12, sd: 0.2 } },
    [
      [200, 0.61],
      [400, 0.67],
    ],
  ],
  [
    'only texts written from many failures help',
    {
      base: 0.3,
      turns: { mean: 0.2, sd: 0.12 },
      text: { mean: -0.3, sd: 0.15 },
      forms: { contrast: { mean: 0.1, sd: 0.2 } },
    },
    [
      [200, 0.54],
      [400, 0.68],
    ],
  ],
  [
    'only texts written from few failures help',
    {
      base: 0.3,
      turns: { mean: 0.2, sd: 0.12 },
      text: { mean: -0.3, sd: 0.15 },
      forms: { revise: { mean: 0.1, sd: 0.2 } },
    },
    [
      [200, 0.55],
      [400, 0.66],
    ],
  ],
  [
    'sets differ, texts harm',
    { base: 0.3, turns: { mean: 0.4, sd: 0.25 }, text: { mean: -0.25, sd: 0.2 } },
    [
      [200, 0.56],
      [400, 0.69],
    ],
  ],
  [
    'each row more helps, most texts harm',
    { base: 0.2, turns: { mean: 0.8, sd: 0.1 }, enough: 48, text: { mean: -0.1, sd: 0.2 } },
    [
      [200, 0.64],
      [400, 0.82],
    ],
  ],
])('%s', (_, kind, bars) => {
  for (const [budget, least] of bars) expect(winners(kind, budget)).toBeGreaterThan(least);
});
