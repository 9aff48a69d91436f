/** Arbitrary configs and worlds for the invariants of a search. */
import fc from 'fast-check';
import type { Batch } from '../../../../src/core/search/batch.js';
import { minimumRollouts, type GepaConfig } from '../../../../src/core/algorithms/gepa/config.js';
import { seedRng, shuffle, uniformInt } from '../../../../src/core/math/random.js';
import { rolloutAnswersIn, rolloutsIn } from '../../../../src/core/search/parts.js';
import type { SearchResponse, Decision, RolloutRequest } from '../../../../src/core/search/protocol.js';
import type { Round } from '../../../../src/core/search/state.js';
import { proposed, type Run, type World } from './driver.js';

export type Of<Type extends Decision['type']> = Extract<Decision, { type: Type }>;

/** Parameters of a world's answers. */
export interface Answering {
  /** Whether rewards of equal rollouts differ. */
  noisy: boolean;
  /** Percentages of failed rollouts, infrastructure failures, bad proposals and conflicts. */
  failing: number;
  infrastructure: number;
  badProposals: number;
  duplicates: number;
  conflicts: number;
  answerSeed: number;
}

export interface Case extends Answering {
  config: GepaConfig;
}

const seeds = (min: number, max: number) => fc.uniqueArray(fc.integer({ min, max }), { minLength: 1, maxLength: 7 });

/** Any answers; `steady`: they depend on candidate and seed only. */
function answeringOf(steady: boolean): fc.Arbitrary<Answering> {
  return fc.record({
    noisy: steady ? fc.constant(false) : fc.boolean(),
    failing: fc.constantFrom(0, 20, 100),
    infrastructure: steady ? fc.constant(0) : fc.constantFrom(0, 0, 30, 100),
    badProposals: fc.constantFrom(0, 0, 30, 100),
    duplicates: fc.constantFrom(0, 20),
    conflicts: fc.constantFrom(0, 30, 100),
    answerSeed: fc.nat(),
  });
}

/** `steady`: answers depend on candidate and seed only; `spareRollouts`: above the minimum. */
export function casesOf(steady: boolean, spareRollouts = 120): fc.Arbitrary<Case> {
  const shapes = fc.record({
    populationSize: fc.integer({ min: 1, max: 4 }),
    generations: fc.integer({ min: 1, max: 8 }),
    minibatchSize: fc.integer({ min: 1, max: 5 }),
    rngSeed: fc.maxSafeInteger(),
    merge: fc.constantFrom(true, true, false),
    parentSelection: fc.constantFrom<GepaConfig['parentSelection'][]>('estimate', 'estimate', 'pareto'),
    demonstrations: fc.constantFrom(0, 0, 2, 8, 64),
    goodAnswers: fc.constantFrom(0, 0, 2, 8),
    trials: fc.constantFrom(null, null, 1, 4, 20),
    isGuided: fc.constantFrom(undefined, true as const),
    slots: fc.constantFrom(1, 1, 4, 8, 32),
    repeats: fc.constantFrom(1, 1, 2, 3),
    patience: fc.constantFrom(null, null, 1, 2, 3),
    targetReward: fc.constantFrom(null, null, 0.4, 0.7, 1),
    isSampled: steady ? fc.constant(undefined) : fc.constantFrom(undefined, true as const),
    heldoutSeeds: fc.oneof(fc.constant<number[]>([]), seeds(100, 109)),
    train: seeds(-3, 9),
    evaluation: seeds(-3, 9),
    relation: fc.constantFrom('same', 'apart', 'any'),
    spare: fc.option(fc.nat({ max: spareRollouts })),
  });
  return fc.tuple(shapes, answeringOf(steady)).map(([{ train, evaluation, relation, spare, ...shape }, world]) => {
    const given = Object.fromEntries(Object.entries(shape).filter(([, value]) => value !== undefined));
    const evaluationSeeds = { same: train, apart: evaluation.map((seed) => seed + 20), any: evaluation }[relation]!;
    const unlimited = { ...given, trainSeeds: train, evaluationSeeds, maxRollouts: null } as unknown as GepaConfig;
    const maxRollouts = spare === null ? null : minimumRollouts(unlimited) + spare;
    return { config: { ...unlimited, maxRollouts }, ...world };
  });
}

/**
 * A world whose answers depend on case and request only, not on their order. No evaluation fails
 * as a whole: `failed-evaluations.test.ts` has these.
 */
