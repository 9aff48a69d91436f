import { expect, test } from '@jest/globals';
import { eventSchemas, terminalEvents } from '../../../src/contracts/events/schema.js';
import { beginCanary } from '../../../src/core/deployments/canary/canary.js';
import { noCounts } from '../../../src/core/deployments/canary/counts.js';
import {
  canaryDecided,
  canaryStep,
  canaryWaits,
  evidenceOf,
  promotionReason,
  rollBackReason,
} from '../../../src/core/events/canary.js';
import { deploymentBuilding, gateJudged, snapshotFrozen } from '../../../src/core/events/deployments.js';
import type { NewEvent } from '../../../src/core/events/event.js';
import {
  endEvents,
  evaluationResults,
  hintGiven,
  paused,
  signalIgnored,
  resumed,
  searchResults,
} from '../../../src/core/events/jobs.js';
import { checkupJudged, checkupStep } from '../../../src/core/events/checkups.js';
import { checkRows, judgeImprovement } from '../../../src/core/checkups/verdict.js';
import { migrationJudged, migrationStep } from '../../../src/core/events/migrations.js';
import { judgeSide } from '../../../src/core/migrations/verdict.js';
import { concurrencyLowered, rewardReceived, rolloutEvent } from '../../../src/core/events/rollouts.js';
import {
  costBudgetWarning,
  decisionEvents,
  graphJobStarted,
  sessionExtended,
  sessionStarted,
} from '../../../src/core/events/search.js';
import { jobKinds, kindNames } from '../../../src/core/jobs/kinds.js';
import type { Decision } from '../../../src/core/search/protocol.js';
import { plan } from '../../support/canary-traffic.js';
import { checkedEvent } from '../../support/events.js';

// Invariants: each builder's event fits its schema; each schema has a builder; each terminal event
// ends a kind of job.

const id = `ses_${'0'.repeat(32)}`;
const at = { candidate: 1, generation: 0 };
const sums = { parentSum: 1, childSum: 2, tested: 3 };
const rollout = { id: 'rol_0', idx: 0, seed: 1, stage: 'gate' as const, generation: 0, candidate_id: 'cand_0' };
const succeeded = { ...rollout, status: 'succeeded' as const, reward: 1, error: null };
const ofTask = { ...succeeded, task_id: 't1' };
const failed = { ...rollout, seed: null, status: 'failed' as const, reward: null, error: { message: 'refused' } };
const error = { code: 'internal', message: 'failed', retryable: false };
const ends = [{ status: 'completed' }, { status: 'cancelled' }, { status: 'failed', error }] as const;

