import { z } from 'zod';
import { policySchema } from '../contracts/common.js';
import { rubricSchema } from '../contracts/rubric.js';
import { parseRubric } from '../core/verify/rubric.js';
import { calling, type JudgedVerifier } from './scorer.js';

export const rubric = calling({
  schema: z
    .strictObject({
      type: z.literal('rubric'),
      criteria: rubricSchema,
      model: policySchema.shape.model.describe('The judge model.'),
      provider: policySchema.shape.provider.optional().describe("Provider of the judge. Default: the policy's."),
    })
    .meta({ id: 'RubricScorer' }),
  settings: ({ criteria, model, provider }, defaultProvider) => ({
    rubric: criteria,
    judge: { model, provider: provider ?? defaultProvider, params: {} },
  }),
  reward: "weighted mean of a judge model's scores; its calls are paid for like others",
  expected: 'shown to it',
  form: {
    label: 'Judge model',
    fields: [
      {
        kind: 'area',
        name: 'criteria',
        label: 'Criteria',
        isRequired: true,
        hint: 'One a line, with weights: “- correct (3): names the right team”.',
      },
      { kind: 'text', name: 'model', label: 'Judge model', isRequired: true },
      { kind: 'text', name: 'provider', label: 'Judge provider', hint: 'Empty: that of the policy.' },
    ],
  },
  call: ({ rubric: text, judge }) => ({ runner: 'judge', judge, criteria: parseRubric(text) }),
  check: ({ judge }, checks) => ({ field: 'provider', message: checks.provider(judge.provider) }),
});

/** Judges the output of a graph by the rubric of its task. */
export const tasksRubric = {
  type: 'rubric',
  readsRubric: true,
  examples: 0,
  criteria: (ofTask) => parseRubric(ofTask!),
} as const satisfies JudgedVerifier;
