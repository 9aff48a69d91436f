/** The JSON form of graphs and edits; `src/core/graphs/validate.ts` checks refs and limits. */
import { z } from 'zod';
import { unlessMissing } from '../../../contracts/validation.js';

const id = z.string().describe('1 to 64 letters, digits or _; begins with a letter.');
const ref = z
  .string()
  .describe(
    'input, input.<field>, <step> or <step>.<field>, with further field names after dots; in a map also its item.',
  );
const inputs = z.record(z.string(), ref).describe("The step's inputs by placeholder name: {{name}}.");
const text = z.string();

const graphMessageSchema = z
  .strictObject({ role: z.enum(['system', 'user', 'assistant']), content: text })
  .meta({ id: 'GraphMessage' });

const prompt = {
  inputs,
  messages: z.array(graphMessageSchema),
  model: z.string().nullable().exactOptional().describe("Absent or null: the job's first policy model."),
  timeout_s: z.number().exactOptional().describe('Seconds per call. Default 120.'),
  tries: z.number().exactOptional().describe('Maximum calls until the answer is usable. Default 3.'),
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
  .describe("field: an object with the model's text in this field. schema: the answer parsed as JSON of this schema.");

const scalar = z.union(
  [z.string(), z.number(), z.boolean(), z.null()],
  'must be a text, a number, true, false or null',
);

const llmSchema = z.strictObject({
  id,
  type: z.literal('llm'),
  ...prompt,
  output: answerFormSchema,
  samples: z.number().exactOptional().describe('Number of calls; above 1 the value is the list of answers.'),
});

const mapSchema = z.strictObject({
  id,
  type: z.literal('map'),
  ...prompt,
  output: answerFormSchema,
  over: ref.describe('A list; one call per item, and the value is the list of answers.'),
  as: z.string().describe("The item's name in refs and messages."),
  max_items: z.number().exactOptional().describe('A longer list fails the step. Default 20.'),
});

const bySchema = z.union(
  [
    z.literal('majority'),
    z.strictObject({
      judge: z
        .strictObject(prompt)
        .describe('Its messages contain {{candidates}}; it answers with the number of a candidate.'),
    }),
  ],
  unlessMissing('must be "majority" or {"judge": {inputs, messages}}'),
);

const voteSchema = z.strictObject({
  id,
  type: z.literal('vote'),
  over: ref.exactOptional().describe('A list to choose from. Exactly one of this and of.'),
  of: z.array(ref).exactOptional().describe('Values to choose from. Exactly one of this and over.'),
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
export type PlainOp = (typeof plainOps)[number];
const transformSchema = z.discriminatedUnion('op', [
  z.strictObject({ ...transform, op: z.literal('template'), text }).meta({ id: 'GraphStepTransformTemplate' }),
  z.strictObject({ ...transform, op: z.enum(['split', 'join']), by: text }).meta({ id: 'GraphStepTransformSplitJoin' }),
  z.strictObject({ ...transform, op: z.literal('item'), index: z.number() }).meta({ id: 'GraphStepTransformItem' }),
  z
    .strictObject({ ...transform, op: z.literal('between'), start: text, end: text })
    .meta({ id: 'GraphStepTransformBetween' }),
  z.strictObject({ ...transform, op: z.literal('pluck'), path: text }).meta({ id: 'GraphStepTransformPluck' }),
  z.strictObject({ ...transform, op: z.enum(plainOps) }).meta({ id: 'GraphStepTransformPlain' }),
]);

const stepSchema = z
  .discriminatedUnion('type', [llmSchema, mapSchema, voteSchema, selectSchema, transformSchema])
  .meta({ id: 'GraphStep' });
export type StepJson = z.infer<typeof stepSchema>;
export type PromptJson = Pick<z.infer<typeof llmSchema>, keyof typeof prompt>;
export type VoteByJson = z.infer<typeof bySchema>;

export const graphSchema = z
  .strictObject({
    inputs: z.array(z.string()).describe("Fields required in every task's input."),
    steps: z.array(stepSchema),
    output: ref,
  })
  .meta({ id: 'Graph', description: "Acyclic steps from a task's input to one output." });
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