const progress = {
  rolloutsCompleted: 9,
  estimate: { candidate: 1, reward: 0.6, low: 0.4, high: 0.8 },
  costUsd: 0.01,
  unit: 'row' as const,
};
const canaryPlan = { ...plan, shadow: 10 };
const noRequests = { live: noCounts, canary: noCounts };
const evidence = evidenceOf(beginCanary(0, noRequests), noRequests);
const finding = { guard: 'error_rate', live: 0, canary: 1, bound: 0.05, isBeyond: true };
const about = { metric: 'reward', evidence };
const decided = (decision: Decision) => decisionEvents(id, decision, progress);
const events: NewEvent[] = [
  sessionStarted({ algorithm: 'gepa', generations: 2, unit: 'row', evaluationSeeds: 3, baselineKnown: true }),
  graphJobStarted({ algorithm: 'gepa', generations: 2, tasks: 5, evaluationTasks: 3 }),
  ...decided({ type: 'candidate_proposed', ...at, parents: [0] }),
  ...decided({ type: 'candidate_proposed', ...at, parents: [0], approach: 'restart' }),
  ...decided({ type: 'proposal_failed', ...at, reason: 'duplicate' }),
  ...decided({ type: 'candidate_rejected', ...at, ...sums, reason: 'not_better' }),
  ...decided({ type: 'candidate_accepted', ...at, ...sums, estimate: 0.7 }),
  ...decided({ type: 'candidate_accepted', ...at, ...sums, estimate: 0.7, reason: 'cheaper' }),
  ...decided({ type: 'candidate_accepted', ...at, ...sums, estimate: 0.7, reason: 'shorter' }),
  ...decided({ type: 'candidate_evaluated', ...at, reward: 0.5, interval: { low: 0.1, high: 0.9 }, seedsEvaluated: 3 }),
  ...decided({ type: 'generation_complete', generation: 0, bestReward: 0.5, bestCandidate: 1 }),
  ...decisionEvents(
    id,
    { type: 'generation_complete', generation: 1, bestReward: 0.5, bestCandidate: 1 },
    { rolloutsCompleted: 9, estimate: null, costUsd: null, unit: 'row' },
  ),
  ...decided({ type: 'budget_warning', rolloutsUsed: 8, maxRollouts: 10 }),
  costBudgetWarning(0.8, 1),
  sessionExtended(2, { max_rollouts: 20, max_cost_usd: 1.5 }),
  ...kindNames.flatMap((kind) =>
    [succeeded, ofTask, failed].map((finished) =>
      rolloutEvent({ kind, unit: 'row' }, finished, { completed: 1, total: 3 }),
    ),
  ),
  rewardReceived({ rewardId: 'rew_0', reward: 1, rolloutId: null, correlationId: null, candidateId: null }),
  concurrencyLowered(1, { limit: 1, max: 4, because: 'busy' }),
  ...decided({ type: 'candidate_proposed', ...at, parents: [0], isGiven: true }),
  canaryStep(canaryPlan, 0, null),
  canaryStep(canaryPlan, 1, evidence),
  canaryWaits(1, 'approval', evidence),
  ...(['metric', 'time'] as const).map((by) =>
    canaryDecided({ outcome: 'promoted', by, evidence }, promotionReason(by, about)),
  ),
  ...[{ by: 'metric' } as const, { by: 'time' } as const, { by: 'guard', finding } as const].map((cause) =>
    canaryDecided({ outcome: 'rolled_back', by: cause.by, evidence }, rollBackReason(cause, about)),
  ),
  hintGiven('cmd_0'),
  paused(1, null),
  resumed(1, 'cmd_0'),
  signalIgnored('a', 'paws', 'no signal of this name'),
  migrationStep('same_prompt', `evl_${'0'.repeat(32)}`),
  migrationJudged('optimized', judgeSide({ seeds: [0], maxLoss: 0.1, candidate: [1], incumbent: [1] }), 0.1),
  checkupStep('winner', `evl_${'0'.repeat(32)}`),
  ...checkupJudged({
    rows: checkRows({ seeds: [0], now: [1], baseline: [0], maxChange: 0.1, level: 0.05 }),
    traffic: checkRows({ seeds: [0], now: [1], baseline: null, maxChange: 0.1, level: 0.05 }),
    improvement: judgeImprovement({ candidate: [1], incumbent: [1] }),
  }),
  deploymentBuilding('support'),
  snapshotFrozen('snp_0'),
  gateJudged('evl_0', 'passed', {
    passed: true,
    reward: 1,
    reward_interval: { low: 0.1, high: 0.9 },
    incumbent_reward: null,
    comparison: null,
    flipped_seeds: [3],
  }),
  ...kindNames.flatMap((kind) => ends.flatMap((end) => endEvents(kind, end))),
  ...endEvents('session', ends[0], { data: searchResults(id, 'completed', null) }),
  ...endEvents('evaluation', ends[2], {
    data: evaluationResults({ total: 3, succeeded: 1, failed: 2, meanReward: null, interval: null }),
  }),
];

test('each event fits the schema of its type', () => {
  for (const event of events) checkedEvent(event);
});

test('each type has a builder', () => {
  const types = eventSchemas.map(({ shape }) => shape.type.value);
  expect([...new Set(events.map(({ type }) => type))].sort()).toEqual([...types].sort());
});

test('the terminal events are those of the kinds of job', () => {
  const names = kindNames.flatMap((kind) => Object.values(jobKinds[kind].terminalEvents));
  expect([...new Set(names)].sort()).toEqual([...terminalEvents].sort());
});

test('keys are unique within a job', () => {
  const decisions = [1, 2].flatMap((candidate) => [
    ...decided({ type: 'candidate_proposed', ...at, candidate, parents: [0] }),
    ...decided({ type: 'candidate_accepted', ...at, ...sums, candidate, estimate: 0.7 }),
    ...decided({
      type: 'candidate_evaluated',
      ...at,
      candidate,
      reward: 0.5,
      interval: { low: 0.1, high: 0.9 },
      seedsEvaluated: 3,
    }),
  ]);
  const keys = [...decisions, paused(1, null), resumed(1, null), paused(2, null)].map(({ key }) => key);
  expect(new Set(keys).size).toBe(keys.length);
});
