/** The result of a search in words. */
import { signed, tenthWords } from '../../../../src/core/math/words.js';
import { count, reward } from '../../util/format.js';
import type { Answer } from '../../../../src/client/index.js';
import type { Results } from '../../data/search.js';

const interval = ({ low, high }: { low: number; high: number }): string => `${signed(low)} to ${signed(high)}`;

type Verdict = Pick<Results, 'verdict' | 'comparison' | 'best_candidate'>;

/** The verdict as a sentence; null: the search has not ended. */
export function verdictWords({ verdict, comparison, best_candidate: best }: Verdict): string | null {
  if (verdict === null || comparison === null) return null;
  if (best?.is_baseline) return 'No candidate was better: the baseline is the best prompt that was found.';
  const said = {
    better: 'The winner is better than the baseline',
    worse: 'The winner is worse than the baseline',
    inconclusive: 'These rows do not show whether the winner is better than the baseline',
  }[verdict];
  const { baseline_reward: baseline, winner_reward: winner, winner_interval: unseen, rows_needed: needed } = comparison;
  const means = `from ${reward(baseline)} to ${reward(winner)} (unseen rows: ${reward(unseen.low)} to ${reward(unseen.high)})`;
  return `${said}: ${evidence(comparison)}, ${means}.${rowsNeededWords(needed)}`;
}

/** The difference of a comparison, with its rows and its interval. */
export function evidence({ seeds, basis, difference, interval: ends }: NonNullable<Results['comparison']>): string {
  const rows = seeds === 1 ? 'row' : 'rows';
  const where = basis === 'heldout' ? `${seeds} held-out ${rows}` : `${seeds} ${rows} that the search saw`;
  return `${signed(difference)} on ${where} (95 % interval ${interval(ends)})`;
}

type Diagnosed = Pick<Results, 'diagnosis' | 'best_candidate'>;

/** Diagnoses of answers, which do not say what the search found. */
const faults = new Set(['all_wrong', 'rollouts_failed', 'answers_empty']);
/** Diagnoses whose facts are the numbers of the verdict. */
const ofNumbers = new Set(['too_few_rows', 'noise', 'budget_ended', 'better', 'worse', 'no_better']);

/** Whether the diagnosis says the verdict, so that its panel has the numbers alone. */
export const isTold = ({ diagnosis }: Diagnosed): boolean => diagnosis !== null && !faults.has(diagnosis.code);

/** Whether the panel of the verdict repeats the facts of the diagnosis. */
export const isRepeated = ({ diagnosis, best_candidate: best }: Diagnosed): boolean =>
  diagnosis !== null && ofNumbers.has(diagnosis.code) && best?.is_baseline === false;

type Planned = NonNullable<Answer<'createSession'>['planned_comparison']>;

/** What the comparison at the end will be able to show. */
export function plannedWords({ basis, seeds, least_difference: least, seeds_for_tenth: enough }: Planned): string {
  const rows = `${count(seeds)} ${basis === 'heldout' ? 'held-out' : 'evaluation'} rows`;
  const shows =
    least === null
      ? `${rows} show no difference, however large.`
      : `${rows} show a difference above ${least.toFixed(2)}.`;
  return seeds >= enough ? shows : `${shows} A difference of ${tenthWords(enough)}.`;
}

/** What would decide an inconclusive comparison; empty: it is decided, or nothing would. */
export const rowsNeededWords = (rows: number | null): string =>
  rows === null ? '' : ` About ${count(rows)} rows would decide it.`;

/** What the rows of a comparison mean for its result. */
export function basisWords(basis: 'heldout' | 'evaluation'): string {
  return basis === 'heldout'
    ? 'The search has never seen these rows, so the difference is unbiased.'
    : 'These rows selected the winner, so the difference flatters it. Hold out rows for an unbiased one.';
}

export function noiseWords(floor: NonNullable<Results['noise_floor']>): string {
  const { rollout_sd: sd, comparisons, reward_se: se } = floor;
  const pairs = `${comparisons} ${comparisons === 1 ? 'comparison' : 'comparisons'} of repeated answers`;
  if (sd === 0) return `${pairs}: the same prompt got the same reward each time.`;
  return `Standard deviation ${reward(sd)} in ${pairs}; noise alone moves a mean reward by ±${reward(1.96 * se)} (95 %).`;
}

export function judgeWords(agreement: NonNullable<Results['judge_agreement']>): string {
  const { basis, outputs, accuracy, kappa, p_value: p, better_than_chance: isBetter } = agreement;
  const whose = basis === 'reviews' ? "people's reviews" : 'the labels';
  if (accuracy === null) return `The judge has not scored a labelled output yet (${outputs} outputs).`;
  const share = `The judge agrees with ${whose} on ${Math.round(accuracy * 100)} % of ${outputs} outputs`;
  const measures = [kappa === null ? '' : `kappa ${kappa.toFixed(2)}`, `p = ${p < 0.001 ? '< 0.001' : p.toFixed(3)}`];
  const verdict = isBetter ? 'better than chance' : 'no better than chance, so its rewards mean little';
  return `${share} (${measures.filter(Boolean).join(', ')}): ${verdict}.`.replace('p = <', 'p <');
}

const reasons: Record<string, string> = {
  generations: 'All generations are done, or nothing new was left to try.',
  max_rollouts: 'Too few answers of the budget are left for another step.',
  max_minutes: 'The minutes of the budget are used up.',
  max_cost_usd: 'The dollars of the budget are used up.',
  spend_quota_exceeded: "The day's quota of spend is used up.",
  target_reward: 'The best reward has reached the target.',
  patience: 'No generation of the last ones brought a better candidate.',
  solved: 'Every train row and every evaluation row is solved.',
  train_solved: 'A candidate solves every train row, so nothing is left to learn from. Add train rows to go on.',
  reward_stop: 'A reward with “stop” ended it.',
  cancelled: 'It was cancelled.',
  timeout: 'It took too long.',
  failed: 'It failed.',
};

/** Why a search ended. */
export const stoppedWords = (stoppedBy: string): string => reasons[stoppedBy] ?? `Stopped by ${stoppedBy}.`;
