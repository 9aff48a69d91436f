/** Arbitrary configs and worlds for the invariants of a MIPRO search. */
import fc from 'fast-check';
import { minimumRollouts, type MiproConfig } from '../../../../src/core/algorithms/mipro/config.js';
import { createMipro, type MiproState } from '../../../../src/core/algorithms/mipro/state.js';
import { seedRng, uniformInt } from '../../../../src/core/math/random.js';
import { answeringOf, seeds, worldOf, type Answering } from '../gepa/cases.js';
import { unpaired, type MiproWorld } from './driver.js';

export interface Case extends Answering {
  config: MiproConfig;
  traffic: MiproState['traffic'];
  components: number;
  /** Where demonstrations go; null: in every call. */
  slots: (string | null)[];
  /** Percentage of rollouts usable as bootstrapped, and as labeled demonstrations. */
  showable: number;
  /** Share of a reward that depends on the candidate only; low for the baseline. */
  own: number;
}

/** `steady`: answers depend on candidate and seed only; `spareRollouts`: above the minimum. */
export function casesOf(steady: boolean, spareRollouts = 120): fc.Arbitrary<Case> {
  const shapes = fc.record({
    numCandidates: fc.integer({ min: 1, max: 8 }),
    numTrials: fc.oneof(fc.constant(null), fc.integer({ min: 1, max: 32 })),
    minibatchSize: fc.integer({ min: 1, max: 8 }),
    maxBootstrappedDemos: fc.integer({ min: 0, max: 3 }),
    maxLabeledDemos: fc.integer({ min: 0, max: 3 }),
    rngSeed: fc.maxSafeInteger(),
    repeats: fc.constantFrom(1, 1, 2, 3),
    patience: fc.constantFrom(null, null, null, 1, 2, 3),
    targetReward: fc.constantFrom(null, null, null, 0.7, 1),
    isSampled: steady ? fc.constant(undefined) : fc.constantFrom(undefined, true as const),
    heldoutSeeds: fc.oneof(fc.constant<number[]>([]), seeds(100, 109)),
    train: seeds(-3, 9),
    evaluation: seeds(-3, 9),
    relation: fc.constantFrom('same', 'apart', 'any'),
    spare: fc.option(fc.nat({ max: spareRollouts })),
  });
  const prompts = fc.record({
    traffic: steady ? fc.constant('paired' as const) : fc.constantFrom('paired' as const, 'paired', 'unpaired'),
    components: fc.integer({ min: 1, max: 3 }),
    slots: fc.constantFrom<(string | null)[]>([], [null], ['c0'], [null, 'c0'], ['c0', 'c1']),
    showable: fc.constantFrom(0, 50, 100, 100),
    own: fc.constantFrom(0, 0.5, 0.95),
  });
  // Fewer worlds in which everything fails.
  const milder = fc.record({
    failing: fc.constantFrom(0, 0, 20, 100),
    badProposals: fc.constantFrom(0, 0, 0, 0, 30, 100),
    ...(!steady && { infrastructure: fc.constantFrom(0, 0, 0, 30, 100) }),
  });
  const answers = fc.tuple(answeringOf(steady), milder).map(([any, some]) => ({ ...any, ...some }));
  return fc.tuple(shapes, prompts, answers).map(([{ train, evaluation, relation, spare, ...shape }, prompt, world]) => {
    const given = Object.fromEntries(Object.entries(shape).filter(([, value]) => value !== undefined));
    const evaluationSeeds = { same: train, apart: evaluation.map((seed) => seed + 20), any: evaluation }[relation]!;
    const isBare = shape.maxBootstrappedDemos + shape.maxLabeledDemos === 0;
    const numCandidates = Math.max(shape.numCandidates, isBare ? 2 : 1);
    const unlimited = {
      ...given,
      numCandidates,
      trainSeeds: train,
      evaluationSeeds,
      maxRollouts: null,
    } as unknown as MiproConfig;
    const maxRollouts = spare === null ? null : minimumRollouts(unlimited) + spare;
    const numTrials = shape.numTrials ?? (maxRollouts === null ? 15 : null);
    return { config: { ...unlimited, numTrials, maxRollouts }, ...prompt, ...world };
  });
}

export function startOf({ config, traffic }: Case): MiproState {
  return traffic === 'paired' ? createMipro(config) : unpaired(config);
}

/** A world whose answers depend on case and request only, not on their order. */
export function miproWorldOf(given: Case): MiproWorld {
  const { answerSeed, components, slots, showable, own } = given;
  const isShown = (stream: number, ordinal: number) =>
    uniformInt(seedRng(answerSeed, 10_000_000 + ordinal * 10 + stream), 100)[0] < showable;
  const world = worldOf(given);
  const qualityOf = (candidate: number) =>
    candidate === 0 ? 0.1 : uniformInt(seedRng(answerSeed, 20_000_000 + candidate), 11)[0] / 10;
  return {
    ...world,
    rollout: (request) => {
      const reward = world.rollout(request);
      return typeof reward === 'number' ? (1 - own) * reward + own * qualityOf(request.candidate) : reward;
    },
    findDemos: ({ ordinals }) => ({
      components: Array.from({ length: components }, (_, index) => `c${index}`),
      slots: slots.map((component, slot) => {
        const labeled = ordinals.filter((ordinal) => isShown(2 * slot + 1, ordinal));
        return {
          component,
          bootstrapped: ordinals.filter((ordinal) => isShown(2 * slot, ordinal)),
          labeled,
          sameAnswer: [labeled.filter((ordinal) => ordinal % 2 === 0), labeled.filter((ordinal) => ordinal % 2 === 1)],
        };
      }),
    }),
  };
}
