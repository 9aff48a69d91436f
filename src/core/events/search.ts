/** Events of a search: its start, its decisions, its budgets. */
import type { EventData } from '../../contracts/events/schema.js';
import type { AlgorithmName } from '../../kinds/session/contract/algorithms.js';
import { candidateId } from '../jobs/ids.js';
import type { Unit } from '../jobs/unit.js';
import { counted } from '../math/words.js';
import type { Decision, SearchView } from '../search/protocol.js';
import type { NewEvent } from './event.js';

type DecisionOf<Type extends Decision['type']> = Extract<Decision, { type: Type }>;

interface Start {
  algorithm: AlgorithmName;
  generations: number;
}

export function sessionStarted({
  unit,
  evaluationSeeds,
  baselineKnown,
  ...start
}: Start & { unit: Unit; evaluationSeeds: number; baselineKnown: boolean }): NewEvent<'session_started'> {
  return {
    key: 'started',
    type: 'session_started',
    message: `${start.algorithm} session started (${counted(evaluationSeeds, `evaluation ${unit}`)})`,
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

/** `run`: the number of the job's run that begins; `limits`: those that the request named. */
export function sessionExtended(run: number, limits: EventData<'session_extended'>): NewEvent<'session_extended'> {
  const named = Object.entries(limits).map(([name, value]) => `${name} ${value}`);
  return {
    key: `extended:${run}`,
    type: 'session_extended',
    message: ['session extended', ...named].join(', '),
    data: limits,
  };
}

/** The search so far, with the cost of all its calls; null: unknown. `unit`: what it runs on. */
export interface SearchProgress extends Pick<SearchView, 'rolloutsCompleted' | 'estimate' | 'bestInterval'> {
  costUsd: number | null;
  unit: Unit;
}

export function decisionEvents(jobId: string, decision: Decision, progress: SearchProgress): NewEvent[] {
  const { type } = decision;
  const idOf = (candidate: number) => candidateId(jobId, candidate);
  switch (type) {
    case 'candidate_proposed': {
      const { candidate, parents, generation, approach, isGiven } = decision;
      const how = isGiven ? ' (given)' : approach ? ` (${approach})` : '';
      const message = `candidate ${candidate} proposed${how}`;
      const parentIds = parents.map(idOf);
      const ids = { candidate_id: idOf(candidate), parent_ids: parentIds };
      const data = { ...ids, generation, lever_version: candidate, ...(approach && { approach }) };
      if (isGiven) return [{ key: `proposed:${candidate}`, type, message, data: { ...data, is_given: true } }];
      return [{ key: `proposed:${candidate}`, type, message, data }];
    }
    case 'proposal_failed': {
      const { candidate, generation, reason } = decision;
      const message = `candidate ${candidate} not proposed: ${reason}`;
      const data = { candidate_id: idOf(candidate), generation, reason };
      return [{ key: `proposal_failed:${candidate}`, type, message, data }];
    }
    case 'candidate_rejected': {
      const { candidate, generation, reason, parentSum, childSum } = decision;
      const message = `candidate ${candidate} rejected: ${reason}`;
      const sums = { parent_sum: parentSum, child_sum: childSum };
      const data = { candidate_id: idOf(candidate), generation, reason, ...sums };
      return [{ key: `rejected:${candidate}`, type, message, data }];
    }
    case 'candidate_accepted': {
      const { candidate, generation, parentSum, childSum, estimate, reason } = decision;
      const message = `candidate ${candidate} accepted (estimated reward ${estimate.toFixed(2)})`;
      const sums = { parent_sum: parentSum, child_sum: childSum, estimated_reward: estimate };
      const data = { candidate_id: idOf(candidate), generation, ...sums, ...(reason && { reason }) };
      return [{ key: `accepted:${candidate}`, type, message, data }];
    }
    case 'candidate_evaluated': {
      const { candidate, generation, reward, interval, seedsEvaluated } = decision;
      const unseen = `unseen ones: ${interval.low.toFixed(4)} to ${interval.high.toFixed(4)}`;
      const message = `candidate ${candidate} evaluated (mean reward ${reward.toFixed(4)} on ${counted(seedsEvaluated, progress.unit)}; ${unseen})`;
      const rewards = { reward, reward_interval: interval, seeds_evaluated: seedsEvaluated };
      const data = { candidate_id: idOf(candidate), generation, ...rewards };
      return [
        { key: `evaluated:${candidate}`, type, message, data },
        { key: `evaluation:${candidate}`, type: 'evaluation_complete', message, data },
      ];
    }
    case 'generation_complete':
      return [generationComplete(jobId, decision, progress)];
    case 'budget_warning': {
      const { rolloutsUsed, maxRollouts } = decision;
      const message = `${rolloutsUsed} of ${maxRollouts} answers used`;
      const data = { rollouts_used: rolloutsUsed, max_rollouts: maxRollouts };
      return [{ key: `${type}:${maxRollouts}`, type, message, data }];
    }
    case 'rollouts_repeated':
      return [];
  }
}

export function generationComplete(
  jobId: string,
  { generation, bestReward, bestCandidate }: Omit<DecisionOf<'generation_complete'>, 'type'>,
  { rolloutsCompleted, estimate, bestInterval, costUsd }: Omit<SearchProgress, 'unit'>,
): NewEvent<'generation_complete'> {
  return {
    key: `generation:${generation}`,
    type: 'generation_complete',
    message: `generation ${generation} complete (best reward ${bestReward.toFixed(4)})`,
    data: {
      generation,
      best_reward: bestReward,
      best_reward_interval: bestInterval ?? null,
      best_candidate_id: candidateId(jobId, bestCandidate),
      rollouts_completed: rolloutsCompleted,
      estimated_reward: estimate?.reward ?? null,
      estimated_reward_interval: estimate ? { low: estimate.low, high: estimate.high } : null,
      cost_usd: costUsd,
    },
  };
}

export function costBudgetWarning(spentUsd: number, maxUsd: number): NewEvent<'budget_warning'> {
  return {
    key: `budget_warning:$${maxUsd}`,
    type: 'budget_warning',
    message: `$${spentUsd.toFixed(6)} of $${maxUsd} spent`,
    data: { cost_usd: spentUsd, max_cost_usd: maxUsd },
  };
}
