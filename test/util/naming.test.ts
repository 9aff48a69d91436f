import { expect, test } from '@jest/globals';
import { algorithmFields } from '../../src/kinds/session/contract/algorithms.js';
import { camelCased, snakeCased } from '../../src/util/naming.js';

test('renames the fields of an object, and nothing below them', () => {
  expect(camelCased({ merge: true, max_labeled_demos: { a_b: 1 } })).toEqual({
    merge: true,
    maxLabeledDemos: { a_b: 1 },
  });
});

test('leads from the name in a config back to the field of the request', () => {
  const names = Object.values(algorithmFields).flatMap((section) => Object.keys(section.unwrap().shape));
  expect(names.flatMap((name) => Object.keys(camelCased({ [name]: 0 })).map(snakeCased))).toEqual(names);
});
