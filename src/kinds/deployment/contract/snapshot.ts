/** The immutable content of a deployment. The same JSON is hashed, stored and returned. */
import { z } from 'zod';
import { conclusions, intervalSchema } from '../../../contracts/search.js';
import { messageSchema, timestamp } from '../../../contracts/common.js';
import { leverVersionsSchema } from '../../../candidates/contract/levers.js';
import type { Demo } from '../../../core/prompts/demos.js';
import { graphSchema, type GraphJson } from '../../graph/contract/graph.js';
import type { PolicySpec } from '../../../core/jobs/policy.js';
import type { Message } from '../../../core/prompts/message.js';

export const frozenPolicySchema = z
  .looseObject({ model: z.string(), provider: z.string() })
  .meta({ description: 'A model, its provider, and the further fields of its requests.' });
export type FrozenPolicy = z.infer<typeof frozenPolicySchema>;

export const heldoutRewardSchema = z
  .object({
    rows: z.int(),
    reward: z.number(),
    interval: intervalSchema.describe('95 %, for unseen rows of the same kind.'),
    baseline_reward: z.number().describe('Of the baseline on the same rows.'),
  })
  .meta({ id: 'HeldOutReward' });

export const provenanceSchema = z.object({
  source: z.enum(['session', 'graph_job', 'messages', 'deployment']),
  job_id: z.string().nullable().describe('The session, graph job or deployment.'),
  candidate_id: z.string().nullable(),
  reward: z
    .number()
    .nullable()
    .describe(
      "The candidate's mean on the evaluation seeds of its job at publication; null if messages or policy differ from it.",
    ),
  verdict: z.enum(conclusions).nullable().describe("The job's verdict if the candidate is its best; null otherwise."),
  heldout: heldoutRewardSchema
    .optional()
    .describe("Of the job's winner on the held-out rows; absent: another candidate, nothing held out, or as `reward`."),
});

const common = {
  lever_versions: leverVersionsSchema.describe("The candidate's lever versions."),
  provenance: provenanceSchema,
};

const demoSchema = z.object({
  component: z.string().nullable().describe('The component whose calls include it; null: all calls.'),
  seed: z.int().nullable(),
  ordinal: z.int(),
  input: z.string(),
  output: z.string(),
});

/** A prompt with everything needed to build a request. */
const promptSnapshotSchema = z.object({
  kind: z.literal('messages'),
  messages: z.array(messageSchema),
  demos: z.array(demoSchema).describe('Shown after the leading system messages.'),
  levers_marked: z.boolean().describe("The messages are the texts of spans that callers mark with <lever name='…'>."),
  policy: frozenPolicySchema,
  ...common,
});

/** A graph and its models; a step without a model uses the first. */
const graphSnapshotSchema = z.object({
  kind: z.literal('graph'),
  graph: graphSchema,
  graph_txt: z.string().describe('The complete graph as readable text, including the order of inputs.'),
  policies: z.array(frozenPolicySchema),
  ...common,
});

export type PromptContent = Omit<z.infer<typeof promptSnapshotSchema>, 'messages' | 'demos'> & {
  messages: Message[];
  demos: Demo[];
};
export type GraphContent = Omit<z.infer<typeof graphSnapshotSchema>, 'graph'> & { graph: GraphJson };
export type SnapshotContent = PromptContent | GraphContent;

const head = {
  snapshot_id: z
    .string()
    .describe(
      'snap_ and the SHA-256, in hex, of all fields but snapshot_id and created_at as canonical JSON (RFC 8785).',
    ),
  created_at: timestamp,
};

export const snapshotSchema = z
  .discriminatedUnion('kind', [promptSnapshotSchema.extend(head), graphSnapshotSchema.extend(head)])
  .meta({ id: 'Snapshot', description: 'The immutable content of a deployment.' });

export const snapshotDiffSchema = z.object({
  from: z.string(),
  to: z.string(),
  identical: z.boolean(),
  parts: z.array(
    z.object({
      part: z.string().describe('messages/<component>, demos, graph, policy, policies, lever_versions, provenance.'),
      change: z.enum(['added', 'removed', 'changed']),
      diff: z.string().describe('A unified diff of its text.'),
    }),
  ),
});

/** Converts a policy to and from its snapshot form. */
export const policyToSnapshot = ({ provider, model, params }: PolicySpec): FrozenPolicy => ({
  ...params,
  provider,
  model,
});
export const policyFromSnapshot = ({ provider, model, ...params }: FrozenPolicy): PolicySpec => ({
  provider,
  model,
  params,
});
