/** The budget of a search as three choices, with time and dollars as far as they are known. */
import type { Answer, DryRun } from '../../../../../src/client/index.js';
import { defaultBudget } from '../../../../../src/cli/task/search.js';
import { dollars } from '../../../util/format.js';

export type Tried = Answer<'tryPrompt'>;

export const budgets = {
  quick: { label: 'Quick', answers: defaultBudget, hint: 'enough to see whether a better prompt is near' },
  usual: { label: 'Usual', answers: 3 * defaultBudget, hint: 'a fair chance on most tasks' },
  thorough: { label: 'Thorough', answers: 10 * defaultBudget, hint: 'when a small gain is worth it' },
} as const;

/** Answers at a time; see `max_concurrent`. */
const atOnce = 5;

/** About the time of a number of answers, by those of a try; null: none was given. */
export function timeOf(answers: number, tried: Tried | null): number | null {
  const known = (tried?.rows ?? []).flatMap(({ latency_ms: ms, error }) => (error === null ? (ms ?? []) : []));
  if (known.length === 0) return null;
  const mean = known.reduce((sum, ms) => sum + ms, 0) / known.length;
  return (mean * answers) / atOnce;
}

/** About the cost of a number of answers, by the estimate of the form; null: unknown. */
export function costOf(answers: number, estimate: DryRun['estimate'] | undefined): number | null {
  if (!estimate?.cost_usd || estimate.rollouts === 0) return null;
  return (estimate.cost_usd.likely * answers) / estimate.rollouts;
}

export function timeText(ms: number | null): string {
  if (ms === null) return 'time unknown: try 5 rows first';
  if (ms < 60_000) return 'less than a minute';
  const minutes = Math.round(ms / 60_000);
  return minutes < 100 ? `about ${minutes} min` : `about ${Math.round(minutes / 60)} h`;
}

export const costText = (usd: number | null): string =>
  usd === null ? 'cost unknown' : usd === 0 ? 'no cost' : `about ${dollars(usd)}`;
