import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { ApiError, listed, refuse } from '../../../../src/platform/http/server/errors.js';
import { readForm, refusalAsSent } from '../../../../src/platform/http/server/forms.js';

const moves = [['/inner', '/config/inner']] as const;

test('the faults of a form and of its body are listed together, up to the limit', () => {
  const names = Array.from({ length: listed + 5 }, (_, at) => `f${at}`);
  const errors = names.slice(0, 5).map((name) => ({ pointer: `/${name}`, message: 'is faulty' }));
  const body = { inner: Object.fromEntries(names.map((name) => [name, 1])) };
  const read = readForm({ schema: z.strictObject({ inner: z.strictObject({}) }), body, errors, moves });
  const found = 'error' in read ? read.error.errors.map(({ pointer }) => pointer) : [];
  expect(found).toHaveLength(listed);
  expect(found.slice(4, 6)).toEqual(['/f4', '/config/inner/f0']);
});

test('a refusal of a body is told in the terms of the request, another error stays as it is', () => {
  const refused = refusalAsSent(refuse.invalid([{ pointer: '/inner/a', message: 'is faulty' }]), moves) as ApiError;
  expect([refused.status, refused.errors]).toEqual([422, [{ pointer: '/config/inner/a', message: 'is faulty' }]]);
  const unmoved = new ApiError(422, 'invalid_rows', 'Faulty.', { errors: refused.errors, extra: { row: 1 } });
  expect(refusalAsSent(unmoved, [])).toBe(unmoved);
  for (const error of [
    new Error('away'),
    new ApiError(422, 'value_out_of_range', 'A value is out of range.'),
    new ApiError(409, 'not_comparable', 'Taken.', { errors: [{ pointer: '/inner', message: 'is taken' }] }),
  ])
    expect(refusalAsSent(error, moves)).toBe(error);
});
