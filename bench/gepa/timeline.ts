/** What a ledger of calls and a list of candidates say about a search: how full it kept the container, and how good it was when. */
import type { Outcome } from './search.js';
import type { Entry } from '../worlds/client.js';

/** Where the wall time went. */
export interface Usage {
  wallMs: number;
  /** Rollouts that the container saw. */
  rollouts: number;
  /** Share of the rollouts' slots that were busy: slot time in use over `slots` times wall. */
  utilisation: number;
  /** Moments in which neither a rollout nor a proposal was under way, between the first and the last call. */
  gaps: number;
  meanGapMs: number;
  /** All of them, and what came before the first call and after the last. */
  idleMs: number;
  /** Time in which proposals were under way, and no rollouts. */
  proposingMs: number;
  maxAtOnce: number;
}

/** Reads a run's ledger; `startedAt` and `endedAt` are the optimizer's own, in epoch milliseconds. */
export function usageOf(ledger: readonly Entry[], { startedAt, endedAt }: Outcome, slots: number): Usage {
  const wallMs = endedAt - startedAt;
  const rollouts = ledger.filter(({ kind }) => kind === 'rollout');
  const gaps = gapsBetween(ledger);
  const first = Math.min(...ledger.map((entry) => entry.startedAt));
  const last = Math.max(...ledger.map((entry) => entry.endedAt));
  const gapsMs = sum(gaps);
  const busyMs = sum(rollouts.map((entry) => entry.endedAt - entry.startedAt));
  return {
    wallMs,
    rollouts: rollouts.length,
    utilisation: busyMs / (slots * wallMs),
    gaps: gaps.length,
    meanGapMs: gaps.length === 0 ? 0 : gapsMs / gaps.length,
    idleMs: gapsMs + Math.max(0, first - startedAt) + Math.max(0, endedAt - last),
    proposingMs: sum(gapsBetween(rollouts)) - gapsMs,
    maxAtOnce: maxAtOnce(rollouts),
  };
}

/** The lengths of the times in which none of the calls was under way. */
function gapsBetween(calls: readonly Entry[]): number[] {
  const gaps: number[] = [];
  let until = Infinity;
  for (const { startedAt, endedAt } of [...calls].sort((a, b) => a.startedAt - b.startedAt)) {
    if (startedAt > until) gaps.push(startedAt - until);
    until = Math.max(until === Infinity ? endedAt : until, endedAt);
  }
  return gaps;
}

function maxAtOnce(calls: readonly Entry[]): number {
  const changes = calls.flatMap(({ startedAt, endedAt }) => [
    { at: startedAt, by: 1 },
    { at: endedAt, by: -1 },
  ]);
  let now = 0;
  let most = 0;
  for (const { by } of changes.sort((a, b) => a.at - b.at || a.by - b.by)) most = Math.max(most, (now += by));
  return most;
}

/** How good what a search would return is, from `afterMs` (since its start) on. */
export interface Step {
  afterMs: number;
  trueReward: number;
}

/** A step whenever another candidate became the best by its evaluation; ties stay with the earlier one. */
export async function stepsOf(outcome: Outcome, trueReward: (text: string) => Promise<number>): Promise<Step[]> {
  const steps: Step[] = [];
  let best = -Infinity;
  for (const { at, text, reward } of outcome.candidates) {
    if (reward <= best) continue;
    best = reward;
    steps.push({ afterMs: at - outcome.startedAt, trueReward: await trueReward(text) });
  }
  return steps;
}

/** When a search first stood at `target` or above; null where it never did. */
export function reachedAfter(steps: readonly Step[], target: number): number | null {
  return steps.find((step) => step.trueReward >= target - 1e-9)?.afterMs ?? null;
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
