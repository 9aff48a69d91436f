/** Events of deployments, of migrations and of checkups. */
import { z } from 'zod';
import { migrationSteps, migrationVerdicts, promptSides } from '../../kinds/migration/contract/steps.js';
import { checkupSteps, judgedParts, judgedVerdicts } from '../../kinds/checkup/contract/steps.js';
import { intervalSchema } from '../search.js';
import { canaryEvidence } from '../canary-evidence.js';
import { event } from './event.js';

export const deploymentEvents = [
  event('deployment_building', 'The deployment is being built.', {
    name: z.string().describe('The name of the deployment.'),
  }),
  event('snapshot_frozen', 'The content to deploy is frozen.', {
    snapshot_id: z.string().describe('The frozen snapshot.'),
  }),
  event('gate_judged', 'The deployment gate was decided.', {
    passed: z.boolean().describe('Whether the deployment may go live.'),
    reward: z.number().describe('The mean reward of the candidate on the seeds of the gate.'),
    reward_interval: intervalSchema.describe('95 % interval of the reward, for unseen seeds.'),
    incumbent_reward: z.number().nullable().describe('The mean reward of the live deployment; null: not compared.'),
    comparison: z
      .object({
        difference: z.number().describe('The mean reward of the candidate minus that of the incumbent.'),
        low: z.number().describe('The lower end of its 95 % interval; -1.8e308: unbounded.'),
        high: z.number().describe('The upper end of its 95 % interval; 1.8e308: unbounded.'),
        seeds: z.int().describe('The number of seeds compared.'),
        rows_needed: z.int().nullable().describe('Seeds that would show the difference; null: decided, or none seen.'),
      })
      .nullable()
      .describe('The paired comparison; null: not compared.'),
    flipped_seeds: z.array(z.int()).describe('Seeds on which a side got two rewards for the same prompt.'),
  }),
  event('canary_step', 'A rollout of a deployment began with a step.', {
    step: z.int().describe('From 1.'),
    percent: z.number().describe('Of the requests of the name.'),
    is_shadow: z.boolean().describe('Whether callers do not see the answers of the new version.'),
    evidence: canaryEvidence.nullable().describe('Of the step before; null: there was none.'),
  }),
  event('canary_waits', 'A step of a rollout goes on.', {
    step: z.int().describe('From 1.'),
    reason: z
      .enum(['few_requests', 'undecided', 'approval', 'paused'])
      .describe(
        'Too few requests for the next step, a metric that does not decide, an approval that is awaited, or a pause.',
      ),
    evidence: canaryEvidence.describe('Of the step.'),
  }),
  event('canary_decided', 'A rollout ended.', {
    outcome: z.enum(['promoted', 'rolled_back']).describe('What became of the new version.'),
    by: z
      .enum(['metric', 'guard', 'time', 'person', 'overtaken'])
      .describe('What decided; overtaken: another version took the name.'),
    evidence: canaryEvidence.describe('Of the step.'),
  }),
  event('migration_step', 'A migration starts a job.', {
    step: z.enum(migrationSteps).describe('What the job is for; …_again: the rows that differ, a second time.'),
    job_id: z.string().describe('The evaluation or the session.'),
  }),
  event('migration_judged', 'A prompt on the new model was compared with today.', {
    side: z.enum(promptSides).describe('same_prompt: the live prompt; optimized: the winner of the session.'),
    verdict: z.enum(migrationVerdicts).describe('no_worse: the lower end of the interval is at least -max_loss.'),
    max_loss: z.number().describe('The max_loss of the migration.'),
    reward: z.number().describe('The mean reward on the new model.'),
    today_reward: z.number().nullable().describe('The mean reward of what is live; null: it has none.'),
    difference: z.number().describe('The mean reward on the new model minus that of today, row by row.'),
    low: z.number().describe('The lower end of its 95 % interval; -1.8e308: unbounded.'),
    high: z.number().describe('The upper end of its 95 % interval; 1.8e308: unbounded.'),
    rows: z.int().describe('The number of rows compared.'),
    rows_worse: z.int().describe('The number of rows with a lower reward than today.'),
  }),
  event('checkup_step', 'A checkup starts a job.', {
    step: z.enum(checkupSteps).describe('What the job is for; …_again: the rows that differ, a second time.'),
    job_id: z.string().describe('The evaluation or the session.'),
  }),
  event('checkup_judged', 'What is live was compared with its release, or the winner with what is live.', {
    part: z.enum(judgedParts).describe('rows and traffic: what is live; improvement: the winner of the session.'),
    verdict: z.enum(judgedVerdicts).describe('worse: drift. first: there was nothing to compare with.'),
    reward: z.number().describe('The mean reward now, or of the winner.'),
    baseline_reward: z
      .number()
      .nullable()
      .describe('At the release or in the first checkup, or of what is live; null: there is none.'),
    difference: z.number().nullable().describe('reward minus baseline_reward; null: not compared.'),
    low: z.number().nullable().describe('The lower end of its 95 % interval; -1.8e308: unbounded.'),
    high: z.number().nullable().describe('The upper end of its 95 % interval; 1.8e308: unbounded.'),
    p_value: z.number().nullable().describe('Of the difference, two-sided; null: not compared, or an improvement.'),
    rows: z.int().describe('The number of rows.'),
  }),
] as const;
