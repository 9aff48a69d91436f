/** Events of a migration. */
import { signed } from '../math/words.js';
import type { Part, Side } from '../migrations/steps.js';
import type { Judged } from '../migrations/verdict.js';
import type { NewEvent } from './event.js';

const purposes: Record<Part, string> = {
  today: 'what is live, on its own model',
  same_prompt: 'the live prompt, on the new model',
  session: 'a search from the live prompt, on the new model',
  optimized: 'the winner of the search, on the new model',
  same_prompt_again: 'the rows that differ again, on the new model',
  today_again: 'the rows that differ again, on the own model',
  optimized_again: "the winner's rows that differ again, on the new model",
  today_beside_optimized_again: "the winner's rows that differ again, on the own model",
};

export function migrationStep(part: Part, jobId: string): NewEvent<'migration_step'> {
  const data = { step: part, job_id: jobId };
  return { key: `step:${part}`, type: 'migration_step', message: `${purposes[part]}: ${jobId}`, data };
}

const names: Record<Side, string> = { same_prompt: 'the live prompt', optimized: 'the winner of the search' };
const verdicts = { no_worse: 'no worse', worse: 'worse', inconclusive: 'not shown to be no worse' } as const;

export function migrationJudged(side: Side, judged: Judged, maxLoss: number): NewEvent<'migration_judged'> {
  const { verdict, reward, today, difference, low, high, rows, worseCount } = judged;
  const message = `${names[side]} on the new model is ${verdicts[verdict]} than today within ${maxLoss}: ${signed(difference)} on ${rows} rows`;
  const measured = { reward, today_reward: today.reward, difference, low, high, rows, rows_worse: worseCount };
  return {
    key: `judged:${side}`,
    type: 'migration_judged',
    message,
    data: { side, verdict, max_loss: maxLoss, ...measured },
  };
}
