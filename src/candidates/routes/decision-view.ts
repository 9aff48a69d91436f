import type { z } from 'zod';
import type { decisionSchema } from '../contract/lineage.js';
import { unitOf, type Unit, type UnitSource } from '../../core/jobs/unit.js';
import { isTerminal, type Status } from '../../core/jobs/status.js';
import type { AcceptanceRecord, DecisionRecord, RejectionRecord } from '../../core/search/acceptance-record.js';
import type { CandidateRow } from '../store/reads.js';

type DecisionView = z.output<typeof decisionSchema>;

const undecided = { parent_sum: null, child_sum: null, minibatch_size: null, estimated_reward: null };

/** The recorded decision on a candidate. */
export function decisionView(row: CandidateRow, { spec, status }: { spec: UnitSource; status: Status }): DecisionView {
  const unit = unitOf(spec);
  const view = row.leverVersion === 0 ? baseline(row, unit) : decided(row, status, unit);
  return { ...view, message: view.message + mergeText(row.merged) };
}

function baseline(row: CandidateRow, unit: Unit): DecisionView {
  const message = `Accepted: baseline.${rewardText(row, null, unit)}`;
  return { ...undecided, outcome: 'accepted', reason: 'baseline', message };
}

function decided(row: CandidateRow, status: Status, unit: Unit): DecisionView {
  switch (row.decision?.type) {
    case undefined:
      return pending(status);
    case 'candidate_accepted':
      return accepted(row, row.decision, unit);
    case 'candidate_rejected':
      return rejected(row.decision, unit);
  }
}

function pending(status: Status): DecisionView {
  const message = isTerminal(status)
    ? 'Not decided: the search ended first.'
    : 'Not decided yet: its test is still running.';
  return { ...undecided, outcome: 'pending', reason: null, message };
}

function accepted(row: CandidateRow, decision: AcceptanceRecord, unit: Unit): DecisionView {
  const { estimate, reason } = decision;
  const words = `${comparisonText(decision, unit)}${whyAccepted(decision, unit)}`;
  const message = `Accepted: ${words}.${rewardText(row, estimate, unit)}`;
  return { outcome: 'accepted', reason, ...sumsOf(decision), estimated_reward: estimate, message };
}

const savingText: Partial<Record<AcceptanceRecord['reason'], string>> = {
  cheaper: ', and it costs less than its parent',
  shorter: ', and it is shorter than its parent',
};

function whyAccepted({ reason, parentSum, childSum }: AcceptanceRecord, unit: Unit): string {
  // The test of a set of turns has more solved rows than their share.
  if (reason === 'better' && childSum <= parentSum)
    return `, a gain by the shares of ${unit}s that its parent solves and fails`;
  if (reason === 'combined' && childSum <= parentSum)
    return ', and a combination of candidates needs only to lose nothing';
  return savingText[reason] ?? '';
}

function rejected(decision: RejectionRecord, unit: Unit): DecisionView {
  const { reason, isGain } = decision;
  // The sums of a test that was broken off say nothing.
  const sums = reason === 'budget' && !isGain ? { parent_sum: null, child_sum: null } : {};
  const message = `Rejected: ${whyRejected(reason, isGain, comparisonText(decision, unit))}.`;
  return { outcome: 'rejected', reason, ...sumsOf(decision), ...sums, estimated_reward: null, message };
}

function whyRejected(reason: string, isGain: boolean, words: string): string {
  if (reason === 'overtaken') return `${words}, but another candidate of its generation was better`;
  if (reason !== 'budget') return isGain ? `${words}, a gain within the noise` : words;
  if (isGain) return `${words}, but max_rollouts does not cover the rest of its test`;
  return 'max_rollouts does not cover the rest of its test';
}

function sumsOf({ parentSum, childSum, tested }: DecisionRecord) {
  return { parent_sum: parentSum, child_sum: childSum, minibatch_size: tested === 0 ? null : tested };
}

function comparisonText({ parentSum, childSum, tested }: DecisionRecord, unit: Unit): string {
  const where = tested === 0 ? 'in its test' : `on ${tested} ${tested === 1 ? unit : `${unit}s`}`;
  return `it scored ${formatNumber(childSum)} ${where}, its parent about ${formatNumber(parentSum)}`;
}

function rewardText({ reward }: CandidateRow, estimate: number | null, unit: Unit): string {
  if (reward !== null) return ` Mean reward on the evaluation ${unit}s: ${formatNumber(reward)}.`;
  return estimate === null ? '' : ` Expected reward on the evaluation ${unit}s: ${formatNumber(estimate)}.`;
}

function mergeText(merged: readonly number[]): string {
  if (merged.length === 0) return '';
  return ` It combines candidates ${merged.slice(0, -1).join(', ')} and ${merged.at(-1)}.`;
}

/** Three decimals, as rewards are shown elsewhere: 0.3, not 0.30000000000000004. */
function formatNumber(value: number): string {
  return String(Number(value.toFixed(3)));
}
