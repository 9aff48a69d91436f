/** A prompt beside its version at another commit: the check of a pull request. */
import { isDeepStrictEqual } from 'node:util';
import { ConfigError, readConfig } from '../../service/config.js';
import { refusalsOf, type Gate } from './gate.js';
import { commitOf, shortOf } from './git.js';
import { measure, type Measured } from './measure.js';
import { checkReport, flippedText, type Check } from './report.js';
import { versionAt, type Version } from './versions.js';
import { signed } from '../../core/math/words.js';
import { withService } from '../service/connect.js';
import { FailedJob } from '../service/errors.js';
import { approve, requireWithin, sayPreview, sumOf } from '../commands/cost.js';
import { coloured } from '../commands/diff.js';
import type { EvaluateOptions } from '../commands/evaluate.js';
import { decimal, intervalText, meanText, rowsNeededText, say, sayJson } from '../service/output.js';
import { filesOfChange } from '../task/files.js';
import { requireWritable, writeText } from '../task/output-file.js';
import type { Preview } from '../task/preview.js';
import { promptDiff } from '../task/prompt-file.js';
import type { LabelOptions } from '../task/requests.js';
import { promptOf, readTask, type ReadTask } from '../task/task.js';

export interface CheckOptions extends EvaluateOptions, Gate {
  against: string;
  report?: string;
}

/** Compares the prompt with its version at a commit, on the rows of now; fails by the gate. */
export async function check(given: CheckOptions): Promise<void> {
  const { against, report, json = false, name, tag, minReward, minImprovement, ...costed } = given;
  const { maxCost, dryRun = false, yes = false, ...options } = costed;
  if (report !== undefined) await requireWritable(report, '--report');
  const task = await readTask(options, filesOfChange);
  if (task.prompt === undefined) throw new ConfigError('--prompt FILE is needed: check compares two versions of it');
  const commit = await commitOf(against);
  const head = { prompt: await promptOf(task), model: task.model };
  const base = await versionAt(commit, task, options);
  const diff = base && promptDiff(base.prompt, head.prompt, [`${task.prompt} at ${shortOf(commit)}`, task.prompt]);
  const facts = { prompt: task.prompt, commit, diff, service: readConfig().serviceUrl };
  const isSame = base !== null && base.model === head.model && isDeepStrictEqual(base.prompt, head.prompt);
  if (isSame) return conclude({ ...facts, measured: null, refusals: [] }, { report, json });
  const preview = await previewBoth(task, { head, base }, { name, tag });
  if (maxCost !== undefined) requireWithin(preview.estimate, maxCost);
  if (dryRun) return sayPreview(preview, json);
  await approve(preview, { yes });
  // An interrupted command has no conclusion.
  await withService(async (client) => {
    const measured = await measure(client, task, { head, base }, { name, tag });
    const refusals = refusalsOf({ minReward, minImprovement }, measured);
    await conclude({ ...facts, measured, refusals }, { report, json });
  });
}

/** The preview of the new version, with the rollouts and the cost of both. */
async function previewBoth(
  task: ReadTask,
  { head, base }: { head: Version; base: Version | null },
  labels: LabelOptions,
): Promise<Preview> {
  const { previewEvaluation } = await import('../task/preview.js');
  const previewOf = ({ prompt, model = 'local' }: Version) => previewEvaluation({ ...task, model }, prompt, labels);
  const after = await previewOf(head);
  return base ? { ...after, estimate: withRepeats(sumOf([after, await previewOf(base)])) } : after;
}

/** Rows on which the versions differ are run once more on both: at most all. */
function withRepeats({ rollouts, cost_usd: cost }: Preview['estimate']): Preview['estimate'] {
  return { rollouts: 2 * rollouts, cost_usd: cost && { ...cost, high: 2 * cost.high } };
}

/** Writes the report, prints the result, and fails if the gate refuses. */
async function conclude(result: Check, { report, json }: { report: string | undefined; json: boolean }): Promise<void> {
  if (report !== undefined) await writeText(report, checkReport(result), '--report');
  if (json) sayJson(summaryOf(result));
  else printCheck(result);
  if (result.refusals.length > 0) throw new FailedJob(result.refusals.join('; '));
}

/** The check as JSON; the results of the evaluations have the rewards of the rows. */
function summaryOf({ prompt, commit, diff, measured, refusals }: Check) {
  const side = ({ rewards: _, ...version }: Measured) => version;
  return {
    passed: refusals.length === 0,
    refusals,
    prompt,
    commit,
    diff,
    base: measured?.base ? side(measured.base) : null,
    head: measured ? side(measured.head) : null,
    comparison: measured?.comparison ?? null,
  };
}

function printCheck({ prompt, commit, diff, measured }: Check): void {
  if (measured === null) return say(`${prompt} is as at ${shortOf(commit)}; nothing was evaluated.`);
  const { head, comparison } = measured;
  if (diff !== null) say(coloured(diff));
  if (comparison === null)
    return say(
      `${prompt} is new: mean reward ${meanText(head.mean_reward, head.mean_reward_interval)} on ${head.rows} rows.`,
    );
  const { difference, verdict, won, lost, tied, rows_needed: needed, flipped_rows: flipped } = comparison;
  say(
    `Mean reward ${decimal(comparison.a.mean_reward)} -> ${meanText(comparison.b.mean_reward, comparison.b.mean_reward_interval)}; difference ${signed(difference.mean)} (${intervalText(difference)})`,
  );
  if (flipped.length > 0) say(flippedText(flipped));
  say(`${verdict}: won ${won}, lost ${lost}, tied ${tied}${rowsNeededText(needed)}`);
}
