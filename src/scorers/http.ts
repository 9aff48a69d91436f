import { z } from 'zod';
import { urlForm } from '../contracts/rules.js';
import { wholeNumber } from '../contracts/validation.js';
import { calling } from './scorer.js';

export const http = calling({
  schema: z
    .strictObject({
      type: z.literal('http'),
      url: z
        .string()
        .min(1)
        .max(2_048)
        .meta(urlForm)
        .describe('Gets POST {output, row, expected}; answers {reward, feedback?, details?}.'),
      timeout: wholeNumber(1, 600).optional().describe('Seconds per try. Default: `rollout_timeout`.'),
    })
    .meta({ id: 'HttpScorer' }),
  settings: ({ url, timeout: timeoutS = null }): { url: string; timeoutS: number | null } => ({ url, timeoutS }),
  reward: 'what your URL answers to POST {output, row, expected}',
  expected: 'passed on',
  form: {
    label: 'HTTP',
    fields: [
      { kind: 'text', name: 'url', label: 'URL', isRequired: true },
      { kind: 'number', name: 'timeout', label: 'Seconds per try', hint: 'Empty: the limit of a rollout.' },
    ],
  },
  call: ({ url, timeoutS }) => ({ runner: 'url', url, timeoutS }),
  check: ({ url }, checks) => ({ field: 'url', message: checks.url(url) }),
});
