/** Why a search ended, or would end again at once, and what lets it go on. */

interface Ending {
  /** A clause; `unit`: the noun of an input. */
  reason: (unit: string) => string;
  remedy: (unit: string) => string;
}

const budget = (field: string): Ending => ({
  reason: () => `nothing is left of ${field}`,
  remedy: () => `Raise ${field}`,
});

const endings: Record<string, Ending> = {
  solved: {
    reason: (unit) => `every train ${unit} and every evaluation ${unit} is right`,
    remedy: (unit) => `Create the job again with harder ${unit}s`,
  },
  train_solved: {
    reason: (unit) => `a candidate solves every train ${unit}, so no wrong answer is left to learn from`,
    remedy: (unit) => `Create the job again with more or harder train ${unit}s`,
  },
  target_reward: {
    reason: () => 'the best reward has reached target_reward',
    remedy: () => 'Create the job again with a higher one',
  },
  generations: {
    reason: () => 'all generations are done, or the last questions brought no new candidate',
    remedy: () => 'Raise the limit of generations or trials, or create the job again with another proposer model',
  },
  max_rollouts: {
    reason: () => 'max_rollouts leaves too few answers for another step',
    remedy: () => 'Raise max_rollouts',
  },
  max_cost_usd: budget('max_cost_usd'),
  max_minutes: budget('max_minutes'),
};

/** Why a search ends at once, and what to do instead, as two sentences. */
export function endsAtOnce(endsBy: string, unit: string): string {
  const { reason, remedy } = endings[endsBy] ?? { reason: () => `it ended with ${endsBy}`, remedy: () => 'Clone it' };
  return `The search would end again at once: ${reason(unit)}. ${remedy(unit)}.`;
}

/** What to do after a job that ended for this reason; null: nothing. */
export function stopAdvice(unit: string, stoppedBy: string | null): string | null {
  if (stoppedBy !== 'train_solved') return null;
  const { reason, remedy } = endings[stoppedBy]!;
  return `Stopped by train_solved: ${reason(unit)}. To go on: ${remedy(unit).replace(/^C/, 'c')}.`;
}
