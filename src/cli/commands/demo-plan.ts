/** The jobs of the demo, and what they may cost. */
import type { CreateEvaluation } from '../../client/index.js';
import { ConfigError } from '../../service/config.js';
import type { Estimate } from '../../jobs/routes/cost-estimate.js';
import { dollars } from '../service/output.js';
import { estimateEvaluation, estimateSession } from '../task/estimates.js';
import { inOptions } from '../task/faults.js';
import type { Model } from '../task/model-name.js';
import { sumOf } from './cost.js';

export const generations = 8;
export const populationSize = 3;
export const maxRollouts = 1_600;
const minibatchSize = 12;
const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);
const trainSeeds = range(0, 240);
const evaluationSeeds = range(240, 280);
export const unseenSeeds = range(300, 420);

export interface DemoPlan {
  estimate: Estimate;
  /** Dollars for the session; undefined: no limit. */
  sessionCost: number | undefined;
  /** Dollars for each of the two evaluations after it; undefined: no limit. */
  evaluationCost: number | undefined;
}

/** Throws a ConfigError for a limit that the comparison after the session alone may exceed. */
export async function planDemo(policy: Model, maxCost: number | undefined): Promise<DemoPlan> {
  return inOptions(async () => {
    const evaluation = estimateEvaluation(evaluationBody(somewhere, policy));
    const evaluationCost = evaluation.cost_usd?.high ?? Infinity;
    const estimateOf = (limit: number | undefined): Estimate =>
      sumOf([evaluation, evaluation, estimateSession(sessionBody(somewhere, policy, limit))].map(asJob));
    if (maxCost === undefined)
      return { estimate: estimateOf(undefined), sessionCost: undefined, evaluationCost: undefined };
    const sessionCost = maxCost - 2 * evaluationCost;
    if (evaluationCost === Infinity) throw new ConfigError('--max-cost: the price of the model is not known');
    if (sessionCost <= 0)
      throw new ConfigError(
        `--max-cost: must be above ${dollars(2 * evaluationCost)}, which the comparison after the session may cost`,
      );
    return { estimate: estimateOf(sessionCost), sessionCost, evaluationCost };
  });
}

const asJob = (estimate: Estimate) => ({ estimate });

/** A stand-in for the container, which does not run yet. */
const somewhere = 'http://127.0.0.1:1';

export function sessionBody(containerUrl: string, policy: Model, maxCost: number | undefined) {
  return {
    policy_optimization: {
      algorithm: 'gepa' as const,
      container_url: containerUrl,
      policy,
      gepa: {
        population_size: populationSize,
        generations,
        minibatch_size: minibatchSize,
        train_seeds: trainSeeds,
        evaluation: { seeds: evaluationSeeds },
      },
      budget: { max_rollouts: maxRollouts, ...(maxCost !== undefined && { max_cost_usd: maxCost }) },
      max_concurrent: 8,
    },
  };
}

/** `candidate`: that of a session; default: the container's own prompt. `maxCost`: dollars. */
export function evaluationBody(
  containerUrl: string,
  policy: Model,
  { candidate, maxCost }: { candidate?: CreateEvaluation['candidate']; maxCost?: number | undefined } = {},
): CreateEvaluation {
  return {
    container_url: containerUrl,
    app_id: 'intents',
    env_name: 'unseen',
    seeds: unseenSeeds,
    policy,
    max_concurrent: 8,
    ...(candidate && { candidate }),
    ...(maxCost !== undefined && { budget: { max_cost_usd: maxCost } }),
  };
}
