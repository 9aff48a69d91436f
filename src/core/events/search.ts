/** Events of a search: its start, its decisions, its budgets. */
import type { EventData } from '../../contracts/events/schema.js';
import type { AlgorithmName } from '../../contracts/sessions/algorithms.js';
import { candidateId } from '../jobs/ids.js';
import type { Decision } from '../search/protocol.js';
import type { NewEvent } from './event.js';

type DecisionOf<Type extends Decision['type']> = Extract<Decision, { type: Type }>;

interface Start {
  algorithm: AlgorithmName;
  generations: number;
}

export function sessionStarted({
  evaluationSeeds,
  baselineKnown,
  ...start
}: Start & { evaluationSeeds: number; baselineKnown: boolean }): NewEvent<'session_started'> {
  return {
    key: 'started',
    type: 'session_started',
    message: `${start.algorithm} session started (${evaluationSeeds} evaluation seeds)`,
    data: { ...start, baseline_known: baselineKnown },
  };
}

export function graphJobStarted({
  evaluationTasks,
  ...data
}: Start & { tasks: number; evaluationTasks: number }): NewEvent<'job_started'> {
  return {
    key: 'started',
    type: 'job_started',
    message: `graph job started (${data.tasks} tasks, ${evaluationTasks} for evaluation)`,
    data,
  };
}

export function decisionEvents(jobId: string, decision: Decision): NewEvent[] {
  switch (decision.type) {
    case 'candidate_proposed':
      return [candidateProposed(jobId, decision)];
    case 'proposal_failed':
      return [proposalFailed(jobId, decision)];
    case 'candidate_rejected':
      return [candidateRejected(jobId, decision)];
    case 'candidate_accepted':
      return [candidateAccepted(jobId, decision)];
    case 'candidate_evaluated':
      return [candidateEvaluated(jobId, decision), evaluationComplete(jobId, decision)];
    case 'generation_complete':
      return [generationComplete(jobId, decision)];
    case 'budget_warning':
      return [rolloutBudgetWarning(decision)];
    case 'rollouts_repeated':
      return [];
  }
}

function candidateProposed(
  jobId: string,
  { candidate, parents, generation }: Omit<DecisionOf<'candidate_proposed'>, 'type'>,
): NewEvent<'candidate_proposed'> {
  return {
    key: `proposed:${candidate}`,
    type: 'candidate_proposed',
    message: `candidate ${candidate} proposed`,
    data: {
      candidate_id: candidateId(jobId, candidate),
      parent_ids: parents.map((parent) => candidateId(jobId, parent)),
      generation,
      lever_version: candidate,
    },
  };
}

function proposalFailed(
  jobId: string,
  { candidate, generation, reason }: Omit<DecisionOf<'proposal_failed'>, 'type'>,
): NewEvent<'proposal_failed'> {
  return {
    key: `proposal_failed:${candidate}`,
    type: 'proposal_failed',
    message: `candidate ${candidate} not proposed: ${reason}`,
    data: { candidate_id: candidateId(jobId, candidate), generation, reason },
  };
}

function candidateRejected(
  jobId: string,
  { candidate, generation, reason, parentSum, childSum }: Omit<DecisionOf<'candidate_rejected'>, 'type'>,
): NewEvent<'candidate_rejected'> {
  return {
    key: `rejected:${candidate}`,
    type: 'candidate_rejected',
    message: `candidate ${candidate} rejected: ${reason}`,
    data: {
      candidate_id: candidateId(jobId, candidate),
      generation,
      reason,
      parent_sum: parentSum,
      child_sum: childSum,
    },
  };
}

function candidateAccepted(
  jobId: string,
  { candidate, generation, parentSum, childSum, estimate, reason }: Omit<DecisionOf<'candidate_accepted'>, 'type'>,
): NewEvent<'candidate_accepted'> {
  return {
    key: `accepted:${candidate}`,
    type: 'candidate_accepted',
    message: `candidate ${candidate} accepted (estimated reward ${estimate.toFixed(2)})`,
    data: {
      candidate_id: candidateId(jobId, candidate),
      generation,
      parent_sum: parentSum,
      child_sum: childSum,
      estimated_reward: estimate,
      ...(reason && { reason }),
    },
  };
}

type Evaluated = Omit<DecisionOf<'candidate_evaluated'>, 'type'>;

function candidateEvaluated(jobId: string, decision: Evaluated): NewEvent<'candidate_evaluated'> {
  const key = `evaluated:${decision.candidate}`;
  return { key, type: 'candidate_evaluated', ...evaluated(jobId, decision) };
}

function evaluationComplete(jobId: string, decision: Evaluated): NewEvent<'evaluation_complete'> {
  const key = `evaluation:${decision.candidate}`;
  return { key, type: 'evaluation_complete', ...evaluated(jobId, decision) };
}

function evaluated(
  jobId: string,
  { candidate, generation, reward, seedsEvaluated }: Evaluated,
): { message: string; data: EventData<'candidate_evaluated'> } {
  return {
    message: `candidate ${candidate} evaluated (mean reward ${reward.toFixed(4)} on ${seedsEvaluated} seeds)`,
    data: { candidate_id: candidateId(jobId, candidate), generation, reward, seeds_evaluated: seedsEvaluated },
  };
}

export function generationComplete(
  jobId: string,
  { generation, bestReward, bestCandidate }: Omit<DecisionOf<'generation_complete'>, 'type'>,
): NewEvent<'generation_complete'> {
  return {
    key: `generation:${generation}`,
    type: 'generation_complete',
    message: `generation ${generation} complete (best reward ${bestReward.toFixed(4)})`,
    data: { generation, best_reward: bestReward, best_candidate_id: candidateId(jobId, bestCandidate) },
  };
}

function rolloutBudgetWarning({
  rolloutsUsed,
  maxRollouts,
}: Omit<DecisionOf<'budget_warning'>, 'type'>): NewEvent<'budget_warning'> {
  return {
    key: 'budget_warning',
    type: 'budget_warning',
    message: `${rolloutsUsed} of ${maxRollouts} rollouts used`,
    data: { rollouts_used: rolloutsUsed, max_rollouts: maxRollouts },
  };
}

export function costBudgetWarning(spentUsd: number, maxUsd: number): NewEvent<'budget_warning'> {
  return {
    key: 'budget_warning:cost',
    type: 'budget_warning',
    message: `$${spentUsd.toFixed(6)} of $${maxUsd} spent`,
    data: { cost_usd: spentUsd, max_cost_usd: maxUsd },
  };
}
