import type { Answer } from '../../client/index.js';
import { sentenceOf } from '../../core/comparisons/words.js';
import { counted, signed } from '../../core/math/words.js';
import { withService } from '../service/connect.js';
import { FailedJob } from '../service/errors.js';
import { decimal, dollars, intervalText, meanText, rowsNeededText, say, sayJson, table } from '../service/output.js';

/**
 * Compares evaluations, sessions, candidates or deployments with the first; fails unless one is
 * better.
 */
export async function compare(
  a: string,
  [b, ...more]: readonly string[],
  { json = false }: { json?: boolean },
): Promise<void> {
  await (more.length === 0 ? compareTwo(a, b!, json) : compareMany([a, b!, ...more], json));
}

async function compareTwo(a: string, b: string, json: boolean): Promise<void> {
  await withService(async (client) => {
    const found = await client.compare(a, b);
    const { difference, seeds_compared: seeds, won, lost, tied, verdict, rows_needed: needed, unit } = found;
    if (json) sayJson(found);
    else {
      for (const [name, side] of Object.entries({ a: found.a, b: found.b })) {
        const latency = side.latency_ms === null ? '' : `, ${Math.round(side.latency_ms.mean)} ms`;
        say(
          `${name}  ${side.id}: mean reward ${meanText(side.mean_reward, side.mean_reward_interval)}, ${dollars(side.cost_usd)} an answer${latency}`,
        );
      }
      say(
        `b - a: ${signed(difference.mean)} (${intervalText(difference)}) on ${counted(seeds, unit)}; b won ${won}, lost ${lost}, tied ${tied}${rowsNeededText(needed, unit)}`,
      );
    }
    if (verdict === 'inconclusive') throw new FailedJob('The comparison is inconclusive: chance alone may explain it.');
    if (verdict === 'worse') throw new FailedJob('b is worse.');
    if (!json) say('b is better.');
  });
}

type Many = Answer<'compareMany'>;

async function compareMany(ids: readonly string[], json: boolean): Promise<void> {
  await withService(async (client) => {
    const found = await client.compareMany(ids);
    const against = found.columns.flatMap(({ id, against_baseline: pair }) => (pair ? [{ name: id, ...pair }] : []));
    if (json) sayJson(found);
    else {
      say(table([heads, ...found.columns.map((column) => lineOf(column, column.id === found.baseline))]));
      for (const group of found.groups) say(spreadText(group));
      const named = against.map(({ difference, seeds_compared: rows, ...pair }) => ({ ...pair, ...difference, rows }));
      if (named.length > 0) say(sentenceOf(found.baseline, named));
    }
    if (!against.some(({ verdict }) => verdict === 'better'))
      throw new FailedJob(`None is better than ${found.baseline}.`);
  });
}

const heads = [
  'id',
  'mean reward',
  'difference',
  '95 %',
  'p',
  'rows',
  'won',
  'lost',
  'tied',
  'cost',
  'prompt',
  'verdict',
];

function lineOf(column: Many['columns'][number], isBaseline: boolean): string[] {
  const { id, mean_reward: mean, cost_usd: cost, prompt_tokens: tokens, against_baseline: pair } = column;
  const own = [dollars(cost), tokens === null ? '-' : `${tokens} tokens`];
  if (!pair)
    return [id, decimal(mean), ...Array<string>(7).fill('-'), ...own, isBaseline ? 'baseline' : 'no row in common'];
  const { difference, p_corrected: p, seeds_compared: rows, won, lost, tied, verdict } = pair;
  const interval = `${signed(difference.low)} to ${signed(difference.high)}`;
  const figures = [signed(difference.mean), interval, decimal(p), ...[rows, won, lost, tied].map(String)];
  return [id, decimal(mean), ...figures, ...own, verdict];
}

/** Of searches that differ in `rng_seed` alone. */
function spreadText({ ids, rng_seeds: seeds, spread }: Many['groups'][number]): string {
  const runs = `${ids.join(', ')} differ in rng_seed alone`;
  if (spread === null) return `${runs}; three of them, not ${seeds}, would show how much the search varies`;
  return `${runs}: the search itself varies by ±${decimal(spread)} (${seeds} runs)`;
}
