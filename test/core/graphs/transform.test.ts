import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Transform } from '../../../src/core/graphs/graph.js';
import { opSignatures } from '../../../src/core/graphs/ops.js';
import { applyTransform } from '../../../src/core/graphs/transform.js';
import { transformCases, transformFailures } from './interpreter-cases.js';
import { equivalenceKey, type Json } from '../../../src/core/graphs/values.js';
import { pureRuns } from '../../support/runs.js';

describe('applyTransform', () => {
  test.each(transformCases)('%j of %j', (transform, inputs, value) => {
    expect(applyTransform(transform, inputs)).toEqual({ ok: true, value });
  });

  test.each(transformFailures)('fails with the reason %#', (transform, inputs, reason) => {
    expect(applyTransform(transform, inputs)).toEqual({ ok: false, reason });
  });

  test('reads no inherited field', () => {
    expect(applyTransform({ op: 'pluck', path: 'constructor' }, { list: [{ b: 1 }] })).toMatchObject({ ok: false });
  });

  test('never throws, and gives the kind of value of its signature', () => {
    const ops = Object.keys(opSignatures) as Transform['op'][];
    fc.assert(
      fc.property(fc.constantFrom(...ops), fc.jsonValue({ maxDepth: 3 }), (op, json) => {
        const value = json as Json;
        const all = {
          op,
          text: '{{text}}',
          by: ',',
          index: 1,
          start: 'a',
          end: 'b',
          path: 'a',
        } as unknown as Transform;
        const { takes, gives } = opSignatures[op];
        const inputs: Record<string, Json> = takes === 'any' || takes === 'some' ? { text: value } : { [takes]: value };
        const done = applyTransform(all, inputs);
        if (!done.ok) expect(done.reason.startsWith(`${op} `)).toBe(true);
        else if (gives === 'list') expect(Array.isArray(done.value)).toBe(true);
        else if (gives === 'text') expect(typeof done.value).toBe('string');
        else if (gives !== 'any') expect(typeof done.value).toBe(gives);
      }),
      { numRuns: pureRuns(500) },
    );
  });
});

test('equivalenceKey ignores case, white space and the order of names', () => {
  expect(equivalenceKey({ b: ' X\u00a0\n y', a: [1] })).toBe(equivalenceKey({ a: [1], b: 'x Y ' }));
  expect(equivalenceKey({ A: 1 })).not.toBe(equivalenceKey({ a: 1 }));
  expect(equivalenceKey('1')).not.toBe(equivalenceKey(1));
  expect(equivalenceKey(['a', 'b'])).not.toBe(equivalenceKey(['a,b']));
  expect(equivalenceKey(null)).not.toBe(equivalenceKey('null'));
});
