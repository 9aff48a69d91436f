import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { labelFields } from '../../src/contracts/labels.js';

const { anyOf } = z.toJSONSchema(labelFields.name, { io: 'input' });
const described = anyOf![0] as { pattern: string; maxLength: number };

test.each([
  ['a', true],
  [' a b ', true],
  ['a'.repeat(200), true],
  [`${'a'.repeat(200)} `, false],
  ['', false],
  [' ', false],
  ['a\n', false],
  ['a\u0016', false],
  ['\u0016', false],
  ['\u0085', false],
])('the document says of the name %j what the service does: %s', (name, isAccepted) => {
  const fits = name.length <= described.maxLength && new RegExp(described.pattern, 'u').test(name);
  expect([labelFields.name.safeParse(name).success, fits]).toEqual([isAccepted, isAccepted]);
});
