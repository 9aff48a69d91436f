/** What can be read of the candidates of a graph job; the rest is as it is of sessions. */
import { z } from 'zod';
import { editSchema, graphSchema } from './graph.js';
import { graphIdFields, graphJobSchema } from './job.js';
import {
  attemptSchema,
  candidateDetailSchema,
  candidateItemSchema,
  paretoSchema,
  reflectionSchema,
  seedEvalSchema,
} from '../candidates/lineage.js';

const { diff, minibatch, segments } = candidateDetailSchema.shape;
const { seeds, front } = paretoSchema.shape;

export const graphCandidateSchema = z
  .object({
    ...graphIdFields,
    ...candidateItemSchema.shape,
    graph: graphSchema,
    graph_txt: z.string().describe('The same for people.'),
    prompts: z
      .array(z.object({ component: z.string(), text: z.string() }))
      .describe(
        'Every message of every step that asks a model: <step>.<role>, from the second of a role on with its number.',
      ),
    edits: z
      .array(editSchema)
      .nullable()
      .describe(
        'Those that made it of its parent, in their order; null where it is not the structure that was edited.',
      ),
    diff: diff.describe('Against each parent, for each component that differs, that is new or gone.'),
    reflection: z
      .object({
        ...reflectionSchema.shape,
        components: reflectionSchema.shape.components.describe(
          'The prompts that it rewrote; none where it edited the structure.',
        ),
        attempts: z.array(
          z.object({
            ...attemptSchema.shape,
            component: z
              .string()
              .nullable()
              .describe('The prompt that was to be rewritten; null: the structure was to be edited.'),
          }),
        ),
      })
      .nullable()
      .describe('null for a candidate that no model proposed.'),
    minibatch,
    segments,
  })
  .meta({
    id: 'GraphCandidateDetail',
    description: 'A graph, where it comes from, and why it was accepted or rejected.',
  });

export const graphSeedEvalSchema = z
  .object({ ...seedEvalSchema.shape, task_id: z.string().describe('Of the task at the place that seed is.') })
  .meta({ id: 'GraphSeedEval', description: 'A run of a graph on a task.' });

export const graphParetoSchema = z
  .object({
    ...graphIdFields,
    seeds: seeds.describe('Every evaluation task, by its place.'),
    front,
    cost_front: graphJobSchema.shape.pareto,
  })
  .meta({ id: 'GraphParetoFront', description: 'Over the candidates that are evaluated.' });
