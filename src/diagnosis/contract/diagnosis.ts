/** What happened in a run, and what to do now, in responses of jobs. */
import { z } from 'zod';
import type { ActionKind, DiagnosisCode, ExtensionLimit, RowCause } from '../../core/diagnosis/diagnosis.js';
import type { ProposalCause } from '../../core/diagnosis/proposals.js';

const codes = [
  'all_wrong',
  'rollouts_failed',
  'answers_empty',
  'no_proposal_survived',
  'nothing_to_gain',
  'too_few_rows',
  'overfit',
  'noise',
  'budget_ended',
  'better',
  'worse',
  'no_better',
] as const satisfies readonly DiagnosisCode[];

const rowCauses = [
  'failed',
  'empty',
  'refusal',
  'format',
  'cut',
  'label_not_in_prompt',
  'scorer',
  'wrong',
] as const satisfies readonly RowCause[];

const proposalCauses = ['duplicate', 'too_long', 'unusable', 'failed'] as const satisfies readonly ProposalCause[];
const actionKinds = ['extend', 'deploy', 'new_run', 'more_rows', 'read_rows'] as const satisfies readonly ActionKind[];
const limits = ['max_rollouts', 'max_cost_usd', 'max_minutes'] as const satisfies readonly ExtensionLimit[];

const cut = 'cut at 300 characters';

export const diagnosisSchema = z
  .object({
    code: z.enum(codes),
    sentence: z.string().describe('What happened.'),
    facts: z.array(z.string()).max(3).describe('Sentences that explain it.'),
    rows: z
      .array(
        z.object({
          row: z.int().describe('The row, task or seed.'),
          trace_id: z.string(),
          expected: z.string().nullable().describe(`null: the job knows no right answer; ${cut}.`),
          answered: z.string().nullable().describe(`null: the model gave no answer; ${cut}.`),
          cause: z
            .enum(rowCauses)
            .describe(
              'failed: the rollout; empty: no text; refusal; format: the right answer in another form; cut: at the limit of tokens; label_not_in_prompt: the prompt does not name the expected label; scorer: it gave no reward; wrong: none of these.',
            ),
          because: z.string().describe('The cause in words.'),
        }),
      )
      .max(3)
      .describe('Rows that show it.'),
    action: z
      .object({
        kind: z.enum(actionKinds),
        label: z.string().describe('What to do, in a few words.'),
        limit: z.enum(limits).nullable().describe('Of extend: the limit to raise; null otherwise.'),
        to: z.number().nullable().describe('Of extend: its new total.'),
        cost_usd: z.number().nullable().describe('Of extend: about what the difference costs; null: unknown.'),
        prompt_addition: z.string().nullable().describe('Of new_run: a line that the prompt lacks.'),
      })
      .nullable()
      .describe('null: there is nothing to do.'),
  })
  .meta({ id: 'Diagnosis' })
  .nullable()
  .describe(
    'What happened in the run and what to do now, by rules. Before the end only if the answers show a fault; null: nothing is to be said, or error says it.',
  );

export const proposalCountsSchema = z
  .object({
    written: z.int().describe('Candidates beside the baseline.'),
    accepted: z.int(),
    rejected: z.int().describe('Tested and no better.'),
    refused: z
      .array(
        z.object({
          cause: z
            .enum(proposalCauses)
            .describe(
              'duplicate: a known text; too_long: above max_prompt_tokens; unusable: no text could be read from the answers; failed: the model gave no answer, or the text broke a rule.',
            ),
          count: z.int(),
          example: z.string().describe('The commonest reason.'),
        }),
      )
      .describe('Proposals without a candidate, the commonest cause first; empty once the events have expired.'),
  })
  .meta({ id: 'ProposalCounts' })
  .describe('What became of the proposals so far.');
