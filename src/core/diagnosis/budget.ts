/** What more of a spent budget would be, and what it would cost. */
import type { Action, ExtensionLimit, SearchRecord } from './diagnosis.js';
import { counted } from '../math/words.js';
import { dollarText, roundUp } from './words.js';

/** More of a budget, as a share of what was used. */
const further = 0.5;

export function isBudgetEnd(stoppedBy: string | null): stoppedBy is ExtensionLimit {
  return stoppedBy !== null && Object.hasOwn(amounts, stoppedBy);
}

type Spent = Pick<SearchRecord, 'stoppedBy' | 'limits' | 'rollouts' | 'costUsd' | 'isExtendable' | 'nothingLeft'>;

/**
 * Null: no limit ended the search, or it would end again at once. A job that cannot be extended
 * runs again with more.
 */
export function moreBudget(record: Spent): Action | null {
  const { stoppedBy, limits, rollouts, costUsd, isExtendable, nothingLeft } = record;
  if (!isBudgetEnd(stoppedBy) || nothingLeft !== null) return null;
  const now = limits[stoppedBy];
  if (now === null || now <= 0) return null;
  const added = addedTo(stoppedBy, now);
  const to = now + added;
  const cost = costOf(stoppedBy, { added, now, rollouts, costUsd });
  const price = cost !== null && cost > 0 && stoppedBy !== 'max_cost_usd' ? `, about ${dollarText(cost)}` : '';
  const amount = amounts[stoppedBy](isExtendable ? added : to);
  if (!isExtendable) return { kind: 'new_run', label: `New run with ${amount}` };
  return { kind: 'extend', label: `Extend by ${amount}${price}`, extension: { limit: stoppedBy, to, costUsd: cost } };
}

const amounts: Record<ExtensionLimit, (amount: number) => string> = {
  max_rollouts: (amount) => counted(amount, 'answer'),
  max_cost_usd: dollarText,
  max_minutes: (amount) => `${Number(amount.toFixed(1))} minutes`,
};

function addedTo(limit: ExtensionLimit, now: number): number {
  return limit === 'max_rollouts' ? roundUp(now * further) : now * further;
}

function costOf(
  limit: ExtensionLimit,
  { added, now, rollouts, costUsd }: { added: number; now: number; rollouts: number; costUsd: number | null },
): number | null {
  if (limit === 'max_cost_usd') return added;
  if (costUsd === null) return null;
  if (limit === 'max_minutes') return (costUsd * added) / now;
  return rollouts === 0 ? null : (costUsd / rollouts) * added;
}
