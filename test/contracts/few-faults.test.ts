import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { z } from 'zod';
import { nameFewFaults } from '../../src/contracts/few-faults.js';

const most = 5;
const make = () => {
  const criterion = z.strictObject({ name: z.string(), weight: z.number().optional() });
  const item = z.strictObject({
    id: z.union([z.number(), z.array(z.number()).max(3)]),
    rubric: z.union([z.array(criterion), z.strictObject({ outcome: z.array(criterion) })]).optional(),
    tags: z.array(z.string().trim()).default([]),
  });
  return z.object({ items: z.array(item).min(1).max(20), byName: z.record(z.string(), z.array(z.int())).nullish() });
};
const plain = make();
const few = make();
nameFewFaults(few, most);
nameFewFaults(few, most);

const criteria = fc.array(fc.oneof(fc.constant({ name: 'a' }), fc.constant({ name: 1 }), fc.integer()), {
  maxLength: 9,
});
const good = fc.record(
  { id: fc.oneof(fc.integer(), fc.array(fc.integer(), { maxLength: 4 })) },
  { requiredKeys: ['id'] },
);
const item = fc.oneof(
  good,
  good,
  fc.record({ id: fc.constant(1), rubric: fc.oneof(criteria, fc.record({ outcome: criteria })) }),
  fc.record({ id: fc.constant(1), tags: fc.array(fc.oneof(fc.string(), fc.integer())) }),
  fc.jsonValue({ maxDepth: 2 }),
);
const body = fc.record({
  items: fc.oneof(fc.array(item, { maxLength: 30 }), fc.jsonValue({ maxDepth: 1 })),
  byName: fc.oneof(fc.constant(null), fc.dictionary(fc.string(), fc.array(fc.oneof(fc.integer(), fc.string())))),
});

test('the same values pass with the same result, and refusals name the same fields', () => {
  fc.assert(
    fc.property(body, (value) => {
      const [all, some] = [plain.safeParse(value), few.safeParse(value)];
      expect(some.success).toBe(all.success);
      if (all.success) return expect(some.data).toEqual(all.data);
      const fields = ({ error }: { error?: z.ZodError | undefined }) => error?.issues.map(({ path }) => path[0]);
      expect(new Set(fields(some))).toEqual(new Set(fields(all)));
    }),
    { numRuns: 1_000 },
  );
});

test('a list of many faulty items names a few', () => {
  const items = Array.from({ length: 10_000 }, () => ({}));
  expect(few.safeParse({ items }).error!.issues.length).toBeLessThan(most + 3);
});

test('no check of a whole list meets items that were not validated', () => {
  const list = z.array(z.string().min(2)).superRefine((items, ctx) => {
    if (items.some((item) => item.startsWith('x'))) ctx.addIssue('must not begin with x');
  });
  nameFewFaults(list, most);
  expect(list.safeParse(['a', 'b', 'c', 'd', 'e', 5, null]).error!.issues).toHaveLength(most);
  expect(list.safeParse(['ab', 'xb']).error!.issues).toMatchObject([{ message: 'must not begin with x' }]);
});
