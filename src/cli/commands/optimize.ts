import { writeFile } from 'node:fs/promises';
import type { z } from 'zod';
import type { sessionCreatedSchema, sessionResultsSchema } from '../../contracts/sessions/session.js';
import { jobKinds } from '../../core/jobs/kinds.js';
import type { Api } from '../service/api.js';
import { withService } from '../service/connect.js';
import { FailedJob } from '../service/errors.js';
import { agreementText, decimal, dollars, note, say, sayJson } from '../service/output.js';
import { noteJob } from '../service/pages.js';
import { followSession, type SessionState } from './progress.js';
import { promptDiff, promptText, type Prompt } from '../task/prompt-file.js';
import { algorithms, defaultBudget } from '../task/search.js';
import {
  labelsOf,
  promptOf,
  readTask,
  taskFields,
  type LabelOptions,
  type ReadTask,
  type TaskOptions,
} from '../task/task.js';

export interface OptimizeOptions extends TaskOptions, LabelOptions {
  algorithm: 'gepa' | 'mipro';
  out: string;
  json?: boolean;
}

type Results = z.output<typeof sessionResultsSchema>;

/** Searches a better prompt on rows, and writes it. */
export async function optimize(given: OptimizeOptions): Promise<void> {
  const { algorithm, out, json = false, name, tag, ...options } = given;
  const task = await readTask(options);
  const prompt = await promptOf(task);
  await withService(async (api) => {
    const created = await startSession(api, task, prompt, { algorithm, name, tag });
    announce(api, created);
    await report(api, created.session_id, { out, json, prompt, warned: created.warnings ?? [] });
  });
}

type CreatedSession = z.output<typeof sessionCreatedSchema>;

/** Starts a session on the task's rows. */
export async function startSession(
  api: Api,
  task: ReadTask,
  prompt: Prompt,
  { algorithm, ...labels }: LabelOptions & { algorithm: 'gepa' | 'mipro' },
): Promise<CreatedSession> {
  return api.call<CreatedSession>('POST', jobKinds.session.path, {
    policy_optimization: {
      algorithm,
      ...(await taskFields(api, task)),
      initial_prompt: prompt,
      [algorithm]: algorithms[algorithm],
      budget: { max_rollouts: task.budget ?? defaultBudget },
    },
    ...labelsOf(labels),
  });
}

interface ReportOptions {
  out: string | null;
  json: boolean;
  prompt: Prompt | null;
  /** Warnings that the user has seen. */
  warned: readonly string[];
}

/** Follows a session to its end and prints its result. */
export async function report(api: Api, sessionId: string, { out, json, prompt, warned }: ReportOptions): Promise<void> {
  const state = await followSession(api, sessionId);
  const results = await api.call<Results>('GET', `${jobKinds.session.path}/${sessionId}/results`);
  const best = results.best_prompt;
  if (best && out !== null) await writeFile(out, promptText(best, out));
  if (json) sayJson(results);
  else printResults(state, results, prompt, out);
  for (const warning of state.warnings) if (!warned.includes(warning)) note(`Note: ${warning}`);
  if (state.status === 'failed') throw new FailedJob(`The session ${sessionId} failed: ${state.error}`);
}

function announce(api: Api, { session_id: id, split, estimate, warnings }: CreatedSession): void {
  noteJob(api, id);
  if (split) {
    const parts = `${split.train.length} train, ${split.evaluation.length} evaluation, ${split.heldout.length} held-out`;
    note(`Split: ${parts} rows`);
  }
  const { rollouts, cost_usd: cost } = estimate;
  const range = cost ? `${dollars(cost.low)} to ${dollars(cost.high)}, probably ${dollars(cost.likely)}` : 'unknown';
  note(`At most ${rollouts} rollouts; cost: ${range}`);
  for (const warning of warnings ?? []) note(`Note: ${warning}`);
}

function printResults(state: SessionState, results: Results, before: Prompt | null, out: string | null): void {
  const { best_prompt: best, stopped_by: stoppedBy, usage } = results;
  if (before && best) say(promptDiff(before, best, ['before', 'best']) ?? 'The prompt is unchanged.');
  say(verdictOf(results));
  const agreement = agreementText(results.judge_agreement);
  if (agreement !== null) say(agreement);
  const { rollouts_completed: rollouts } = state.progress;
  say(`${state.status} (${stoppedBy ?? 'running'}): ${rollouts} rollouts, ${dollars(usage.total_cost_usd)}`);
  if (best && out !== null) say(`The best prompt is in ${out}.`);
}

function verdictOf({ verdict, comparison, best_reward: best, best_candidate: bestCandidate }: Results): string {
  if (!verdict || !comparison) return `Best reward: ${decimal(best)}`;
  if (bestCandidate?.is_baseline) return `No better prompt was found. Reward on the evaluation rows: ${decimal(best)}`;
  const { basis, seeds, baseline_reward: baseline, winner_reward: winner, interval } = comparison;
  const rows = basis === 'heldout' ? `${seeds} held-out rows` : `the ${seeds} rows that selected it`;
  const difference = `difference ${decimal(interval.low)} to ${decimal(interval.high)}`;
  const name = { better: 'Better', not_significantly_better: 'Not significantly better', worse: 'Worse' }[verdict];
  return `${name} on ${rows}: ${decimal(baseline)} -> ${decimal(winner)} (95 %: ${difference})`;
}
