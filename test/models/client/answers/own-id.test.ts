import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { withId } from '../../../../src/models/client/answers/own-id.js';
import { pureRuns } from '../../../support/runs.js';

test('an object gets the id, whatever else it holds, and wherever its own id stands', () => {
  const object = fc.dictionary(fc.oneof(fc.constantFrom('id', 'choices', 'a"id":"b'), fc.string()), fc.jsonValue());
  fc.assert(
    fc.property(object, fc.string(), fc.constantFrom(undefined, 1, '\t'), (given, id, space) => {
      const text = JSON.stringify(given, null, space);
      const plain = JSON.parse(text) as object;
      const result = withId(text, id);
      expect(JSON.parse(result)).toEqual({ ...plain, id });
    }),
    { numRuns: pureRuns(500) },
  );
});

test.each([
  ['{"id":"a","n":1.0}', '{"id":"x","n":1.0}'],
  ['{"n":12345678901234567890}', '{"id":"x","n":12345678901234567890}'],
  ['{ "choices": [{"id": 1}], "id" : null }', '{ "choices": [{"id": 1}], "id" : "x" }'],
  ['{"o":"\\"id\\":1\\\\","id":{"id":[1]}}', '{"o":"\\"id\\":1\\\\","id":"x"}'],
  ['{}', '{"id":"x"}'],
])('%s becomes %s', (given, result) => {
  expect(withId(given, 'x')).toBe(result);
});
