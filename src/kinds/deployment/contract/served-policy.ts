/** The policy of given messages: each request of a deployment gets its fields by default. */
import { z } from 'zod';
import { policySchema } from '../../../contracts/common.js';
import { isObject } from '../../../util/json.js';
import { runAlways } from '../../../contracts/validation.js';

/** Fields of the callers' requests. */
const ofRequests = ['messages', 'stream', 'stream_options'];

const number = z.number('must be a number');
const count = z.number('must be a whole number').int('must be a whole number').min(1, 'must be at least 1');
const text = z.string('must be a string');
const flag = z.boolean('must be true or false');
const object = z.record(z.string(), z.unknown(), 'must be an object');
const objects = z.array(object, 'must be a list of objects');

/** Fields of OpenAI's chat completions with one type at all providers. */
const types: Record<string, z.ZodType> = {
  temperature: number,
  top_p: number,
  min_p: number,
  presence_penalty: number,
  frequency_penalty: number,
  max_tokens: count,
  max_completion_tokens: count,
  n: count,
  top_k: number,
  top_logprobs: number,
  tools: objects,
  functions: objects,
  response_format: object,
  logit_bias: object,
  metadata: object,
  logprobs: flag,
  parallel_tool_calls: flag,
  store: flag,
  reasoning_effort: text,
  user: text,
  stop: z.union([text, z.array(text)], 'must be a string or a list of strings'),
};

/** A policy with valid parameters: a wrong one would fail each request at the provider. */
export const servedPolicySchema = policySchema.superRefine((policy: unknown, ctx) => {
  if (!isObject(policy)) return;
  for (const name of ofRequests.filter((field) => Object.hasOwn(policy, field)))
    ctx.addIssue({ code: 'custom', path: [name], message: 'is set by each request: remove it' });
  for (const [name, type] of Object.entries(types)) {
    const value = policy[name];
    const { error } = type.nullish().safeParse(value);
    for (const { path, message } of error?.issues.slice(0, 1) ?? [])
      ctx.addIssue({ code: 'custom', path: [name, ...path], message });
  }
}, runAlways);
