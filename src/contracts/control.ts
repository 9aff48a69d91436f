import { z } from 'zod';
import { correlationIdSchema, statusSchema } from './common.js';
import { labelFields } from './labels.js';
import { all, anyRequired, either, forbidden, required, where } from './rules.js';
import { runAlways, valueAt } from './validation.js';

const reason = z.string().max(2_000).nullish().describe('Accepted from the existing client; not stored.');

/** Fields of PATCH beside the state; null removes a label. */
export const markFields = {
  name: labelFields.name.describe('Replaces the name; null removes it.'),
  tags: labelFields.tags.describe('Replaces all tags; null removes them.'),
  metadata: labelFields.metadata.describe('Replaces all metadata; null removes it.'),
  notes: labelFields.notes.describe('Replaces the notes; null removes them.'),
  archived: z.boolean().optional().describe('true: lists leave the job out. false: they show it again.'),
};
const markNames = Object.keys(markFields);
const anyMark = `one of ${markNames.slice(0, -1).join(', ')} and ${markNames.at(-1)}`;

/** Body of PATCH: a state, or labels and `archived`. */
export const jobChangeSchema = z
  .strictObject(
    {
      state: z
        .enum(['paused', 'running', 'cancelled'])
        .optional()
        .describe('paused pauses a running job, running resumes a paused one, cancelled ends it.'),
      reason,
      ...markFields,
    },
    `must be a JSON object with state, or with ${anyMark}`,
  )
  .superRefine((body: unknown, ctx) => {
    const refuse = (message: string) => ctx.addIssue({ code: 'custom', path: ['state'], message });
    const hasMarks = markNames.some((field) => valueAt(body, field) !== undefined);
    const hasState = valueAt(body, 'state') !== undefined;
    if (!hasState && !hasMarks) refuse(`is required, or ${anyMark}`);
    if (hasState && hasMarks) refuse('must not be given together with other fields: send two requests');
  }, runAlways)
  .meta(either(all(required('state'), forbidden(...markNames)), all(anyRequired(...markNames), forbidden('state'))));

/** Body of pause, resume and cancel; optional. */
export const commandBodySchema = z
  .strictObject({ reason }, 'must be a JSON object, or absent')
  .meta({ id: 'Command' })
  .nullish();

const commandKindSchema = z.enum(['pause', 'resume', 'cancel', 'stop', 'candidate', 'hint']);
/** Commands to a job's workflow; `stop` is a reward that also ends the job. */
export type CommandKind = z.infer<typeof commandKindSchema>;

/** 202: no worker answered in time; `pending_command` takes effect once a worker returns. */
export const controlAnswerSchema = z
  .object({
    session_id: z.string().optional(),
    graph_gen_job_id: z.string().optional(),
    job_id: z.string(),
    status: statusSchema,
    pending_command: commandKindSchema.optional(),
    command_id: z.string().optional(),
  })
  .meta({ id: 'ControlAnswer', description: "The job's status after the command." });
export type ControlAnswer = z.infer<typeof controlAnswerSchema>;

const rewardNumber = z.number('must be a finite number');
const hasNumber = (name: string) => all(required(name), where({ [name]: { type: 'number' } }));

/** A reward for one rollout, as `reward_info` or a plain number; `stop` completes the job. */
export const rewardSchema = z
  .strictObject(
    {
      reward_info: z
        .looseObject({ score: rewardNumber.nullish(), outcome_reward: rewardNumber.nullish() })
        .meta({ id: 'RewardInfo' })
        .optional()
        .describe('outcome_reward is used, else score. All other fields are stored; reflection uses details.feedback.'),
      reward: rewardNumber.nullish().describe('The reward as a plain number.'),
      rollout_id: correlationIdSchema.nullish(),
      candidate_id: correlationIdSchema.nullish(),
      correlation_id: correlationIdSchema.nullish(),
      trace_ref: z.unknown().optional(),
      artifact: z.unknown().optional(),
      metadata: z.unknown().optional(),
      stop: z.boolean().nullish().describe('Completes the job with its best candidate so far.'),
    },
    'must be a JSON object with reward_info, reward or stop',
  )
  .superRefine((body, ctx) => {
    if (rewardValue(body) !== null || body.stop) return;
    ctx.addIssue({
      code: 'custom',
      path: ['reward_info'],
      message: 'must have outcome_reward or score as a number; alternatively give reward as a number, or stop: true',
    });
  })
  .meta(
    either(
      hasNumber('reward'),
      all(required('stop'), where({ stop: { const: true } })),
      all(required('reward_info'), where({ reward_info: either(hasNumber('outcome_reward'), hasNumber('score')) })),
    ),
  );
export type RewardRequest = z.infer<typeof rewardSchema>;

/** Null: the request has none. */
export function rewardValue(body: {
  reward_info?: { score?: number | null | undefined; outcome_reward?: number | null | undefined } | undefined;
  reward?: number | null | undefined;
}): number | null {
  return body.reward_info?.outcome_reward ?? body.reward_info?.score ?? body.reward ?? null;
}

export const rewardAnswerSchema = controlAnswerSchema.extend({
  reward: z.number().nullable(),
  rollout_id: z.string().nullable(),
  counted: z.boolean().describe('Whether the reward was recorded for a job that can still use it.'),
  warning: z
    .string()
    .nullable()
    .describe('Set if no call had the id of the reward so far: it counts once one has, or it is mistyped.'),
});
