/** Views of a graph job's candidates; shared fields: src/candidates/contract/lineage.ts. */
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
} from '../../../candidates/contract/lineage.js';

const { diff, minibatch, segments } = candidateDetailSchema.shape;
const { seeds, front } = paretoSchema.shape;
const taskId = z.string().describe('The task whose index is seed.');

export const graphCandidateSchema = z
  .object({
    ...graphIdFields,
    ...candidateItemSchema.shape,
    graph: graphSchema,
    graph_txt: z.string().describe('The graph as readable text.'),
    prompts: z
      .array(z.object({ component: z.string(), text: z.string() }))
      .describe(
        'All messages of all steps with a model, named <step>.<role>, numbered from the second message of a role.',
      ),
    edits: z
      .array(editSchema)
      .nullable()
      .describe('The edits of its parent, in order; null if the structure was not edited.'),
    diff: diff.describe('Diffs against each parent, for each component that was changed, added or removed.'),
    reflection: z
      .object({
        ...reflectionSchema.shape,
        components: reflectionSchema.shape.components.describe(
          'The rewritten prompts; empty if it edited the structure.',
        ),
        attempts: z.array(
          z.object({
            ...attemptSchema.shape,
            component: z.string().nullable().describe('The prompt to rewrite; null: an edit of the structure.'),
          }),
        ),
      })
      .nullable()
      .describe('null for a candidate without a proposal by a model.'),
    minibatch,
    segments,
  })
  .meta({
    id: 'GraphCandidateDetail',
    description: 'A graph, its origin, and why it was accepted or rejected.',
  });

export const graphSeedEvalSchema = z
  .object({ ...seedEvalSchema.shape, task_id: taskId })
  .meta({ id: 'GraphSeedEval', description: 'A run of a graph on a task.' });

export const graphParetoSchema = z
  .object({
    ...graphIdFields,
    seeds: z.array(seeds.element.extend({ task_id: taskId })).describe('All evaluation tasks, by index.'),
    front,
    cost_front: graphJobSchema.shape.pareto,
  })
  .meta({ id: 'GraphParetoFront', description: 'The Pareto front of the evaluated candidates.' });
