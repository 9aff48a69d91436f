/** What a deployment serves, frozen: what is hashed, what is stored and what is answered are the same JSON. */
import { z } from 'zod';
import { messageSchema, timestamp } from '../common.js';
import { leverVersionsSchema } from '../candidates/levers.js';
import type { Demo } from '../../core/prompts/demos.js';
import { graphSchema, type GraphJson } from '../graphs/graph.js';
import type { Message, PolicySpec } from '../../core/jobs/spec.js';

const frozenPolicySchema = z
  .looseObject({ model: z.string(), provider: z.string() })
  .meta({ description: 'A model, its provider, and the further fields of its requests.' });
export type FrozenPolicy = z.infer<typeof frozenPolicySchema>;

const provenanceSchema = z.object({
  source: z.enum(['session', 'graph_job', 'messages']),
  job_id: z.string().nullable(),
  candidate_id: z.string().nullable(),
  reward: z.number().nullable().describe("The candidate's mean on its job's evaluation seeds, when it was frozen."),
  verdict: z
    .enum(['better', 'not_significantly_better', 'worse'])
    .nullable()
    .describe("The job's, where the candidate is its best; null where there is none."),
});

const common = {
  lever_versions: leverVersionsSchema.describe("The job's levers at the candidate's versions."),
  provenance: provenanceSchema,
};

const demoSchema = z.object({
  component: z.string().nullable().describe('Whose calls it is shown to; null: to all.'),
  seed: z.int().nullable(),
  ordinal: z.int(),
  input: z.string(),
  output: z.string(),
});

/** A prompt with all that a request is made of. */
const promptSnapshotSchema = z.object({
  kind: z.literal('messages'),
  messages: z.array(messageSchema),
  demos: z.array(demoSchema).describe('Shown after the leading system messages.'),
  levers_marked: z.boolean().describe("The messages are texts of spans that callers mark with <lever name='…'>."),
  policy: frozenPolicySchema,
  ...common,
});

/** A graph with the models that its steps may ask; one without a model of its own asks the first. */
const graphSnapshotSchema = z.object({
  kind: z.literal('graph'),
  graph: graphSchema,
  graph_txt: z.string().describe('The graph for people; it says everything, the order of its inputs too.'),
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
  .meta({ id: 'Snapshot', description: 'What a deployment serves; it never changes.' });

/** One part in which two snapshots differ. */
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

/** A policy as a snapshot has it, and back. */
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
