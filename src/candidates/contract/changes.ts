/** What a candidate changes in another prompt of its job, and what speaks for each edit. */
import { z } from 'zod';

export const changesQuerySchema = z.strictObject({
  against: z
    .union([z.enum(['baseline', 'parent']), z.string().regex(/^cand_\w{1,100}$/)], {
      error: 'must be baseline, parent or the id of a candidate of the job',
    })
    .default('baseline')
    .describe('The earlier prompt: the baseline, the first parent, or another candidate of the job.'),
});

const sentence = z.int().nullable();

const editSchema = z
  .object({
    kind: z
      .enum(['added', 'removed', 'changed', 'moved'])
      .describe('changed: a sentence with the same key or most of the same words. moved: the same text elsewhere.'),
    component: z.string().describe('The component that contains it; `_demos`: a demonstration.'),
    from: sentence.describe('Its index among the sentences of the component before; null: added.'),
    to: sentence.describe('Its index after; null: removed.'),
    before: z.string().nullable().describe('Its text without the white space around it.'),
    after: z.string().nullable(),
    words: z
      .array(z.object({ kind: z.enum(['same', 'added', 'removed']), text: z.string() }))
      .nullable()
      .describe('What changed inside a changed sentence; null for the other kinds.'),
    author_id: z
      .string()
      .nullable()
      .describe(
        'The candidate that wrote the later text, or that removed it; null: no ancestor of the candidate removed it, or a demonstration.',
      ),
  })
  .meta({ id: 'PromptEdit', description: 'An edit of one sentence.' });

const rewardSchema = z.number();

const authorSchema = z
  .object({
    candidate_id: z.string(),
    parent_ids: z.array(z.string()),
    generation: z.int(),
    is_baseline: z.boolean(),
    is_given: z.boolean().describe('A person wrote it.'),
    feedback: z
      .array(z.object({ rollout_id: z.string(), seed: z.int().nullable(), feedback: z.string() }))
      .describe('The feedback shown to its reflection: the first 5, each cut at 500 bytes.'),
    feedback_total: z.int(),
    num_edits: z
      .int()
      .describe(
        "The edits that it made of its first parent's prompt, those that later candidates replaced among them. Its feedback and rows are of all of them together. 0: the baseline.",
      ),
    rows: z
      .object({
        compared: z.int().describe('Rows on which both have a reward: its test, and rows that both ran on.'),
        won: z.int().describe('Rows with a higher reward than before.'),
        lost: z.int(),
        differing: z
          .array(
            z.object({
              seed: z.int(),
              before: rewardSchema.describe('Of the parent; in its test, else of the nearest ancestor.'),
              after: rewardSchema,
              rollout_id: z.string(),
            }),
          )
          .describe('The won and the lost rows with the largest differences, at most 20 of each.'),
      })
      .nullable()
      .describe('Against its parent, of all its edits together; null: the baseline.'),
  })
  .meta({ id: 'PromptAuthor', description: 'A candidate that wrote or removed sentences.' });

export const changesSchema = z
  .object({
    job_id: z.string(),
    candidate_id: z.string(),
    against_id: z.string().describe('The candidate with the earlier prompt.'),
    edits: z.array(editSchema).describe('In the order of the later prompt; the first 500.'),
    total: z.int().describe('All edits.'),
    is_equal: z.boolean().describe('Whether both texts are the same. Without edits they may differ in white space.'),
    authors: z.array(authorSchema).describe('Of the edits, and of the sentences of the later prompt.'),
    ablation: z
      .object({
        basis: z.enum(['heldout', 'evaluation']).describe('Held-out rows, or those that selected the candidate.'),
        rows: z.int(),
      })
      .nullable()
      .describe('The rows of an evaluation without one edit; null: there can be none.'),
  })
  .meta({ id: 'PromptChanges', description: 'The edits that make a prompt of another, with evidence.' });

export const ablationSchema = z
  .strictObject({
    component: z.string().min(1).max(200).describe('Of an edit of the candidate.'),
    sentence: z.int().min(0).max(100_000).describe('`to` of that edit.'),
    against: changesQuerySchema.shape.against,
  })
  .meta({ id: 'CreateAblation' });
