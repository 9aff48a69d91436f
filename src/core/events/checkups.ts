/** Events of a checkup. */
import type { EventData } from '../../contracts/events/schema.js';
import type { CheckedPart, CheckupFindings, Part } from '../checkups/steps.js';
import type { Checked, Improvement } from '../checkups/verdict.js';
import { signed } from '../math/words.js';
import type { NewEvent } from './event.js';

const purposes: Record<Part, string> = {
  rows: 'what is live, on its rows',
  traffic: 'what is live, on recent requests',
  session: 'a search from the live prompt, on other recent requests',
  winner: 'the winner of the search, on recent requests',
  winner_again: 'the requests that differ again, with the winner',
  traffic_again: 'the requests that differ again, with what is live',
};

export function checkupStep(part: Part, jobId: string): NewEvent<'checkup_step'> {
  const data = { step: part, job_id: jobId };
  return { key: `step:${part}`, type: 'checkup_step', message: `${purposes[part]}: ${jobId}`, data };
}

/** The events of what was judged, each once. */
export function checkupJudged({ improvement, ...parts }: CheckupFindings): NewEvent<'checkup_judged'>[] {
  const found = Object.entries(parts) as [CheckedPart, Checked][];
  const events = found.map(([part, checked]) => checkedEvent(part, checked));
  return improvement ? [...events, improvementEvent(improvement)] : events;
}

const words = {
  better: 'better than',
  same: 'as good as',
  worse: 'worse than',
  inconclusive: 'not shown to differ from',
  first: 'not compared with',
} as const;

const baselines: Record<CheckedPart, string> = { rows: 'at its release', traffic: 'in its first checkup' };
const units: Record<CheckedPart, string> = { rows: 'rows', traffic: 'recent requests' };

function checkedEvent(part: CheckedPart, { verdict, reward, rows, compared }: Checked) {
  const by = compared ? ` (${signed(compared.difference)})` : '';
  const found = `what is live is ${words[verdict]} ${baselines[part]}${by}`;
  const message = `${found}: its reward on ${rows} ${units[part]} is ${reward.toFixed(3)}`;
  return judged(message, {
    part,
    verdict,
    reward,
    baseline_reward: compared?.baseline.reward ?? null,
    difference: compared?.difference ?? null,
    low: compared?.low ?? null,
    high: compared?.high ?? null,
    p_value: compared?.pValue ?? null,
    rows,
  });
}

function improvementEvent({ verdict, reward, today, difference, low, high, rows }: Improvement) {
  const message = `the winner of the search is ${words[verdict]} what is live on ${rows} requests (${signed(difference)})`;
  const figures = { reward, baseline_reward: today.reward, difference, low, high, p_value: null, rows };
  return judged(message, { part: 'improvement', verdict, ...figures });
}

const judged = (message: string, data: EventData<'checkup_judged'>): NewEvent<'checkup_judged'> => ({
  key: `judged:${data.part}`,
  type: 'checkup_judged',
  message,
  data,
});
