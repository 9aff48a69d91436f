/** The data set of a graph job: tasks, what is wanted of them, and how that is scored. */
import { z } from 'zod';
import { promptSchema, unlessMissing } from '../common.js';
import type { Message } from '../../core/jobs/spec.js';
import { unionError, rubricSchema, verifierSchema } from './verifier.js';

/** Upper limits of a data set. */
export const datasetLimits = {
  tasks: 10_000,
  /** Bytes of the data set as JSON in UTF-8. */
  bytes: 10 * 1024 * 1024,
  /** Characters of what the metadata says of the task, and of a prompt that is one text. */
  textChars: 100_000,
} as const;

const anyObject = z.record(z.string(), z.unknown());
const idSchema = z.string().min(1, 'must not be empty').max(200);

const taskSchema = z.strictObject({
  id: idSchema,
  input: z
    .union([z.string(), anyObject], unlessMissing('must be an object, or a text, which stands for {"input": text}'))
    .describe('Values by field, all tasks with the same fields; a text stands for {"input": text}.'),
  rubric: rubricSchema.optional().describe('In the place of default_rubric, for this task.'),
});

export const datasetSchema = z
  .strictObject({
    metadata: anyObject.optional().describe('Yours; task_description, where it is a text, says what the task is.'),
    initial_prompt: z
      .union(
        [z.string().regex(/\S/, 'must not be blank').max(datasetLimits.textChars), promptSchema],
        unionError('a text or {"messages": […]}'),
      )
      .optional()
      .describe('What the first graph asks its model; a text is a system message.'),
    tasks: z
      .array(taskSchema, unlessMissing('must be a list of tasks'))
      .meta({ minItems: 1, maxItems: datasetLimits.tasks }),
    gold_outputs: z
      .array(z.strictObject({ task_id: idSchema, output: z.unknown().describe('Any JSON value.') }))
      .optional()
      .describe('At most one a task; all modes but rubric need one for each.'),
    default_rubric: rubricSchema.optional().describe('Of tasks without one of their own.'),
    verifier_config: verifierSchema,
  })
  .meta({ id: 'GraphDataset' });
export type GraphDataset = z.infer<typeof datasetSchema>;

/** A task's input by field. */
export function taskInput(input: string | Record<string, unknown>): Record<string, unknown> {
  return typeof input === 'string' ? { input } : input;
}

/** What a data set's metadata says of the task in words, and by which name; null: nothing. */
export function taskDescription(
  metadata: Readonly<Record<string, unknown>> | undefined,
): { name: string; text: string } | null {
  for (const name of ['task_description', 'description']) {
    const text = metadata?.[name];
    if (typeof text === 'string' && text.trim() !== '') return { name, text };
  }
  return null;
}

/** The messages that a data set begins with; null: it names none. */
export function initialMessages({ initial_prompt: prompt }: Pick<GraphDataset, 'initial_prompt'>): Message[] | null {
  if (prompt === undefined) return null;
  return typeof prompt === 'string' ? [{ role: 'system', content: prompt }] : prompt.messages;
}
