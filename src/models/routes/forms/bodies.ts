import { z } from 'zod';

/** The bodies in other forms, as far as they are checked. */
const anyObject = z.looseObject({});
const model = z.string().nullish().describe("Default: the policy's.");
const stream = z.boolean().nullish();

const ofType = <Type extends string, Shape extends z.ZodRawShape>(type: Type, shape: Shape) =>
  z.looseObject({ type: z.literal(type), ...shape });
const textOr = (part: z.ZodType) => z.union([z.string(), z.array(part)]);

const part = z.union([
  ofType('input_text', { text: z.string() }),
  ofType('output_text', { text: z.string() }),
  ofType('refusal', { refusal: z.string() }),
  ofType('input_image', { image_url: z.string().describe('A URL, or a data URL.') }),
  ofType('input_file', { file_data: z.string() }),
]);

const item = z.union([
  z.looseObject({
    type: z.literal('message').optional(),
    role: z.enum(['user', 'assistant', 'system', 'developer']),
    content: textOr(part),
  }),
  ofType('function_call', { call_id: z.string(), name: z.string(), arguments: z.string() }),
  ofType('function_call_output', { call_id: z.string(), output: textOr(part) }),
]);

export const responseRequest = z
  .looseObject({
    input: z
      .union([z.string(), z.array(item).min(1)])
      .describe('A text, or the items of the conversation; items of the type reasoning are left out.'),
    instructions: z.string().nullish().describe('The system message, whose place the prompt takes.'),
    model,
    stream,
  })
  .meta({
    id: 'ResponseRequest',
    description: "OpenAI's request of a response. What needs stored responses, or tools that OpenAI runs, is 400.",
  });

const text = ofType('text', { text: z.string() });
const source = z.union([
  ofType('base64', { media_type: z.string(), data: z.string() }),
  ofType('url', { url: z.string() }),
]);
const paper = z.union([
  ofType('base64', { media_type: z.string(), data: z.string() }),
  ofType('text', { data: z.string() }),
]);
const shown = [text, ofType('image', { source }), ofType('document', { source: paper })] as const;
const result = ofType('tool_result', { tool_use_id: z.string(), content: textOr(z.union(shown)).nullish() });
const said = [
  text,
  ofType('thinking', {}),
  ofType('redacted_thinking', {}),
  ofType('tool_use', { id: z.string(), name: z.string(), input: anyObject.nullish() }),
] as const;

const message = z.union([
  z.looseObject({ role: z.literal('user'), content: textOr(z.union([...shown, result])) }),
  z.looseObject({ role: z.literal('assistant'), content: textOr(z.union(said)) }),
  z.looseObject({ role: z.literal('system'), content: textOr(text) }),
]);

export const messageRequest = z
  .looseObject({
    messages: z.array(message).min(1),
    max_tokens: z.int().min(1).nullish(),
    system: textOr(text).nullish().describe('The system prompt, whose place the prompt takes.'),
    model,
    stream,
  })
  .meta({
    id: 'MessageRequest',
    description: "Anthropic's request of a message. Stored files, and tools that Anthropic runs, are 400.",
  });
