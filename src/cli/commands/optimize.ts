import type { Answer, SessionHandle, Ratchet } from '../../client/index.js';
import { rolloutId } from '../../core/jobs/ids.js';
import { withService } from '../service/connect.js';
import { FailedJob } from '../service/errors.js';
import { agreementText, decimal, dollars, note, say, sayJson } from '../service/output.js';
import { noteJob } from '../service/pages.js';
import { inOptions } from '../task/faults.js';
import { requireWritable, tryWrite } from '../task/output-file.js';
import { promptDiff, promptText, type Prompt } from '../task/prompt-file.js';
import { sessionRequest, type LabelOptions, type SearchOptions } from '../task/requests.js';
import type { Algorithm } from '../task/search.js';
import { promptOf, readTask, type ReadTask, type TaskOptions } from '../task/task.js';
import { taskFields } from '../task/upload.js';
import { approve, sayPreview, type CostOptions } from './cost.js';
import { coloured } from './diff.js';
import { followSession, type SessionState } from './progress.js';

export interface OptimizeOptions extends TaskOptions, LabelOptions, CostOptions {
  algorithm: Algorithm;
  out: string;
  json?: boolean;
}

type Results = Answer<'getSessionResults'>;

/** Searches a better prompt on rows, and writes it. */
export async function optimize(given: OptimizeOptions): Promise<void> {
  const { algorithm, out, json = false, name, tag, maxCost, dryRun = false, yes = false, ...options } = given;
  const task = await readTask(options);
  const prompt = await promptOf(task);
  const search = { algorithm, maxCost, name, tag };
  const { previewSession } = await import('../task/preview.js');
  const preview = await previewSession(task, prompt, search);
  if (dryRun) return sayPreview(preview, json);
  await requireWritable(out, '--out');
  await approve(preview, { yes });
  await withService(async (client) => {
    const created = await inOptions(() => startSession(client, task, prompt, search));
    noteJob(client, created.session_id);
    const { warnings = [] } = created;
    for (const warning of warnings) if (!preview.warnings.includes(warning)) note(`Note: ${warning}`);
    const warned = [...preview.warnings, ...warnings];
    await report(client, created.session_id, { out, json, prompt, warned });
  });
}

/** Starts a session on the task's rows. */
export async function startSession(
  client: Ratchet,
  task: ReadTask,
  prompt: Prompt,
  options: SearchOptions,
): Promise<Answer<'createSession'>> {
  const body = sessionRequest(await taskFields(client, task), task, prompt, options);
  return client.request('createSession', { body });
}

interface ReportOptions {
  /** Null: the prompt is not written. */
  out: string | null;
  json: boolean;
  /** The prompt before the search; null: the session's baseline. */
  prompt: Prompt | null;
  /** Warnings that the user has seen. */
  warned: readonly string[];
}

/** Follows a session to its end and prints its result. */
export async function report(
  client: Ratchet,
  sessionId: string,
  { out, json, prompt, warned }: ReportOptions,
): Promise<void> {
  const session = client.sessions.handle(sessionId);
  const state = await followSession(session);
  const results = await session.results();
  const { best_prompt: best } = results;
  const unwritten = best && out !== null ? await tryWrite(out, promptText(best, out), '--out') : null;
  if (json) sayJson(results);
  else {
    const before = prompt ?? (best && (await baselineOf(session, state)));
    if (best) say(changeOf(before, best));
    if (best && unwritten !== null) say(promptText(best, out!).trimEnd());
    printResults(state, results);
  }
  for (const warning of state.warnings) if (!warned.includes(warning)) note(`Note: ${warning}`);
  if (best && out !== null && unwritten === null && !json) say(`The best prompt is in ${out}.`);
  const others = `ratchet export ${sessionId} --to prompt.txt --out FILE`;
  if (unwritten !== null) throw new FailedJob(`${unwritten}. The prompt is above, and in: ${others}`);
  if (best && out === null) note(`Write the best prompt to a file: ${others}`);
  if (state.status === 'failed') throw new FailedJob(`The session ${sessionId} failed: ${state.error}`);
}

/** The prompt of the session's first rollout; null: it has none. */
async function baselineOf(session: SessionHandle, { candidates }: SessionState): Promise<Prompt | null> {
  if (!candidates.some((candidate) => candidate.is_baseline)) return null;
  const prompt = await session.prompt({ correlation_id: rolloutId(session.id, 0) });
  return prompt.messages.length === 0 ? null : prompt;
}

function changeOf(before: Prompt | null, best: Prompt): string {
  if (before === null) return promptText(best, '').trimEnd();
  const diff = promptDiff(before, best, ['before', 'best']);
  return diff === null ? 'The prompt is unchanged.' : coloured(diff);
}

function printResults(state: SessionState, results: Results): void {
  const { stopped_by: stoppedBy, usage } = results;
  const { rollouts_completed: rollouts } = state.progress;
  // The error says it all.
  if (state.status === 'failed' && rollouts === 0) return;
  say(verdictOf(results));
  const agreement = agreementText(results.judge_agreement);
  if (agreement !== null) say(agreement);
  const reason = stoppedBy === null || stoppedBy === state.status ? '' : ` (${stoppedBy})`;
  say(`${state.status}${reason}: ${rollouts} rollouts, ${dollars(usage.total_cost_usd)}`);
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
