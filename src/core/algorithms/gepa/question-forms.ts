/**
 * Questions of a search on open text. Their forms are the arms of a bandit: the next question has
 * the form whose texts gained most often for the rollouts of their tests.
 */
import { seedRng, shuffle, uniformInt } from '../../math/random.js';
import { isSolved, sum } from '../../math/rewards.js';
import { minibatchOf } from '../../search/config.js';
import { knownFailures, seedsToRun, type Failure } from '../../search/failure-pool.js';
import { showsMany, type Approach } from '../../proposals/approach.js';
import { rewardModelOf } from '../../search/model-cache.js';
import type { RewardModel } from '../../search/reward-model.js';
import { pairsOf, seedsOf, type Pair } from '../../search/batch.js';
import { spareRollouts } from './exploration.js';
import { parentOf } from './parents.js';
import { comparedSeeds } from '../../search/targeted-test.js';
import { shownOfMany } from './config.js';
import { newTrial, type GepaState, type Trial } from './state.js';

/** The forms, the first of equal ones first. */
const forms = ['contrast', 'causes', 'revise', 'restart'] as const satisfies readonly Approach[];
type Form = (typeof forms)[number];

/** Failures that the parent itself had, before it is asked about. */
const leastFailures = 4;
/** Seeds at once for a parent with fewer. */
const exploredAtOnce = 6;
/** What a form is worth before any test: a gain, for so many rollouts. */
const prior = { gains: 1, rollouts: 10 };
/** What a question costs beside its test, in rollouts. */
const questionCost = 2;
/** Lower streams belong to the search, to the draws of parents and to those of variations. */
const stream = 3_000_000;

/** At most `most` questions about failures of the parent that are not on `taken` seeds. */
export function textTrials(state: GepaState, model: RewardModel, most: number, taken: ReadonlySet<number>): Trial[] {
  const { nextCandidate, begun, config } = state;
  const parent = parentOf(state, model);
  const failures = ownFailures(state, model, parent).filter(({ seed }) => !taken.has(seed));
  if (failures.length === 0) return [];
  const tallies = talliesOf(state, model);
  return Array.from({ length: Math.max(0, most) }, (_, index): Trial => {
    const candidate = nextCandidate + index;
    const approach = bestForm(tallies);
    // Questions of one round differ in form, if no form is far ahead.
    tallies[approach].rollouts += minibatchOf(config) + questionCost;
    const [ranked, rng] = shuffle(seedRng(config.rngSeed, stream + candidate), failures);
    const isBroad = showsMany(approach);
    const [fewer] = isBroad
      ? [shownOfMany.failures - 1]
      : uniformInt(rng, Math.min(minibatchOf(config), failures.length));
    const offered = ranked.slice(0, 1 + fewer).map(({ ordinal, seed }) => ({ ordinal, seed }));
    const shown = isBroad ? telling(state, ranked).slice(0, minibatchOf(config)) : [];
    return { ...newTrial(candidate, begun, [parent]), offered, shown, approach };
  });
}

/** Further seeds for a parent with few failures of its own: answers of its ancestors say little. */
export function exploreForText(state: GepaState, running: readonly Pair[] = []): Pair[] {
  const model = rewardModelOf(state);
  const parent = parentOf(state, model);
  const failures = knownFailures(state, model, parent).filter(({ age }) => age === 0).length;
  if (failures >= leastFailures) return [];
  const own = seedsOf(running, parent);
  const seeds = seedsToRun(state, model, parent).filter((seed) => !own.has(seed));
  const count = Math.max(0, Math.min(exploredAtOnce - own.size, spareRollouts(state)));
  return pairsOf(parent, seeds.slice(0, count));
}

/** Failures of the candidate's own rollouts; without any, those that it inherits. */
function ownFailures(state: GepaState, model: RewardModel, candidate: number): Failure[] {
  const failures = knownFailures(state, model, candidate);
  const own = failures.filter(({ age }) => age === 0);
  return own.length > 0 ? own : failures;
}

type Tallies = Record<Form, { gains: number; rollouts: number }>;

function talliesOf(state: GepaState, model: RewardModel): Tallies {
  const tallies = Object.fromEntries(forms.map((form) => [form, { ...prior }])) as Tallies;
  for (const [candidate, approach] of Object.entries(state.approaches)) {
    const tally = forms.some((form) => form === approach) ? tallies[approach as Form] : null;
    if (tally === null) continue;
    const compared = comparedSeeds(state, model, Number(candidate));
    tally.rollouts += compared.length + questionCost;
    tally.gains += Math.max(0, sum(compared.map(({ own, expected }) => own - expected.mean)));
  }
  return tallies;
}

function bestForm(tallies: Tallies): Form {
  const worth = (form: Form) => tallies[form].gains / tallies[form].rollouts;
  return forms.reduce((best, form) => (worth(form) > worth(best) ? form : best));
}

/** The seeds of failures, those first that about half of the candidates solve. */
function telling({ results }: GepaState, failures: readonly Failure[]): number[] {
  const known = Object.values(results);
  const doubtOf = (seed: number) => {
    const runs = known.flatMap((own) => own[seed] ?? []);
    const solved = runs.filter(([, reward]) => isSolved(reward)).length;
    return Math.abs((solved + 1) / (runs.length + 2) - 1 / 2);
  };
  return failures
    .map(({ seed }) => ({ seed, doubt: doubtOf(seed) }))
    .sort((left, right) => left.doubt - right.doubt)
    .map(({ seed }) => seed);
}
