import { expect, test } from '@jest/globals';
import { packAnswers, packRequests } from '../../../../src/core/batches.js';
import { gepa } from '../../../../src/core/gepa/lockstep/step.js';
import { gepaLimits, type GepaConfig } from '../../../../src/core/gepa/config.js';
import type { Answers, SearchView, Work } from '../../../../src/core/work.js';
import { config, drive, scoring, type World } from './driver.js';

// What a session at its limits makes Temporal carry: the state of a run that continues as new, and the input and the answer
// of each activity. Temporal refuses a payload of 2 MB; all of them stay below a quarter of that.

const most = 500_000;
const bytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

/** The longest a seed can be written, and distinct ones. */
const longSeeds = (count: number) => Array.from({ length: count }, (_, i) => -(2 ** 53 - 1) + i);
/** Rewards as long as a number is written, the same for the same arguments, between 0 and 1e-300. */
function longReward(candidate: number, seed: number): number {
  const mixed = Math.imul(Math.imul(candidate + 1, 0x9e3779b1) ^ (Math.abs(seed) % 2 ** 31), 0x85ebca6b) >>> 0;
  return -((mixed + 0.123456789) / 2 ** 32) * 1e-300;
}

/** Drives a search to its end; answers the largest state and the largest of each thing that crosses a history. */
function measure(search: GepaConfig, world: World): Record<string, number> {
  const largest: Record<string, number> = {};
  const note = (what: string, value: unknown) => (largest[what] = Math.max(largest[what] ?? 0, bytes(value)));
  const { turns, state } = drive(search, world);
  let seen: SearchView | undefined;
  for (const [i, { before, work, answers, after, decisions }] of turns.entries()) {
    // A run that continues as new hands on the state, and the proposals that it has of those asked for. The state grows.
    if (i >= turns.length - 50) {
      note('handed on', { state: before, proposed: answers.kind === 'proposals' ? answers.answers : [] });
    }
    note('asked', request(work));
    note('answered', answer(answers));
    const view = gepa.view(after);
    const known = new Map(seen?.candidates.map((one) => [one.candidate, JSON.stringify(one)]));
    const changed = view.candidates.filter((one) => known.get(one.candidate) !== JSON.stringify(one));
    note('recorded', { view: { ...view, candidates: changed }, decisions });
    seen = view;
  }
  note('finished', gepa.view(state));
  return largest;
}
const request = (work: Work) => (work.kind === 'rollouts' ? packRequests(work.requests) : work);
const answer = (answers: Answers) => (answers.kind === 'rollouts' ? packAnswers(answers.answers) : answers);

const limits: Partial<GepaConfig> = {
  trainSeeds: longSeeds(10_000),
  evaluationSeeds: longSeeds(1_000),
  rngSeed: -(2 ** 53 - 1),
};
/** Every child is accepted and evaluated in full. */
const always = { gate: 0.9876543210123456, minibatch: -1.234567890123456e-300 };

test.each<[string, Partial<GepaConfig>, World]>([
  [
    '49 generations of 10, every child best on some seeds',
    { populationSize: 10, generations: 49, minibatchSize: 100 },
    scoring(({ candidate, seed, stage }) =>
      stage === 'gate' || stage === 'minibatch' ? always[stage] : longReward(candidate, seed),
    ),
  ],
  [
    '499 generations of 1, half of all candidates tied on every seed',
    { populationSize: 1, generations: 499, minibatchSize: 3 },
    scoring(({ candidate, seed, stage }) => {
      if (stage === 'gate' || stage === 'minibatch') return always[stage];
      return (Math.abs(seed % 1_000) * 7919 + candidate * 104_729) % 13 < 6 ? 0.8765432101234567 : 0.1234567890123456;
    }),
  ],
  [
    '1 generation of 499, most proposals failing for long reasons',
    { populationSize: 499, generations: 1, minibatchSize: 2 },
    {
      rollout: () => 0,
      propose: ({ candidate }) =>
        candidate % 5 ? { outcome: 'failed', reason: '"'.repeat(gepaLimits.reasonBytes) } : { outcome: 'proposed' },
    },
  ],
])(
  '%s: nothing that crosses a history has half a megabyte',
  (_, shape, world) => {
    const largest = measure(config({ ...limits, ...shape }), world);
    expect(Object.entries(largest).filter(([, size]) => size >= most)).toEqual([]);
  },
  120_000,
);
