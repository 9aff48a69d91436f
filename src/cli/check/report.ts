/** The report of a check in Markdown, for the comment of a pull request. */
import { decimal, dollars, intervalText } from '../service/output.js';
import type { Check } from './command.js';
import { shortOf } from './git.js';
import type { Measured, Measurement } from './measure.js';

const mostListed = 10;
/** A comment on GitHub has at most 65,536 characters. */
const longestDiff = 30_000;

export function checkReport({ prompt, commit, diff, measured, refusals }: Check): string {
  const outcome = refusals.length > 0 ? '❌ refused' : measured === null ? 'unchanged' : '✅ passed';
  const parts = [
    `### Prompt \`${prompt}\`: ${outcome}`,
    refusals.map((refusal) => `- ${refusal}`).join('\n'),
    measured === null ? 'Prompt and model are as before; nothing was evaluated.' : resultOf(commit, measured),
    diff === null ? '' : folded('Prompt', fenced(diff)),
  ];
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

function resultOf(commit: string, { head, base, comparison }: Measurement): string {
  if (base === null || comparison === null)
    return `New: mean reward ${decimal(head.mean_reward)} on ${head.rows} rows (\`${head.job_id}\`).`;
  const { a, b, difference, verdict, won, lost, tied, seeds_compared: compared } = comparison;
  const latency = (side: typeof a) => (side.latency_ms ? `${Math.round(side.latency_ms.mean)} ms` : 'not measured');
  const signed = `${difference.mean < 0 ? '' : '+'}${decimal(difference.mean)}`;
  return [
    `| | \`${shortOf(commit)}\` | this change |`,
    '| --- | --- | --- |',
    `| mean reward | ${decimal(a.mean_reward)} | **${decimal(b.mean_reward)}** |`,
    `| cost per row | ${dollars(a.cost_usd)} | ${dollars(b.cost_usd)} |`,
    `| latency | ${latency(a)} | ${latency(b)} |`,
    `| rows failed | ${base.rows_failed} | ${head.rows_failed} |`,
    `| evaluation | \`${base.job_id}\` | \`${head.job_id}\` |`,
    '',
    `**${verdict.replaceAll('_', ' ')}**: ${signed} (${intervalText(difference)}) on ${compared} rows; won ${won}, lost ${lost}, tied ${tied}.`,
    lostRows(base, head),
  ].join('\n');
}

/** The rows whose rewards fell most. */
function lostRows(base: Measured, head: Measured): string {
  const lost = [...base.rewards]
    .map(([row, before]) => ({ row, before, after: head.rewards.get(row) ?? null }))
    .filter(({ before, after }) => before !== null && (after === null || after < before))
    .map((fall) => ({ ...fall, by: fall.before! - (fall.after ?? -Infinity) }))
    .sort((left, right) => right.by - left.by || left.row - right.row);
  if (lost.length === 0) return '';
  const shown = lost.slice(0, mostListed).map(({ row, before, after }) => {
    return `| ${row} | ${decimal(before)} | ${after === null ? 'failed' : decimal(after)} |`;
  });
  const table = ['| row | before | after |', '| --- | --- | --- |', ...shown].join('\n');
  return `\n${folded(`${lost.length} ${lost.length === 1 ? 'row' : 'rows'} got worse`, table)}`;
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
