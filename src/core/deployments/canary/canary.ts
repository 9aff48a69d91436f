/** What a canary does next, from what was counted and reported so far. */
import { countsSince, type VersionCounts } from './counts.js';
import { lookAtGuards, nextLookAt, type GuardFinding } from './guards.js';
import { stepsOf, type CanaryPlan } from './plan.js';
import { addRewards, endStep, judgeRewards, noRewards, type MetricValue, type RewardEvidence } from './rewards.js';

export interface Counts {
  live: VersionCounts;
  canary: VersionCounts;
}

/** Plain JSON of bounded size. */
export interface CanaryState {
  /** Index of the step, the shadow included. */
  step: number;
  /** Time of the last look. */
  atMs: number;
  /** Time in the step and in all steps, without pauses and the wait for an approval. */
  heldMs: number;
  totalMs: number;
  /** At the begin of the step. */
  base: Counts;
  /** Looks at the guards in the step, and what the last one found. */
  looks: number;
  findings: readonly GuardFinding[];
  rewards: RewardEvidence;
  /** Why the step goes on after its time; null: it does not. */
  waits: Waiting | null;
}

/** `few_requests`: too few for the next step; `undecided`: the metric does not decide. */
export type Waiting = 'few_requests' | 'undecided';

export interface Observed {
  atMs: number;
  /** Of the version's whole life; the new version's in a shadow are those of the shadow. */
  counts: Counts;
  /** Reported since the last look, in this order. */
  values: readonly MetricValue[];
}

export type RollBackCause = { by: 'guard'; finding: GuardFinding } | { by: 'metric' } | { by: 'time' };

export type CanaryDecision =
  /** The same step; `waits`: a reason that is new. */
  | { is: 'stay'; waits: Waiting | null }
  | { is: 'step'; step: number }
  | { is: 'promote'; by: 'metric' | 'time' }
  | { is: 'await_approval'; by: 'metric' | 'time' }
  | { is: 'roll_back'; cause: RollBackCause };

/** The state at the begin of a step; `counts` as in `Observed`. */
export function beginCanary(atMs: number, counts: Counts): CanaryState {
  return { ...inStep(0, counts), atMs, totalMs: 0, rewards: noRewards };
}

const inStep = (step: number, base: Counts) => ({ step, base, heldMs: 0, looks: 0, findings: [], waits: null });

/** Begins a step; the new version's counts begin anew after a shadow. */
export function beginStep(state: CanaryState, step: number, counts: Counts): CanaryState {
  return { ...state, ...inStep(step, counts), rewards: endStep(state.rewards) };
}

/**
 * Folds in what was observed, and decides. Without `mayAdvance` (paused, or waiting for an
 * approval) the step stays, and its time stands; the guards and the metric still roll back.
 */
export function lookAtCanary(
  plan: CanaryPlan,
  before: CanaryState,
  { atMs, counts, values }: Observed,
  mayAdvance: boolean,
): { state: CanaryState; decision: CanaryDecision } {
  const passedMs = mayAdvance ? Math.max(0, atMs - before.atMs) : 0;
  const seen = sinceBase(counts, before.base);
  const looked = lookIfDue(plan, before, seen);
  const rewards = addRewards(before.rewards, values);
  const [heldMs, totalMs] = [before.heldMs + passedMs, before.totalMs + passedMs];
  const state = { ...before, ...looked, rewards, atMs, heldMs, totalMs };
  const cause = rollBackCause(plan, state, looked.findings);
  if (cause && (mayAdvance || cause.by !== 'time')) return { state, decision: { is: 'roll_back', cause } };
  if (!mayAdvance) return { state, decision: { is: 'stay', waits: null } };
  const next = nextOf(plan, state, seen);
  if (next.is !== 'stay') return { state, decision: next };
  const isNew = next.waits !== before.waits;
  return { state: { ...state, waits: next.waits }, decision: { is: 'stay', waits: isNew ? next.waits : null } };
}

/** What was counted in the step. */
export function sinceBase(counts: Counts, base: Counts): Counts {
  return { live: countsSince(counts.live, base.live), canary: countsSince(counts.canary, base.canary) };
}

function lookIfDue(plan: CanaryPlan, { looks, findings }: CanaryState, seen: Counts) {
  if (seen.canary.requests < nextLookAt(looks)) return { looks, findings };
  const found = lookAtGuards(plan.guard, seen, { steps: stepsOf(plan).length, looks });
  // Requests may have doubled more than once since the last look.
  let next = looks + 1;
  while (seen.canary.requests >= nextLookAt(next)) next += 1;
  return { looks: next, findings: found };
}

function rollBackCause(
  { maxMs }: CanaryPlan,
  { rewards, totalMs }: CanaryState,
  findings: readonly GuardFinding[],
): RollBackCause | null {
  const finding = findings.find(({ isBeyond }) => isBeyond);
  if (finding) return { by: 'guard', finding };
  if (judgeRewards(rewards) === 'worse') return { by: 'metric' };
  return totalMs >= maxMs ? { by: 'time' } : null;
}

function nextOf(plan: CanaryPlan, { step, heldMs, rewards }: CanaryState, { canary }: Counts): CanaryDecision {
  const isLast = step >= stepsOf(plan).length - 1;
  const { holdMs, minRequests } = plan;
  const end = plan.requireApproval ? 'await_approval' : 'promote';
  if (holdMs === null && judgeRewards(rewards) === 'better') return { is: end, by: 'metric' };
  if (holdMs !== null && heldMs < holdMs) return { is: 'stay', waits: null };
  if (canary.requests < minRequests) return { is: 'stay', waits: 'few_requests' };
  if (!isLast) return { is: 'step', step: step + 1 };
  return holdMs === null ? { is: 'stay', waits: 'undecided' } : { is: end, by: 'time' };
}

/** What a canary shows in Temporal. */
export interface CanarySeen {
  status: 'running' | 'paused' | 'awaiting_approval';
  /** From 1. */
  step: number;
  percent: number;
  isShadow: boolean;
}
