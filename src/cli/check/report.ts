/** The report of a check in Markdown, for the comment of a pull request. */
import { jobKinds } from '../../core/jobs/kinds.js';
import { signed } from '../../core/math/words.js';
import { decimal, dollars, intervalText, meanText, rowsNeededText } from '../service/output.js';
import { shortOf } from './git.js';
import { firstFew } from '../../util/first-few.js';
import type { LostRows } from './lost-rows.js';
import type { Measured, Measurement } from './measure.js';

/** The result of a check. */
export interface Check {
  prompt: string;
  commit: string;
  /** null: the prompts are equal, or the commit has none. */
  diff: string | null;
  /** null: prompt and model are as before. */
  measured: Measurement | null;
  /** The URL of the service that keeps the evaluations; null: one that may end with the check. */
  service: string | null;
  /** Why the gate refuses; empty: it does not. */
  refusals: string[];
}

/** Characters of an input or an answer in a table. */
const longestText = 100;
/** A comment on GitHub has at most 65,536 characters. */
const longestDiff = 30_000;

export function checkReport({ prompt, commit, diff, measured, service, refusals }: Check): string {
  const outcome = refusals.length > 0 ? '❌ refused' : measured === null ? 'unchanged' : '✅ passed';
  const parts = [
    `### Prompt \`${prompt}\`: ${outcome}`,
    refusals.map((refusal) => `- ${refusal}`).join('\n'),
    measured === null ? 'Prompt and model are as before; nothing was evaluated.' : resultOf(commit, measured, service),
    diff === null ? '' : folded('Prompt', fenced(diff)),
  ];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

function resultOf(commit: string, { head, base, comparison, lost }: Measurement, service: string | null): string {
  if (base === null || comparison === null)
    return `New: mean reward ${meanText(head.mean_reward, head.mean_reward_interval)} on ${head.rows} rows${service === null ? '' : ` (${page(service, head)})`}.`;
  const { a, b, difference, verdict, won, tied, seeds_compared: compared } = comparison;
  const latency = (side: typeof a) => (side.latency_ms ? `${Math.round(side.latency_ms.mean)} ms` : 'not measured');
  const rangeOf = ({ mean_reward_interval: { low, high } }: typeof a) => `${decimal(low)} to ${decimal(high)}`;
  return [
    `| | \`${shortOf(commit)}\` | this change |`,
    '| --- | --- | --- |',
    `| mean reward | ${decimal(a.mean_reward)} | **${decimal(b.mean_reward)}** |`,
    `| for unseen rows | ${rangeOf(a)} | ${rangeOf(b)} |`,
    `| cost per row | ${dollars(a.cost_usd)} | ${dollars(b.cost_usd)} |`,
    `| latency | ${latency(a)} | ${latency(b)} |`,
    `| rows failed | ${base.rows_failed} | ${head.rows_failed} |`,
    ...(service === null ? [] : [`| evaluation | ${page(service, base)} | ${page(service, head)} |`]),
    '',
    `**${verdict}**: ${signed(difference.mean)} (${intervalText(difference)}) on ${compared} rows; won ${won}, lost ${comparison.lost}, tied ${tied}${rowsNeededText(comparison.rows_needed)}.`,
    ...(comparison.flipped_rows.length > 0 ? ['', flippedText(comparison.flipped_rows)] : []),
    lostTable(lost),
  ].join('\n');
}

const mostNamed = 20;

/** The rows on which a version got two rewards. */
export function flippedText(rows: readonly number[]): string {
  const named = firstFew(rows, mostNamed);
  const subject = `${rows.length} ${rows.length === 1 ? 'row' : 'rows'}`;
  return `The same prompt got two rewards on ${subject}, which count by their means: ${named}`;
}

const page = (service: string, { job_id: id }: Measured) =>
  `[${id}](${service.replace(/\/$/, '')}/#/${jobKinds.evaluation.page}/${id})`;

function lostTable({ count, worst }: LostRows): string {
  if (count === 0) return '';
  const shown = worst.map(({ row, input, expected, before, after }) => {
    const now = after.reward === null ? 'failed' : decimal(after.reward);
    const cells = [row, quoted(input), quoted(expected), `${decimal(before.reward)} ${quoted(before.answer)}`];
    return `| ${cells.join(' | ')} | ${now} ${quoted(after.answer)} |`;
  });
  const table = ['| row | input | expected | before | after |', '| --- | --- | --- | --- | --- |', ...shown].join('\n');
  const rest = count > worst.length ? ` (the ${worst.length} that fell most)` : '';
  return `\n${folded(`${count} ${count === 1 ? 'row' : 'rows'} got worse${rest}`, table)}`;
}

/** A short text in a cell; as entities in code it is neither markup nor a mention. */
function quoted(text: string | null): string {
  if (text === null) return '';
  const line = text.trim().replaceAll(/\s+/g, ' ');
  const signs = [...line];
  const short = signs.length > longestText ? `${signs.slice(0, longestText).join('')}…` : line;
  return `<code>${short.replaceAll(/[!-/:-@[-`{-~]/g, (sign) => `&#${sign.charCodeAt(0)};`)}</code>`;
}

function folded(title: string, content: string): string {
  return `<details><summary>${title}</summary>\n\n${content}\n\n</details>`;
}

/** A block that no text of the prompt can end. */
function fenced(diff: string): string {
  const shown = diff.length > longestDiff ? `${diff.slice(0, longestDiff)}\n…` : diff.trimEnd();
  const longest = Math.max(2, ...[...shown.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}diff\n${shown}\n${fence}`;
}
