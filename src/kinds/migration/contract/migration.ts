/** Migrations of what a name serves to another model: create request and views. */
import { z } from 'zod';
import { containerFields, jobFields, policySchema, statusSchema, warningsSchema } from '../../../contracts/common.js';
import { refuses, needs, anyOf, withRule } from '../../../contracts/field-rules.js';
import { labelFields } from '../../../contracts/labels.js';
import { intervalSchema } from '../../../contracts/search.js';
import { webhookField } from '../../../contracts/webhook.js';
import { rowsSchema, rowsViewSchema } from '../../../datasets/contract/rows.js';
import { scorerSchema } from '../../../scorers/index.js';
import { canarySchema } from '../../deployment/contract/canary.js';
import { budgetWithSession } from '../../deployment/contract/parts.js';
import { reasonField } from '../../deployment/contract/registry.js';
import { servedPolicySchema } from '../../deployment/contract/served-policy.js';
import { migrationSteps, migrationVerdicts, optimizeModes, promptSides } from './steps.js';

const maxLoss = z
  .number('must be a number')
  .gt(0, 'must be above 0')
  .max(1e9, 'must be at most 1e9')
  .default(0.02)
  .describe('The loss of mean reward that counts as none.');

export const createMigrationSchema = withRule(
  z.strictObject(
    {
      to: servedPolicySchema.describe(
        'The new model. Parameters that it does not name stay those of the live deployment; null removes one.',
      ),
      dataset: rowsSchema
        .optional()
        .describe(
          'Rows that decide: each is a request of a caller. Default: those of the gate of the live deployment, else of the session that found its prompt.',
        ),
      scorer: scorerSchema
        .optional()
        .describe('How answers to the rows of dataset are scored. Default: as those of the live deployment were.'),
      max_loss: maxLoss,
      optimize: z
        .enum(optimizeModes)
        .default('if_worse')
        .describe(
          'Whether a session looks for a better prompt on rows that do not decide: if the live prompt is not shown to be no worse, always, or never.',
        ),
      proposer: policySchema.optional().describe('The model that writes new prompts. Default: the new model.'),
      budget: budgetWithSession,
      max_concurrent: containerFields.max_concurrent,
      deploy: z
        .strictObject(
          {
            reason: reasonField,
            rollout: canarySchema.optional().describe('The steps by which it takes requests. Default: at once.'),
          },
          'must be an object, or null',
        )
        .nullish()
        .describe('A deployment of a prompt that is no worse, under the same name. null: none.'),
      tags: labelFields.tags,
      metadata: labelFields.metadata,
      notes: labelFields.notes,
      ...webhookField,
    },
    'must be a JSON object with to',
  ),
  anyOf({ path: ['scorer'], message: 'requires dataset' }, refuses(['scorer']), needs(['dataset'])),
  'CreateMigration',
);
export type CreateMigration = z.output<typeof createMigrationSchema>;

const modelView = z.looseObject({ model: z.string(), provider: z.string() });

export const migrationCreatedSchema = z.object({
  job_id: z.string(),
  status: statusSchema,
  rows: z.int().describe('Rows that decide.'),
  rollouts: z.int().describe('Rollouts at most, without repeated rows: two evaluations, the session, its winner.'),
  warnings: warningsSchema.optional(),
  workflow_id: z.string(),
  temporal_url: z.string().nullable(),
});

const measured = { reward: z.number().nullable(), interval: intervalSchema };

const worseRow = z.object({
  seed: z.int().describe('The row.'),
  today_reward: z.number(),
  reward: z.number(),
  input: z.string().nullable().describe('The input column, or the row as JSON; cut at 2,000 characters.'),
  expected: z.string().nullable(),
  today_output: z.string().nullable().describe('The answer of today; null: not kept any more, or none.'),
  output: z.string().nullable().describe('The answer of the new model.'),
});

const sideView = z.object({
  job_id: z.string().describe('The evaluation on the new model.'),
  ...measured,
  today: z.object(measured).describe('What is live, on the same rows.'),
  verdict: z.enum(migrationVerdicts),
  difference: z.number().describe('The new model minus today, row by row.'),
  difference_interval: intervalSchema.describe('95 %; without a bound ±Number.MAX_VALUE.'),
  rows: z.int().describe('Rows compared: those with a reward today.'),
  rows_needed: z
    .int()
    .nullable()
    .describe('Of an inconclusive verdict: rows that could decide. null: more rows would hardly help.'),
  rows_worse: z.int().describe('Rows with a lower reward than today.'),
  compare_url: z.string().describe('The comparison of the two evaluations.'),
});

const stepView = z.object({
  step: z.enum(migrationSteps),
  job_id: z.string(),
  status: statusSchema,
  total_cost_usd: z.number().nullable(),
});

const summary = {
  ...jobFields,
  deployment: z.string().describe('The id of what the name served when the migration was created.'),
  to: modelView,
  dataset: rowsViewSchema,
  max_loss: z.number(),
  optimize: z.enum(optimizeModes),
  max_cost_usd: z.number().nullable().describe('Of all its jobs; null: no limit.'),
  side: z
    .enum(promptSides)
    .nullable()
    .describe('The prompt that answers: the live one, or the winner of the session. null until it has ended.'),
  verdict: z
    .enum(migrationVerdicts)
    .nullable()
    .describe(
      'no_worse: the lower end of the 95 % interval of new minus today is at least -max_loss; worse: the interval is below 0. null until it has ended.',
    ),
  deployment_id: z.string().nullable().describe('The deployment that it has created.'),
};

export const migrationListItemSchema = z.object(summary).meta({ id: 'MigrationListItem' });

export const migrationSchema = z
  .object({
    ...summary,
    from: modelView,
    steps: z.array(stepView).describe('The jobs so far, in their order.'),
    same_prompt: sideView.nullable().describe('The live prompt on the new model.'),
    optimized: sideView.nullable().describe('The winner of the session on the new model.'),
    worse: z
      .array(worseRow)
      .describe('The rows that lose most, at most 50: of the prompt that answers, or the last that was compared.'),
    not_deployed: z.string().nullable().describe('Why there is no deployment although one was asked for.'),
    total_cost_usd: z.number().nullable().describe('Of all its jobs; null if a price is unknown.'),
  })
  .meta({ id: 'Migration' });
