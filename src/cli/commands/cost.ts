/** What a command is about to spend: the estimate, its limits, and the question before it. */
import { createInterface } from 'node:readline/promises';
import { ConfigError } from '../../service/config.js';
import { tenthWords } from '../../core/math/words.js';
import { minSeeds } from '../../core/search/split.js';
import { FailedJob } from '../service/errors.js';
import { dollars, note, say, sayJson } from '../service/output.js';
import type { Preview } from '../task/preview.js';
import type { Planned } from '../../candidates/routes/search-view.js';

/** The exit code of Ctrl-C. */
const interrupted = 130;
/** Upper estimates in dollars that need no question. */
const unasked = 1;

export interface CostOptions {
  /** Dollars. */
  maxCost?: number;
  dryRun?: boolean;
  yes?: boolean;
}

type Estimate = Preview['estimate'];

/** Prints split, estimate and warnings, and asks before a large or unknown cost. */
export async function approve(preview: Preview, options: Pick<CostOptions, 'yes'>): Promise<void> {
  const { estimate, split, planned, warnings } = preview;
  if (split) note(splitText(split));
  if (planned) note(plannedText(planned));
  note(estimateText(estimate));
  for (const warning of warnings) note(`Note: ${warning}`);
  await confirmCost(estimate, options);
}

/** Prints the split, the estimate and the first request as the result. */
export function sayPreview({ estimate, split, planned, warnings, request }: Preview, json: boolean): void {
  if (json)
    return sayJson({
      estimate,
      ...(split && { split }),
      ...(planned && { planned_comparison: planned }),
      warnings,
      first_request: request,
    });
  if (split) say(splitText(split));
  if (planned) say(plannedText(planned));
  say(estimateText(estimate));
  say(`First request, for row ${request.row}, to ${request.provider}:`);
  sayJson(request.body);
  for (const warning of warnings) note(`Note: ${warning}`);
  note('Nothing was started.');
}

function splitText({ train, evaluation, heldout }: NonNullable<Preview['split']>): string {
  const parts = `${train.length} train, ${evaluation.length} evaluation, ${heldout.length} held-out rows`;
  return `Split: ${parts}${heldout.length > 0 ? '' : `; from ${minSeeds.heldout} rows on, some are held out`}`;
}

/** What the comparison at the end can show, and what would show a difference of 0.1. */
function plannedText(planned: Planned): string {
  const { basis, seeds, least_difference: least, seeds_for_tenth: enough } = planned;
  const rows = `${seeds} ${basis === 'heldout' ? 'held-out' : 'evaluation'} rows`;
  const shows =
    least === null
      ? `${rows} show no difference, however large`
      : `With ${rows} only a difference above ${least.toFixed(2)} will show`;
  return seeds >= enough ? shows : `${shows}; ${tenthWords(enough)}`;
}

/** The estimate of several jobs; the cost is null if that of one is. */
export function sumOf(jobs: readonly { estimate: Estimate }[]): Estimate {
  const estimates = jobs.map(({ estimate }) => estimate);
  const costs = estimates.flatMap(({ cost_usd: cost }) => cost ?? []);
  const total = (level: 'low' | 'likely' | 'high') => costs.reduce((sum, cost) => sum + cost[level], 0);
  return {
    rollouts: estimates.reduce((sum, { rollouts }) => sum + rollouts, 0),
    cost_usd: costs.length < jobs.length ? null : { low: total('low'), likely: total('likely'), high: total('high') },
  };
}

export function estimateText({ rollouts, cost_usd: cost }: Estimate): string {
  const range = cost ? `${dollars(cost.low)} to ${dollars(cost.high)}, probably ${dollars(cost.likely)}` : 'unknown';
  return `At most ${rollouts} answers; cost: ${range}`;
}

/** Refuses an upper estimate above the limit, and an unknown price. */
export function requireWithin({ cost_usd: cost }: Estimate, maxCost: number): void {
  if (cost !== null && cost.high <= maxCost) return;
  throw new ConfigError(
    cost === null
      ? '--max-cost: the price of a model is not known'
      : `--max-cost: ${dollars(maxCost)} is below the upper estimate, ${dollars(cost.high)}; raise it, use fewer rows, or lower --max-tokens`,
  );
}

/** On a terminal asks before a large or unknown cost; throws if the answer is not yes. */
export async function confirmCost(
  { cost_usd: cost }: { cost_usd: { high: number } | null },
  { yes = false }: Pick<CostOptions, 'yes'>,
  ask: ((question: string) => Promise<string>) | null = terminal(),
): Promise<void> {
  if (yes || ask === null || (cost !== null && cost.high <= unasked)) return;
  const amount = cost === null ? 'The cost is unknown' : `This may cost up to ${dollars(cost.high)}`;
  const answer = await ask(`${amount}. Go on? [y/N] `);
  if (!/^y(es)?$/i.test(answer.trim())) throw new FailedJob('Nothing was started.');
}

function terminal(): ((question: string) => Promise<string>) | null {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return null;
  return async (question) => {
    const lines = createInterface({ input: process.stdin, output: process.stderr });
    lines.once('SIGINT', () => {
      note('');
      process.exit(interrupted);
    });
    try {
      return await lines.question(question);
    } catch (error) {
      if ((error as Error).name !== 'AbortError') throw error;
      // Ctrl-D is no answer.
      note('');
      return '';
    } finally {
      lines.close();
    }
  };
}
