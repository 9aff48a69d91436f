/** Create requests of checkups, of improvements, and approvals. */
import { z } from 'zod';
import { containerFields, policySchema } from '../../../contracts/common.js';
import { labelFields } from '../../../contracts/labels.js';
import { wholeNumber } from '../../../contracts/validation.js';
import { webhookField } from '../../../contracts/webhook.js';
import { rowsSchema } from '../../../datasets/contract/rows.js';
import { scorerSchema } from '../../../scorers/index.js';
import { canarySchema, durationSchema } from '../../deployment/contract/canary.js';
import { filterFields } from '../../deployment/contract/logged-requests.js';
import { budgetWithSession, dollarsOfAll, sessionLimits } from '../../deployment/contract/parts.js';
import { reasonField } from '../../deployment/contract/registry.js';
import { improveModes } from './steps.js';

/** The most requests that are rows. */
const maxTraffic = 1_000;

const trafficSchema = (limit: number) =>
  z.strictObject(
    {
      limit: wholeNumber(1, maxTraffic)
        .default(limit)
        .describe('The latest requests that pass become rows, at most so many.'),
      max_age: durationSchema
        .optional()
        .describe('Requests of this time alone, such as 7d. Default: all that are kept.'),
      outcome: filterFields.outcome,
      feedback: filterFields.feedback,
      min_reward: z.number().optional(),
      max_reward: z.number().optional(),
      expected: z
        .enum(['corrected', 'corrected_or_answer'])
        .default('corrected')
        .describe('The right answer of a row: the corrected answer alone, or else the answer itself.'),
    },
    'must be an object, or null',
  );
export type TrafficRequest = z.output<ReturnType<typeof trafficSchema>>;

const scorer = scorerSchema
  .optional()
  .describe(
    'How answers to traffic are scored. Default: as the judge of the name does, else as its rows are. One that needs expected values takes only requests with one.',
  );

const deploySchema = z
  .strictObject(
    {
      reason: reasonField,
      rollout: canarySchema.optional().describe('The steps by which it takes requests. Default: { until: "decided" }.'),
      require_approval: z
        .boolean()
        .default(false)
        .describe('true: a better winner is deployed once a person approves it.'),
    },
    'must be an object, or null',
  )
  .nullish()
  .describe('A deployment of a better winner, under the same name. Default: {}. null: none.');

const proposer = policySchema.optional().describe('The model that writes new prompts. Default: the live one.');

const jobFields = {
  max_concurrent: containerFields.max_concurrent,
  tags: labelFields.tags,
  metadata: labelFields.metadata,
  notes: labelFields.notes,
  ...webhookField,
};

const notObject = 'must be a JSON object, or absent';

export const checkupFields = z.strictObject(
  {
    rows: z
      .strictObject({ dataset: rowsSchema, scorer: scorerSchema.optional() }, 'must be an object with dataset, or null')
      .nullish()
      .describe(
        'Default: the rows of the gate of the live deployment, else of the session that found its prompt. null: not checked.',
      ),
    traffic: trafficSchema(100)
      .nullish()
      .describe('The latest kept requests of the name. Default: if it keeps texts, and has enough. null: not checked.'),
    scorer,
    max_change: z
      .number('must be a number')
      .gt(0, 'must be above 0')
      .max(1e9, 'must be at most 1e9')
      .default(0.02)
      .describe('A difference of mean reward that counts as none.'),
    improve: z
      .strictObject(
        {
          when: z.enum(improveModes).default('if_worse').describe('If a verdict is worse, or always.'),
          proposer,
          budget: z.strictObject(sessionLimits).optional().describe('Of the session. Default: 200 rollouts.'),
          deploy: deploySchema,
        },
        'must be an object, or null',
      )
      .nullish()
      .describe('A search for a better prompt on half of the traffic. Default: none.'),
    budget: z.strictObject({ max_cost_usd: dollarsOfAll }).optional(),
    ...jobFields,
  },
  notObject,
);
export type CreateCheckup = z.output<typeof checkupFields>;
export const createCheckupSchema = checkupFields.meta({ id: 'CreateCheckup' }).nullish();

/** The request that an absent body stands for. */
export const usualCheckup = (): CreateCheckup => checkupFields.parse({});

const improveFields = z.strictObject(
  {
    traffic: trafficSchema(400).optional().describe('The latest kept requests of the name: half decide.'),
    scorer,
    proposer,
    budget: budgetWithSession,
    deploy: deploySchema,
    ...jobFields,
  },
  notObject,
);
export const improveDeploymentSchema = improveFields.meta({ id: 'ImproveDeployment' }).nullish();

/** The checkup that an improvement is. */
export function checkupOf(body: z.output<typeof improveDeploymentSchema>): CreateCheckup {
  const {
    traffic = trafficSchema(400).parse({}),
    proposer,
    budget,
    deploy,
    ...shared
  } = body ?? improveFields.parse({});
  const { max_cost_usd: dollars, ...ofSearch } = budget ?? {};
  return {
    ...usualCheckup(),
    ...shared,
    rows: null,
    traffic,
    improve: { when: 'always', proposer, budget: ofSearch, deploy },
    ...(dollars !== undefined && { budget: { max_cost_usd: dollars } }),
  };
}

export const approvalSchema = z.strictObject(
  { approve: z.boolean('must be true or false'), reason: reasonField },
  'must be a JSON object with approve',
);
