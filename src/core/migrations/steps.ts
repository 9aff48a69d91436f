/**
 * What a migration does next, from what is on record: the live prompt on both models, a search
 * where it is worse on the new one, and the winner of the search on the same rows.
 */
import { changedSeeds } from '../math/repeated-pairs.js';
import { judgeSide, type Judged } from './verdict.js';

/** When a search looks for a prompt for the new model. */
export type Optimize = 'if_worse' | 'always' | 'never';

/** The prompts on the new model: the live one, and the winner of a search. */
export const sides = ['same_prompt', 'optimized'] as const;
export type Side = (typeof sides)[number];

/** The jobs of a migration, by their numbers: see `childJobId`. `…_again`: rows that differ. */
export const partNumbers = {
  today: 0,
  same_prompt: 1,
  session: 2,
  optimized: 3,
  same_prompt_again: 0x1001,
  optimized_again: 0x1003,
  today_again: 0x2001,
  today_beside_optimized_again: 0x2003,
} as const;
export type Part = keyof typeof partNumbers;
export const partNames = Object.keys(partNumbers) as Part[];
export type EvaluationPart = Exclude<Part, 'session'>;

/** The evaluations of a side and of today's prompt on the rows on which they differ. */
const repeatsOf = {
  same_prompt: { candidate: 'same_prompt_again', today: 'today_again' },
  optimized: { candidate: 'optimized_again', today: 'today_beside_optimized_again' },
} as const satisfies Record<Side, Record<string, EvaluationPart>>;

/** The side whose rows with other rewards an evaluation repeats; null: it runs all rows. */
export function repeatedSide(part: EvaluationPart): Side | null {
  return sides.find((side) => Object.values<EvaluationPart>(repeatsOf[side]).includes(part)) ?? null;
}

/** The prompt and model that an evaluation runs. */
export function ranBy(part: EvaluationPart): 'today' | Side {
  if (part === 'today' || part === 'today_again' || part === 'today_beside_optimized_again') return 'today';
  return part === 'same_prompt' || part === 'same_prompt_again' ? 'same_prompt' : 'optimized';
}

type Rewards = readonly (number | null)[];

/** What is known of a migration. */
export interface MigrationRecord {
  maxLoss: number;
  optimize: Optimize;
  /** The rows that decide. */
  seeds: readonly number[];
  /** Of the completed evaluations, in the order of their seeds; null: the rollout failed. */
  rewards: Partial<Record<EvaluationPart, Rewards>>;
  /** Of the completed session; `winner` null: its best prompt is the live one. */
  session: { winner: string | null } | null;
}

export interface MigrationStep {
  judged: Partial<Record<Side, Judged>>;
  /** The job to run now, or the side that answers. */
  next: { kind: 'run'; part: Part } | { kind: 'conclude'; side: Side };
}

export function nextStep(record: MigrationRecord): MigrationStep {
  const same = judge(record, 'same_prompt');
  if ('lacks' in same) return { judged: {}, next: { kind: 'run', part: same.lacks } };
  const { judged } = same;
  const known = { same_prompt: judged };
  const isDone = record.optimize === 'never' || (record.optimize === 'if_worse' && judged.verdict === 'no_worse');
  if (isDone) return { judged: known, next: { kind: 'conclude', side: 'same_prompt' } };
  if (!record.session) return { judged: known, next: { kind: 'run', part: 'session' } };
  if (record.session.winner === null) return { judged: known, next: { kind: 'conclude', side: 'same_prompt' } };
  const optimized = judge(record, 'optimized');
  if ('lacks' in optimized) return { judged: known, next: { kind: 'run', part: optimized.lacks } };
  const both = { ...known, optimized: optimized.judged };
  return { judged: both, next: { kind: 'conclude', side: betterSide(both) } };
}

/** The side that answers: one that is no worse, then the higher reward, then the live prompt. */
function betterSide({ same_prompt: same, optimized }: Record<Side, Judged>): Side {
  const [isSame, isOptimized] = [same.verdict === 'no_worse', optimized.verdict === 'no_worse'];
  if (isSame !== isOptimized) return isSame ? 'same_prompt' : 'optimized';
  return optimized.difference > same.difference ? 'optimized' : 'same_prompt';
}

/** The comparison of a side with today, or the evaluation that it lacks. */
function judge(record: MigrationRecord, side: Side): { judged: Judged } | { lacks: EvaluationPart } {
  const { rewards, seeds, maxLoss } = record;
  const { today: incumbent, [side]: candidate } = rewards;
  // The new model first: one that does not answer costs no call of today's.
  if (!candidate) return { lacks: side };
  if (!incumbent) return { lacks: 'today' };
  const isEqual = changedSeeds({ candidate, incumbent }).length === 0;
  if (isEqual) return { judged: judgeSide({ seeds, maxLoss, candidate, incumbent }) };
  const again = repeatsOf[side];
  const { [again.candidate]: ours, [again.today]: theirs } = rewards;
  if (!ours) return { lacks: again.candidate };
  if (!theirs) return { lacks: again.today };
  const repeats = { candidate: ours, incumbent: theirs };
  return { judged: judgeSide({ seeds, maxLoss, candidate, incumbent, repeats }) };
}
