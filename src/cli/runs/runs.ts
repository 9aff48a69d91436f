/** The list of runs: which was best, at what price. */
import type { Answer, Item, Query } from '../../client/index.js';
import { signed } from '../../core/math/words.js';
import { withService } from '../service/connect.js';
import { decimal, dollars, note, say, sayJson, table } from '../service/output.js';

type Run = Item<'listRuns'>;
type Sums = NonNullable<Answer<'listRuns'>['totals']>;

export interface RunsOptions {
  sort: NonNullable<NonNullable<Query<'listRuns'>>['sort']>;
  groupBy?: 'dataset' | 'model' | 'tag';
  dataset?: string;
  tag?: string;
  limit: number;
  json?: boolean;
}

const shownName = 30;
const cut = (text: string | null, most = shownName): string => [...(text ?? '')].slice(0, most).join('');

/** Prints a page of runs, its groups and the totals of all that pass. */
export async function runs({ sort, groupBy, dataset, tag, limit, json = false }: RunsOptions): Promise<void> {
  await withService(async (client) => {
    const page = await client.runs.page({ sort, group_by: groupBy, dataset, tag, limit });
    if (json) return sayJson(page);
    if (page.data.length === 0) return note('No run passes.');
    const head = ['JOB', 'NAME', 'VERDICT', 'GAIN', '95 %', 'REWARD', 'DATA SET', 'MODEL', 'COST'];
    say(table([head, ...page.data.map(rowOf)]));
    for (const group of page.groups ?? []) say(`${cut(group.name ?? group.key ?? 'none')}: ${sumsText(group)}`);
    if (page.totals) say(sumsText(page.totals));
  });
}

function rowOf(run: Run): string[] {
  const { comparison } = run;
  return [
    run.job_id,
    cut(run.name),
    run.verdict ?? run.status,
    comparison ? signed(comparison.difference) : '',
    comparison ? `${signed(comparison.interval.low)} to ${signed(comparison.interval.high)}` : '',
    comparison
      ? `${decimal(comparison.baseline_reward)} -> ${decimal(comparison.winner_reward)}`
      : decimal(run.best_reward),
    cut(run.dataset && (run.dataset.name ?? run.dataset.dataset_id), 20),
    cut(run.models[0] ?? ''),
    dollars(run.total_cost_usd),
  ];
}

function sumsText({ runs: count, total_cost_usd: cost, rollouts }: Sums): string {
  return `${count} ${count === 1 ? 'run' : 'runs'}, ${dollars(cost)}, ${rollouts} answers`;
}
