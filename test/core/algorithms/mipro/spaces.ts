/** Spaces, trials and mixtures for properties. */
import fc from 'fast-check';
import { parzen, type Parzen } from '../../../../src/core/algorithms/mipro/parzen.js';
import type { Space } from '../../../../src/core/algorithms/mipro/parzen.js';
import type { Trial } from '../../../../src/core/algorithms/mipro/tpe.js';

/** All combinations of a space; the last dimension varies fastest. */
export function combinations(space: Space): number[][] {
  return space.reduce<number[][]>(
    (all, count) => all.flatMap((choices) => Array.from({ length: count }, (_, choice) => [...choices, choice])),
    [[]],
  );
}

export const spaces: fc.Arbitrary<number[]> = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 4 });

export function choicesIn(space: Space): fc.Arbitrary<number[]> {
  return fc.tuple(...space.map((count) => fc.nat(count - 1)));
}

export function trialsIn(space: Space, maxLength = 40): fc.Arbitrary<Trial[]> {
  const value = fc.oneof(fc.integer({ min: 0, max: 3 }), fc.double({ noNaN: true, noDefaultInfinity: true }));
  return fc.array(fc.record({ choices: choicesIn(space), value }), { maxLength });
}

/** A space with finished and running trials. */
export const searches = spaces.chain((space) =>
  fc.record({
    space: fc.constant(space),
    trials: trialsIn(space),
    pending: fc.array(choicesIn(space), { maxLength: 8 }),
    seed: fc.nat(),
    startup: fc.constantFrom(1, 10),
  }),
);

export const mixtures: fc.Arbitrary<Parzen> = spaces.chain((space) =>
  fc
    .array(fc.record({ choices: choicesIn(space), weight: fc.double({ min: 0.01, max: 1, noNaN: true }) }), {
      maxLength: 6,
    })
    .map((kernels) => parzen(space, kernels)),
);
