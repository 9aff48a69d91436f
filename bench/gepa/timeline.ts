/** Analyzes a search's ledger and candidates: container utilization, and quality by time. */
import type { Outcome } from './search.js';
import type { Entry } from '../worlds/client.js';

/** Wall time by use. */
export interface Usage {
  wallMs: number;
  /** Rollouts counted by the container. */
  rollouts: number;
  /** Share of busy slot time: slot time in use over `slots` times wall time. */
  utilisation: number;
  /** Gaps without rollout or proposal between the first and the last call. */
  gaps: number;
  meanGapMs: number;
  /** Total gaps, and the time before the first and after the last call. */
  idleMs: number;
  /** Time with proposals but no rollouts. */
  proposingMs: number;
  maxAtOnce: number;
  /** The longest chain of calls: each starts after the previous one has ended. */
  depth: number;
}

/** Reads a run's ledger; `startedAt` and `endedAt` are the optimizer's, in epoch milliseconds. */
export function ledgerUsage(ledger: readonly Entry[], { startedAt, endedAt }: Outcome, slots: number): Usage {
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
    depth: longestChain(ledger),
  };
}

/** Lengths of the gaps without calls. */
function gapsBetween(calls: readonly Entry[]): number[] {
  const gaps: number[] = [];
  let until = Infinity;
  for (const { startedAt, endedAt } of [...calls].sort((a, b) => a.startedAt - b.startedAt)) {
    if (startedAt > until) gaps.push(startedAt - until);
    until = Math.max(until === Infinity ? endedAt : until, endedAt);
  }
  return gaps;
}

/** Takes the call that ends first, then the one that ends first of those after it, and so on. */
function longestChain(calls: readonly Entry[]): number {
  let length = 0;
  let until = -Infinity;
  for (const { startedAt, endedAt } of [...calls].sort((a, b) => a.endedAt - b.endedAt)) {
    if (startedAt < until) continue;
    length += 1;
    until = endedAt;
  }
  return length;
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

/** Quality of the returned candidate from `afterMs` (since the start) on. */
export interface Step {
  afterMs: number;
  trueReward: number;
}

/** One step per new best candidate by evaluation; ties keep the earlier one. */
export async function rewardSteps(outcome: Outcome, trueReward: (text: string) => Promise<number>): Promise<Step[]> {
  const steps: Step[] = [];
  let best = -Infinity;
  for (const { at, text, reward } of outcome.candidates) {
    if (reward <= best) continue;
    best = reward;
    steps.push({ afterMs: at - outcome.startedAt, trueReward: await trueReward(text) });
  }
  return steps;
}

/** Time at which a search reached `target`; null: never. */
export function reachedAfter(steps: readonly Step[], target: number): number | null {
  return steps.find((step) => step.trueReward >= target - 1e-9)?.afterMs ?? null;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
