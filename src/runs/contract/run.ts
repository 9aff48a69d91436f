/** Runs: sessions, evaluations and graph jobs in one list, to be sorted, grouped and compared. */
import { z } from 'zod';
import {
  keyView,
  listFields,
  listQuerySchema,
  pageQuery,
  statusSchema,
  stuckSchema,
  timestamp,
} from '../../contracts/common.js';
import { tagQuery } from '../../contracts/labels.js';
import { outcome } from '../../contracts/search.js';

export const runKinds = ['session', 'evaluation', 'graph'] as const;
export type RunKind = (typeof runKinds)[number];

export const runSorts = ['created', 'gain', 'reward', 'cost', 'rollouts', 'name'] as const;
export type RunSort = (typeof runSorts)[number];

/** Stands for runs without a data set, or without tags. */
export const without = '-';

const groupings = ['dataset', 'model', 'tag'] as const;
export type Grouping = (typeof groupings)[number];

const { name, metadata, archived, state, created_by, created_after, created_before } = listQuerySchema.shape;

export const runsQuerySchema = z.strictObject({
  kind: z.enum(runKinds).optional(),
  state,
  name,
  tag: z
    .union([z.literal(without), tagQuery.unwrap()])
    .optional()
    .describe(`Only runs with this tag; repeated: with all of them. ${without}: those without tags.`),
  metadata,
  archived,
  created_by,
  created_after,
  created_before,
  dataset: z.string().min(1).max(100).optional().describe(`Only runs on this data set. ${without}: those without one.`),
  model: z.string().min(1).max(301).optional().describe('Only runs whose policy is this provider/model.'),
  parts: z
    .enum(['true', 'false'])
    .default('false')
    .transform((text) => text === 'true')
    .describe('true: also runs that a gate, a migration or a checkup started.'),
  sort: z
    .enum(runSorts.flatMap((sort) => [sort, `-${sort}`] as const))
    .default('-created')
    .describe(
      'The order; - for descending. Runs without the value come last, the newest first: gain is known at the end of a search, cost and rollouts count once a run has ended.',
    ),
  group_by: z
    .enum([...groupings, 'none'])
    .default('none')
    .describe('Also answer the groups of what passes.'),
  ...pageQuery,
});
export type RunsQuery = z.output<typeof runsQuerySchema>;

export const runSchema = z
  .object({
    job_id: z.string(),
    kind: z.enum(runKinds),
    parent_id: z
      .string()
      .nullable()
      .describe('The deployment, migration or checkup that started it; null: a request did.'),
    name: z.string().nullable(),
    tags: z.array(z.string()),
    archived: z.boolean(),
    status: statusSchema,
    stuck: stuckSchema,
    algorithm: z.string().nullable().describe('null: an evaluation.'),
    models: z.array(z.string()).describe('Those of its policies, as provider/model.'),
    dataset: z
      .object({ dataset_id: z.string(), name: z.string().nullable(), num_rows: z.int() })
      .nullable()
      .describe('null: a container, live traffic, or a graph job whose request has the tasks.'),
    scorer: z.string().nullable().describe('The type of the scorer or verifier; null: the container scores.'),
    baseline_reward: z.number().nullable().describe('Of a search: the first measured reward. null: none yet.'),
    best_reward: z.number().nullable().describe('The best measured reward of a search; the mean of an evaluation.'),
    best_is_baseline: z
      .boolean()
      .nullable()
      .describe('Whether no better prompt is known; null: no search, or no reward yet.'),
    verdict: outcome.verdict,
    comparison: outcome.comparison,
    comparable_key: z
      .string()
      .nullable()
      .describe(
        'Runs with the same key have the same instances, the same rows that decide, and the same scorer: their rewards and gains are on one scale. null: comparable with no other run.',
      ),
    total_cost_usd: listFields.total_cost_usd,
    rollouts: z.int().describe('Finished rollouts.'),
    progress: z.object({ done: z.int(), total: z.int().nullable() }).describe('Rollouts; total null: unlimited.'),
    prompt_tokens: z.int().nullable().describe('Length of the best prompt in estimated tokens; null before the end.'),
    created_at: timestamp,
    ended_at: timestamp.nullable(),
    created_by: keyView,
    last_result_at: timestamp
      .nullable()
      .describe('When the last rollout of an open run finished; null: none, or it has ended.'),
  })
  .meta({ id: 'Run' });

const sums = {
  runs: z.int(),
  total_cost_usd: z.number().describe('Of the runs whose cost is known.'),
  runs_of_unknown_cost: z.int().describe('Also those without calls.'),
  rollouts: z.int(),
};

export const runsSchema = z.object({
  data: z.array(runSchema),
  next_cursor: z.string().nullable(),
  has_more: z.boolean(),
  totals: z
    .object(sums)
    .meta({ id: 'RunTotals' })
    .nullable()
    .describe('Of all runs that pass, on the first page; null: a later page.'),
  groups: z
    .array(
      z
        .object({
          key: z
            .string()
            .nullable()
            .describe(`A data set, a model or a tag, as filters name it; null: none, which is ${without}.`),
          name: z.string().nullable().describe('The name of the data set.'),
          ...sums,
        })
        .meta({ id: 'RunGroup' }),
    )
    .nullable()
    .describe(
      'With group_by, on the first page: at most 100, the largest first. A run with two tags is in both groups.',
    ),
});
