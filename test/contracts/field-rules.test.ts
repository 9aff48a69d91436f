import { expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { z } from 'zod';
import {
  anyOf,
  firstOf,
  limits,
  needs,
  needsOne,
  refuses,
  together,
  within,
  type FieldRule,
} from '../../src/contracts/field-rules.js';
import { pureRuns } from '../support/runs.js';

const fault = { path: ['a'], message: 'is wrong' };
const name = fc.constantFrom('a', 'b');
const { rule } = fc.letrec<{ rule: FieldRule }>((tie) => ({
  rule: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    name.map((field) => needs([field])),
    name.map((field) => refuses([field])),
    name.map((field) => limits(field, z.literal(1))),
    fc.constant(needsOne(['a', 'b'], 'must have one')),
    tie('rule').map((inner) => within('c', inner)),
    fc.tuple(tie('rule'), tie('rule')).map((rules) => together(...rules)),
    fc.tuple(tie('rule'), tie('rule')).map((rules) => anyOf(fault, ...rules)),
    fc.tuple(name, tie('rule'), tie('rule')).map(([field, given, absent]) => {
      return firstOf({ when: needs([field]), then: given }, { when: refuses([field]), then: absent });
    }),
  ),
}));
const fields = { a: fc.constantFrom(1, 2), b: fc.constantFrom(1, 2) };
const inner = fc.record({ ...fields, c: fc.record(fields, { requiredKeys: [] }) }, { requiredKeys: [] });
const body = fc.record({ ...fields, c: inner }, { requiredKeys: [] });

test('a rule finds a fault in the bodies that its JSON schema refuses, and in no other', () => {
  const ajv = new Ajv2020({ strict: false });
  fc.assert(
    fc.property(rule, fc.array(body, { minLength: 5, maxLength: 20 }), ({ described, faults }, bodies) => {
      const isValid = ajv.compile(described);
      for (const each of bodies) expect(faults(each).length === 0).toBe(isValid(each));
    }),
    { numRuns: pureRuns(100, 2_000) },
  );
});
