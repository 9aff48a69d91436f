import { expect, test } from '@jest/globals';
import { scorerSchema, scorerSpec } from '../../../src/scorers/index.js';
import { scorerErrors } from '../../../src/datasets/routes/scorer-errors.js';

const refused = {
  checkContainerUrl: () => 'url refused',
  checkJavascript: () => 'code refused',
  checkProvider: () => 'provider refused',
};
const rubric = { type: 'rubric', criteria: 'good', model: 'm' };
const errors = (request: unknown) =>
  scorerErrors(scorerSpec(scorerSchema.parse(request), 'openai'), 'openai', ['scorer'], refused);

test('URL, code and provider are checked, also those of parts', () => {
  const parts = [
    { scorer: 'exact' },
    { scorer: { type: 'http', url: 'http://x' } },
    { scorer: { type: 'javascript', code: '() => 1' } },
    { scorer: { ...rubric, provider: 'none' } },
  ];
  expect(errors({ type: 'weighted', parts })).toEqual([
    { pointer: '/scorer/parts/1/scorer/url', message: 'url refused' },
    { pointer: '/scorer/parts/2/scorer/code', message: 'code refused' },
    { pointer: '/scorer/parts/3/scorer/provider', message: 'provider refused' },
  ]);
  expect(errors({ type: 'http', url: 'http://x' })).toEqual([{ pointer: '/scorer/url', message: 'url refused' }]);
});

test('a judge without a provider has that of the policy, which is checked there', () => {
  expect(errors(rubric)).toEqual([]);
});
