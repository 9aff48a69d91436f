import { expect, test } from '@jest/globals';
import { datasetLimits } from '../../../src/kinds/graph/contract/dataset.js';
import type { GepaConfig } from '../../../src/core/algorithms/gepa/config.js';
import { gepa } from '../../../src/core/algorithms/gepa.js';
import { unpaired } from '../../../src/core/algorithms/gepa-live.js';
import { graphSearch } from '../../../src/core/graphs/search-config.js';
import type { SearchAlgorithm, SearchView } from '../../../src/core/search/protocol.js';
import { maxDemos } from '../../../src/core/prompts/demos.js';
import { serve } from './gepa-live/traffic.js';
import { config, drive, scoring, type Run, type World } from './gepa/driver.js';

// Sizes at the limits of a session or a graph job: the snapshot, and what a step records.

const maxOfState = 1_600_000;
const maxOfRecord = 500_000;
const bytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value));
/** Distinct seeds with the most digits. */
const longSeeds = (count: number, from = 0) => Array.from({ length: count }, (_, i) => -(2 ** 53 - 1) + i + from);
const limits = {
  trainSeeds: longSeeds(10_000),
  evaluationSeeds: longSeeds(1_000, 20_000),
  rngSeed: -(2 ** 53 - 1),
};

/** Rewards with many digits, growing with the candidate: every child is accepted. */
const growing: World['rollout'] = ({ candidate, seed }) => candidate / 1_000 + (Math.abs(seed) % 1_000) / 7_777;
/** On live traffic: later children are far better, or all are equal. */
const better: World['rollout'] = ({ candidate, ordinal }) => (candidate + (ordinal % 1_000) / 7_777) / 501;
const equal: World['rollout'] = ({ ordinal }) => (ordinal % 1_000) / 7_777;
/** Costs of graph runs with many digits. */
const cost: World['cost'] = ({ ordinal }) => Math.PI * (1 + ordinal);
/** The most tasks and candidates, on the smallest budget for them. */
const graphJob = graphSearch({
  tasks: datasetLimits.tasks,
  rolloutBudget: 12_000,
  effort: 'high',
  rngSeed: limits.rngSeed,
});
const components = Array.from({ length: 20 }, (_, index) => `c${index}`.padEnd(64, 'x'));
const findDemos: World['findDemos'] = ({ ordinals }) => ({
  components,
  slots: components.map((component) => {
    return { component, bootstrapped: ordinals, labeled: [], sameAnswer: [], room: 0 };
  }),
});
/** Each rollout has a right answer, and all demonstrations fit into a prompt. */
const findRows: World['findDemos'] = ({ ordinals }) => ({
  components: ['system'],
  slots: [{ component: null, bootstrapped: [], labeled: ordinals, sameAnswer: [], room: maxDemos }],
});

const byRounds = (shape: Partial<GepaConfig>, world: Partial<World> = {}) =>
  sizesOf(gepa, drive(config({ ...limits, ...shape }), { ...scoring(growing), ...world }));
const byTraffic = (shape: Partial<GepaConfig>, rollout: World['rollout']) =>
  sizesOf(unpaired, serve(config({ ...limits, heldoutSeeds: longSeeds(1_000, 40_000), ...shape }), scoring(rollout)));

test.each<[string, () => ReturnType<typeof sizesOf>, number]>([
  ['50 generations of 9', () => byRounds({ populationSize: 9, generations: 50, minibatchSize: 100 }), 491],
  ['499 generations of 1', () => byRounds({ populationSize: 1, generations: 499, minibatchSize: 3 }), 491],
  ['a graph job', () => byRounds(graphJob, { cost }), 491],
  ['turns in 20 slots', () => byRounds({ populationSize: 10, generations: 40, goodAnswers: 32 }, { findDemos }), 300],
  [
    'sets of 100 rows',
    () => byRounds({ populationSize: 10, generations: 40, demonstrations: maxDemos }, { findDemos: findRows }),
    300,
  ],
  ['60 live children at once', () => byTraffic({ populationSize: 499, generations: 1, minibatchSize: 2 }, equal), 61],
  [
    '499 live generations of 1',
    () => byTraffic({ populationSize: 1, generations: 499, minibatchSize: 3 }, better),
    491,
  ],
  ['live evaluations of 10,000', () => byTraffic({ generations: 1, minibatchSize: 3, repeats: 10 }, better), 2],
])(
  '%s: the state stays below 1.6 MB, what a step records below 0.5 MB',
  (_, sizes, candidates) => {
    const { state, records, count } = sizes();
    expect(count).toBeGreaterThanOrEqual(candidates);
    expect(state).toBeLessThan(maxOfState);
    expect(records).toBeLessThan(maxOfRecord);
  },
  240_000,
);

/** Maximum sizes in bytes; the first turns evaluate the baseline, and the last are the largest. */
function sizesOf<State>(search: SearchAlgorithm<State>, { turns, end }: Run<State>) {
  expect(end.kind).toBe('done');
  let [state, records, count] = [0, 0, 0];
  let seen: SearchView | undefined;
  for (const { before, after, decisions } of [...turns.slice(0, 8), ...turns.slice(-12)]) {
    const view = search.view(after);
    const known = new Map(seen?.candidates.map((summary) => [summary.candidate, JSON.stringify(summary)]));
    const candidates = view.candidates.filter((summary) => known.get(summary.candidate) !== JSON.stringify(summary));
    records = Math.max(records, bytes(view), bytes({ view: { ...view, candidates }, decisions }));
    state = Math.max(state, bytes(before));
    count = view.candidates.length;
    seen = view;
  }
  return { state, records, count };
}
