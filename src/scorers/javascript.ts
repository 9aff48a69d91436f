import { z } from 'zod';
import { calling } from './scorer.js';

const maxCode = 50_000;

export const javascript = calling({
  schema: z
    .strictObject({
      type: z.literal('javascript'),
      code: z
        .string()
        .regex(/\S/, 'must not be blank')
        .max(maxCode)
        .describe(
          'A function (output, row, expected) => reward or {reward, feedback}, alone or after "export default". Only where the operator names the organization in RATCHET_ALLOW_JAVASCRIPT_SCORERS.',
        ),
    })
    .meta({ id: 'JavascriptScorer' }),
  settings: ({ code }) => ({ code }),
  reward: 'what your function returns, where the operator allows it',
  expected: 'passed on',
  form: {
    label: 'JavaScript',
    fields: [
      {
        kind: 'area',
        name: 'code',
        label: 'Function',
        isRequired: true,
        hint: '(output, row, expected) => a reward from 0 to 1, or {reward, feedback}.',
      },
    ],
  },
  call: ({ code }) => ({ runner: 'sandbox', code }),
  check: ({ code }, checks) => ({ field: 'code', message: checks.javascript(code) }),
});