export function worldOf({
  noisy,
  failing,
  infrastructure,
  badProposals,
  duplicates,
  conflicts,
  answerSeed,
  config: { evaluationSeeds, heldoutSeeds = [] },
}: Answering & { config: Pick<GepaConfig, 'evaluationSeeds' | 'heldoutSeeds'> }): World {
  const neverFails = new Set([evaluationSeeds[0], heldoutSeeds[0]]);
  const draw = (stream: number, below: number) => uniformInt(seedRng(answerSeed, stream), below)[0];
  const rewards = [0, 0, 0.1, 0.3, 0.4, 0.6, 0.7, 1, 1, 1];
  return {
    findDemos({ ordinals }) {
      const usable = ordinals.filter((ordinal) => draw(ordinal * 4 + 2, 100) >= failing);
      const room = draw(0, 20) < 10 ? 100 : draw(2, 20);
      const sameAnswer = [0, 1].map((answer) => usable.filter((ordinal) => ordinal % 3 === answer));
      const labeled = { component: null, bootstrapped: usable, labeled: usable, sameAnswer, room };
      const unlabeled = { ...labeled, labeled: [], sameAnswer: [], room: 0 };
      const kinds = [[labeled], [labeled], [unlabeled], [unlabeled, unlabeled], [labeled, labeled]];
      return { components: ['system'], slots: kinds[draw(1, kinds.length)]! };
    },
    rollout({ ordinal, candidate, seed }) {
      const mayFail = !neverFails.has(seed);
      if (mayFail && draw(ordinal * 4, 100) < infrastructure) return 'infrastructure';
      const equal = 1_000_000 + (candidate * 1_000 + seed + 50) * 4;
      if (draw((noisy ? ordinal * 4 : equal) + 1, 100) < failing && mayFail) return null;
      return rewards[draw((noisy ? ordinal * 4 : equal) + 2, rewards.length)]!;
    },
    propose(request) {
      const { candidate, merge, compose, parent } = request;
      const drawn = draw(candidate * 4 + 3, 100);
      if (merge) {
        if (drawn < conflicts) return { outcome: 'failed', reason: 'conflict' };
        return { outcome: 'proposed', parents: drawn % 2 === 0 ? merge : merge.slice(0, 2) };
      }
      if (compose) {
        if (drawn < badProposals) return { outcome: 'failed', reason: 'no demonstration fits' };
        return { outcome: drawn < badProposals + duplicates ? 'duplicate' : 'proposed' };
      }
      const { shown } = proposed(request);
      if (drawn < badProposals) return { outcome: 'failed', reason: 'no closing fence', shown: shown! };
      if (drawn < badProposals + duplicates) return { outcome: 'duplicate', shown: shown! };
      return { outcome: 'proposed', shown: shown!, removed: drawn % 3 === 0 ? [parent] : [] };
    },
  };
}

export interface Measured extends RolloutRequest {
  reward: number;
}

/** Counted rollouts in the order of the requests: failed ones with 0, without repeated ones. */
export function measuredIn<State extends { phase: object }>({ turns }: Run<State>): Measured[] {
  return turns.flatMap(({ work, answers, after }) => {
    const given = rolloutAnswersIn(answers);
    const again = new Map(repeatedBatches(after).map(([stage, { rewards }]) => [stage, rewards.filter(isNull).length]));
    return rolloutsIn(work).flatMap((request, index) => {
      const { reward, infrastructure } = given[index]!;
      const left = again.get(request.stage) ?? 0;
      if (!infrastructure || left === 0) return [{ ...request, reward: reward ?? 0 }];
      again.set(request.stage, left - 1);
      return [];
    });
  });
}

const isNull = (reward: number | null) => reward === null;

/** The batches of a phase that wait for repeated rollouts. */
export function repeatedBatches({ phase }: { phase: object }): [stage: string, Batch][] {
  const { batches = {} } = phase as Partial<Round>;
  return Object.entries(batches).filter(([, { repeats }]) => repeats > 0);
}

/** The decisions of one type. */
export function of<Type extends Decision['type']>(run: { decisions: Decision[] }, type: Type): Of<Type>[] {
  return run.decisions.filter((decision): decision is Of<Type> => decision.type === type);
}

/** The answers in random order. */
export function reorder(answers: SearchResponse, seed: number): SearchResponse {
  if (answers.kind === 'demos') return answers;
  const of = <T>(items: readonly T[]): T[] => shuffle<T>(seedRng(seed), [...items])[0];
  if (answers.kind === 'round') {
    return { ...answers, rollouts: of(answers.rollouts), proposals: of(answers.proposals) };
  }
  const shuffled = of<unknown>(answers.answers);
  return { ...answers, answers: shuffled } as SearchResponse;
}

/** Freezes a value deeply. */
export function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    Object.values(value).forEach(frozen);
    Object.freeze(value);
  }
  return value;
}
