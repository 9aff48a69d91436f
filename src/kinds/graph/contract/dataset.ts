/** The data set of a graph job: tasks, gold outputs and scoring. */
import { z } from 'zod';
import { rowsSchema } from '../../../datasets/contract/rows.js';
import { firstOf, needs, refuses, together, withRule } from '../../../contracts/field-rules.js';
import { promptSchema } from '../../../contracts/prompt.js';
import { outcomeRubricSchema, rubricSchema, type Rubric } from '../../../contracts/rubric.js';
import { unionError, unlessMissing, unusedSchema } from '../../../contracts/validation.js';
import type { Message } from '../../../core/prompts/message.js';
import { verifierSchema } from '../../../scorers/verifier.js';

export const datasetLimits = {
  tasks: 10_000,
  /** Bytes of the data set as UTF-8 JSON. */
  bytes: 10 * 1024 * 1024,
  /** Characters of the task description and of a text prompt. */
  textChars: 100_000,
} as const;

const anyObject = z.record(z.string(), z.unknown());
const idSchema = z.string().min(1, 'must not be empty').max(200);

const anyRubricSchema = z.union(
  [...rubricSchema.options, outcomeRubricSchema],
  unionError('a text or {"criteria": [{"name", "weight", "description"}]}'),
);

const taskSchema = z.strictObject({
  id: idSchema,
  input: z
    .union([z.string(), anyObject], unlessMissing('must be an object or a text (short for {"input": text})'))
    .describe('Values by field, with the same fields in all tasks. A text is short for {"input": text}.'),
  rubric: anyRubricSchema.optional().describe('Overrides default_rubric for this task.'),
});

const { dataset_id: datasetId, input, expected } = rowsSchema.shape;

/** A data set of the service, or the tasks themselves. */
const sourceRule = firstOf(
  {
    when: refuses(['dataset_id']),
    then: together(
      needs(['tasks'], 'must be a list of tasks, unless dataset_id names a data set'),
      refuses(['input', 'expected'], 'names a column: give it with dataset_id'),
    ),
  },
  {
    when: needs(['dataset_id']),
    then: together(
      refuses(['tasks'], 'must not be given together with dataset_id'),
      refuses(['gold_outputs'], 'is not used with dataset_id: name the column of right answers as expected'),
    ),
  },
);

export const datasetSchema = withRule(
  z.strictObject({
    metadata: anyObject.optional().describe('Arbitrary metadata; task_description, if a text, describes the task.'),
    initial_prompt: z
      .union(
        [z.string().regex(/\S/, 'must not be blank').max(datasetLimits.textChars), promptSchema],
        unionError('a text or {"messages": […]}'),
      )
      .optional()
      .describe('The prompt of the first graph; a text is a system message.'),
    dataset_id: datasetId.describe(
      `An uploaded data set in place of tasks, of at most ${datasetLimits.tasks} rows: a row is a task, its number the id, its columns the fields of the input.`,
    ),
    input: input
      .unwrap()
      .optional()
      .describe(
        'With dataset_id: the column that {{input}} in initial_prompt stands for, and that follows a prompt without placeholders. Default: input, if there is such a column.',
      ),
    expected: expected
      .unwrap()
      .optional()
      .describe(
        'With dataset_id: the column with the gold outputs, which is no field of the input. Default: expected.',
      ),
    tasks: z
      .array(taskSchema, 'must be a list of tasks')
      .meta({ minItems: 1, maxItems: datasetLimits.tasks })
      .optional(),
    gold_outputs: z
      .array(
        z.strictObject({
          task_id: idSchema.optional().describe('Without it the output is not used.'),
          output: z.unknown().describe('Any JSON value.'),
          note: unusedSchema,
        }),
      )
      .optional()
      .describe('At most one per task. All modes except rubric require one for each task.'),
    default_rubric: anyRubricSchema.optional().describe('The rubric of tasks without their own.'),
    verifier_config: verifierSchema,
    version: unusedSchema,
    input_schema: unusedSchema,
    output_schema: unusedSchema,
    output_config: unusedSchema,
    select_output: unusedSchema,
  }),
  sourceRule,
  'GraphDataset',
);
export type GraphDataset = z.infer<typeof datasetSchema>;

/** A data set with its tasks: the request's, or those of the rows. */
export type TaskedDataset = GraphDataset & { tasks: NonNullable<GraphDataset['tasks']> };

export function taskInput(input: string | Record<string, unknown>): Record<string, unknown> {
  return typeof input === 'string' ? { input } : input;
}

/** The task description in the metadata and the field that holds it; null if there is none. */
export function taskDescription(
  metadata: Readonly<Record<string, unknown>> | undefined,
): { name: string; text: string } | null {
  for (const name of ['task_description', 'description']) {
    const text = metadata?.[name];
    if (typeof text === 'string' && text.trim() !== '') return { name, text };
  }
  return null;
}

/** What the existing client sends for want of a prompt. */
const noPrompt = 'Optimizing prompt graph...';

/** The messages of the initial prompt; null if there is none. */
export function initialMessages({ initial_prompt: prompt }: Pick<GraphDataset, 'initial_prompt'>): Message[] | null {
  if (prompt === undefined || prompt === noPrompt) return null;
  return typeof prompt === 'string' ? [{ role: 'system', content: prompt }] : prompt.messages;
}

/** A rubric in this service's form; null: none, also where its list of criteria is empty. */
export function rubricOf(given: z.infer<typeof anyRubricSchema> | undefined): Rubric | null {
  if (given === undefined || typeof given === 'string' || 'criteria' in given) return given ?? null;
  const criteria = (given.outcome?.criteria ?? []).map(({ expected_answer: expected, description, ...criterion }) => ({
    ...criterion,
    description: [description, ...(expected === undefined ? [] : [`Expected answer: ${expected}`])].join('\n').trim(),
  }));
  return criteria.length > 0 ? { criteria } : null;
}

/** Whether the data set or a task has a rubric, besides the guidelines of `verifier_config`. */
export const hasRubric = ({ tasks, default_rubric: common }: TaskedDataset): boolean =>
  [common, ...tasks.map(({ rubric }) => rubric)].some((rubric) => rubricOf(rubric) !== null);
