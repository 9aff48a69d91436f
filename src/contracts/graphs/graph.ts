/**
 * The JSON form of a graph and of the edits by which one is changed. The schemas say which fields there are and of what type; what
 * else is required of a graph (refs, placeholders, limits) `src/core/graphs/validate.ts` says.
 */
import { z } from 'zod';
import { unlessMissing } from '../common.js';

const id = z.string().describe('1 to 64 letters, digits or _, beginning with a letter.');
const ref = z
  .string()
  .describe('input, input.<field>, <step>, <step>.<field>: names by dots into objects; in a map also its item.');
const inputs = z
  .record(z.string(), ref)
  .describe('What the step takes, by the name that its messages have it by: {{name}}.');
const text = z.string();

const graphMessageSchema = z
  .strictObject({ role: z.enum(['system', 'user', 'assistant']), content: text })
  .meta({ id: 'GraphMessage' });

const prompt = {
  inputs,
  messages: z.array(graphMessageSchema),
  model: z.string().nullable().exactOptional().describe("Absent or null: the job's first policy model."),
  timeout_s: z.number().exactOptional().describe('Seconds for one call; 120 where absent.'),
  tries: z.number().exactOptional().describe('Calls at most until the answer is usable; 3 where absent.'),
};

const answerFormSchema = z
  .union(
    [
      z.strictObject({ field: z.string() }),
      z.strictObject({
        schema: z
          .record(z.string(), z.unknown())
          .describe('JSON Schema: type, properties, required, items, enum, additionalProperties, description.'),
      }),
    ],
    unlessMissing('must be {"field": name} or {"schema": JSON Schema}'),
  )
  .describe("field: an object with the model's text as this field. schema: the answer as JSON of this form.");

const scalar = z.union(
  [z.string(), z.number(), z.boolean(), z.null()],
  'must be a text, a number, true, false or null',
);

const llmSchema = z.strictObject({
  id,
  type: z.literal('llm'),
  ...prompt,
  output: answerFormSchema,
  samples: z.number().exactOptional().describe('Above 1: so many calls, and the value is the list of their answers.'),
});

const mapSchema = z.strictObject({
  id,
  type: z.literal('map'),
  ...prompt,
  output: answerFormSchema,
  over: ref.describe('A list; one call is made for each item, and the value is the list of their answers.'),
  as: z.string().describe("The item's name in refs and messages."),
  max_items: z.number().exactOptional().describe('A longer list fails the step; 20 where absent.'),
});

const bySchema = z.union(
  [
    z.literal('majority'),
    z.strictObject({
      judge: z.strictObject(prompt).describe('Its messages have {{candidates}}; its answer names one by its number.'),
    }),
  ],
  unlessMissing('must be "majority" or {"judge": {inputs, messages}}'),
);

const voteSchema = z.strictObject({
  id,
  type: z.literal('vote'),
  over: ref.exactOptional().describe('A list to choose from; or of.'),
  of: z.array(ref).exactOptional().describe('Several values to choose from; or over.'),
  by: bySchema,
});

const selectSchema = z.strictObject({
  id,
  type: z.literal('select'),
  cases: z.array(
    z.strictObject({
      when: z.strictObject({
        of: ref,
        is: z.enum(['equals', 'contains', 'empty', 'less', 'greater']),
        value: scalar.exactOptional(),
      }),
      then: ref,
    }),
  ),
  otherwise: ref,
});

const transform = { id, type: z.literal('transform'), inputs };
const plainOps = [
  'object',
  'list',
  'concat',
  'json_parse',
  'json_text',
  'lines',
  'first',
  'last',
  'count',
  'lower',
  'upper',
  'trim',
  'number',
  'unique',
  'sum',
  'min',
  'max',
] as const;
const transformSchema = z.discriminatedUnion('op', [
  z.strictObject({ ...transform, op: z.literal('template'), text }),
  z.strictObject({ ...transform, op: z.enum(['split', 'join']), by: text }),
  z.strictObject({ ...transform, op: z.literal('item'), index: z.number() }),
  z.strictObject({ ...transform, op: z.literal('between'), start: text, end: text }),
  z.strictObject({ ...transform, op: z.literal('pluck'), path: text }),
  z.strictObject({ ...transform, op: z.enum(plainOps) }),
]);

const stepSchema = z
  .discriminatedUnion('type', [llmSchema, mapSchema, voteSchema, selectSchema, transformSchema])
  .meta({ id: 'GraphStep' });
export type StepJson = z.infer<typeof stepSchema>;
export type PromptJson = Pick<z.infer<typeof llmSchema>, keyof typeof prompt>;
export type VoteByJson = z.infer<typeof bySchema>;

export const graphSchema = z
  .strictObject({
    inputs: z.array(z.string()).describe("Fields that every task's input has."),
    steps: z.array(stepSchema),
    output: ref,
  })
  .meta({ id: 'Graph', description: "Steps without a cycle, from a task's input to one output." });
export type GraphJson = z.infer<typeof graphSchema>;

const step = z.string().describe('The id of a step.');
const messages = z.array(graphMessageSchema);

export const editSchema = z
  .discriminatedUnion('edit', [
    z.strictObject({
      edit: z.literal('verify'),
      step,
      prompt: text.exactOptional(),
      messages: messages.exactOptional(),
    }),
    z.strictObject({ edit: z.literal('critique'), step, critique: text, revise: text }),
    z.strictObject({ edit: z.literal('decompose'), step, prompt: text, messages }),
    z.strictObject({ edit: z.literal('vote'), step, samples: z.number(), by: bySchema }),
    z.strictObject({ edit: z.literal('add'), step: stepSchema }),
    z.strictObject({ edit: z.literal('remove'), step }),
    z.strictObject({ edit: z.literal('rewire'), step, input: z.string(), to: ref.nullable() }),
    z.strictObject({ edit: z.literal('model'), step, model: z.string().nullable() }),
    z.strictObject({ edit: z.literal('prompt'), step, messages }),
    z.strictObject({ edit: z.literal('output'), to: ref }),
  ])
  .meta({ id: 'GraphEdit' });
export type EditJson = z.infer<typeof editSchema>;

export const editsSchema = z.array(editSchema);
