/** Events of a deployment that takes requests step by step. */
import type { CanaryEvidence } from '../../contracts/canary-evidence.js';
import type { EventData } from '../../contracts/events/schema.js';
import type { GuardFinding } from '../deployments/canary/guards.js';
import { stepsOf, type CanaryPlan } from '../deployments/canary/plan.js';
import { judgeRewards } from '../deployments/canary/rewards.js';
import { sinceBase, type Counts, type RollBackCause, type CanaryState } from '../deployments/canary/canary.js';
import type { NewEvent } from './event.js';

/** What a step has shown so far. */
export function evidenceOf({ base, findings, rewards }: CanaryState, counts: Counts): CanaryEvidence {
  const { live, canary } = sinceBase(counts, base);
  const { test, live: ofLive, canary: ofCanary } = rewards;
  return {
    requests: { live: live.requests, canary: canary.requests },
    guards: findings.map(({ isBeyond, ...finding }) => ({ ...finding, is_beyond: isBeyond })),
    metric: { live: ofLive, canary: ofCanary, pairs: test?.pairs ?? 0, verdict: judgeRewards(rewards) },
  };
}

/** `step`: its index. */
export function canaryStep(plan: CanaryPlan, step: number, evidence: CanaryEvidence | null): NewEvent<'canary_step'> {
  const { percent, isShadow } = stepsOf(plan)[step]!;
  const share = `${percent} % of the requests`;
  return {
    key: `canary:step:${step}`,
    type: 'canary_step',
    message: isShadow ? `${share} are also asked of the new version` : `the new version answers ${share}`,
    data: { step: step + 1, percent, is_shadow: isShadow, evidence },
  };
}

const waitsFor = {
  few_requests: 'too few requests for the next step',
  undecided: 'the metric does not decide yet',
  approval: 'waits for an approval',
  paused: 'paused',
};

/** `key` tells occurrences apart; by default the reason, once in a step. */
export function canaryWaits(
  step: number,
  reason: EventData<'canary_waits'>['reason'],
  evidence: CanaryEvidence,
  key: string = reason,
): NewEvent<'canary_waits'> {
  return {
    key: `canary:waits:${step}:${key}`,
    type: 'canary_waits',
    message: `the step goes on: ${waitsFor[reason]}`,
    data: { step: step + 1, reason, evidence },
  };
}

export function canaryDecided(data: EventData<'canary_decided'>, reason: string): NewEvent<'canary_decided'> {
  return { key: 'canary:decided', type: 'canary_decided', message: reason, data };
}

const number = (value: number): string => String(Number(value.toPrecision(4)));

/** Why a version is rolled back, as a sentence. */
export function rollBackReason(
  cause: RollBackCause,
  { metric, evidence }: { metric: string; evidence: CanaryEvidence },
) {
  if (cause.by === 'guard') return guardReason(cause.finding, evidence.requests.canary);
  if (cause.by === 'time') return `Rolled back: ${metric} did not decide within max_duration.`;
  const { live, canary, pairs } = evidence.metric;
  return `Rolled back: ${metric} is worse, ${number(canary.mean)} against ${number(live.mean)} of the live version, in ${pairs} pairs.`;
}

function guardReason({ guard, live, canary, bound }: GuardFinding, requests: number): string {
  return `Rolled back: ${guard} is ${number(canary)}, beyond ${number(bound)} (live version: ${number(live)}), after ${requests} requests of the step.`;
}

/** Why a version is promoted, as a sentence. */
export function promotionReason(
  by: 'metric' | 'time',
  { metric, evidence }: { metric: string; evidence: CanaryEvidence },
) {
  if (by === 'time') return 'Promoted: every step has passed.';
  const { live, canary, pairs } = evidence.metric;
  return `Promoted: ${metric} is better, ${number(canary.mean)} against ${number(live.mean)} of the live version, in ${pairs} pairs.`;
}
