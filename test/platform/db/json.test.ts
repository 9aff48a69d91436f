import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { toJsonb } from '../../../src/platform/db/json.js';
import { storableText } from '../../../src/util/text.js';
import { pureRuns } from '../../support/runs.js';

const clean = (text: string) => text.toWellFormed().replaceAll('\0', '\ufffd');

test('stores and returns any text, except characters that Postgres rejects', () => {
  const units = fc.array(
    fc.oneof(fc.constantFrom('\\', '\\u0000', '\0', '\ud800', '\udc00', 'u0000', '"'), fc.string({ unit: 'binary' })),
  );
  fc.assert(
    fc.property(units, (parts) => {
      const text = parts.join('');
      const json = toJsonb({ [text]: text });
      expect(JSON.parse(json)).toEqual({ [clean(text)]: clean(text) });
      // No sequence that Postgres rejects remains, wherever an escape begins.
      expect(json.replaceAll('\\\\', '')).not.toMatch(/\\u0000|\\ud[89a-f]/i);
      expect(storableText(text)).toBe(clean(text));
    }),
    { numRuns: pureRuns(500) },
  );
});
