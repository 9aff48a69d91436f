/**
 * The composition that `mipro` names on the wire, after MIPROv2 (Opsahl-Ong et al., arXiv
 * 2406.11695): questions with a description of the task and a tip, each component in turn, and
 * demonstrations from good answers where no right answer is known.
 */
import type { PolicyOptimization } from '../../kinds/session/contract/create.js';
import type { ConfigProblem } from '../search/config.js';
import { commonConfig } from '../search/request.js';
import type { SeedSplit } from '../search/split.js';
import type { SearchEstimate } from './estimate.js';
import * as gepa from './gepa/config.js';

/** Rollouts that a tested candidate is likely to take. */
const rolloutsOfTrial = 5;

export function toConfig(request: PolicyOptimization, split: SeedSplit | null = null): gepa.GepaConfig {
  const { train_seeds, evaluation, ...fields } = request.mipro!;
  const common = commonConfig(request, { train_seeds, evaluation }, split);
  const isLive = request.rollouts === 'caller';
  const components = Math.max(1, request.initial_prompt?.messages.length ?? 1);
  const hasDemos = fields.max_bootstrapped_demos + fields.max_labeled_demos > 0;
  const derived = common.maxRollouts === null ? trialsOf(fields.num_candidates, components, hasDemos) : null;
  const trials = fields.num_trials ?? derived;
  return {
    ...gepa.gepaDefaults,
    ...common,
    minibatchSize: fields.minibatch_size,
    populationSize: fields.num_candidates,
    ...limitTrials(common.maxRollouts, trials),
    componentSelection: 'round_robin',
    demonstrations: isLive ? 0 : fields.max_labeled_demos,
    goodAnswers: fields.max_bootstrapped_demos,
    isGuided: true,
    // Live traffic comes one request at a time.
    slots: isLive ? 1 : request.max_concurrent,
  };
}

/** Limits for at most `trials` tested candidates. Each generation takes a rollout or more. */
export function limitTrials(
  maxRollouts: number | null,
  trials: number | null,
): Pick<gepa.GepaConfig, 'trials' | 'generations'> {
  return { trials, generations: Math.min(gepa.gepaLimits.candidates - 1, trials ?? maxRollouts ?? Infinity) };
}

/** The trials of DSPy's MIPROv2 for the same number of choices. */
function trialsOf(candidates: number, components: number, hasDemos: boolean): number {
  const variables = components * (hasDemos ? 2 : 1);
  return Math.ceil(Math.max(2 * variables * Math.log2(candidates), 1.5 * candidates));
}

/** Fields of the config by the field of the request that sets them. */
const requestFields: Partial<Record<keyof gepa.GepaConfig, string>> = {
  populationSize: 'numCandidates',
  generations: 'numTrials',
  trials: 'numTrials',
  demonstrations: 'maxLabeledDemos',
  goodAnswers: 'maxBootstrappedDemos',
};

export function configProblems(config: gepa.GepaConfig): ConfigProblem<string>[] {
  return gepa.configProblems(config).map(({ field, message }) => ({ field: requestFields[field] ?? field, message }));
}

export function estimateSearch(config: gepa.GepaConfig): SearchEstimate {
  const affordable = Math.ceil((config.maxRollouts ?? Infinity) / rolloutsOfTrial);
  const trials = Math.min(config.trials ?? Infinity, affordable);
  const estimate = gepa.estimateSearch({ ...config, trials });
  // One question describes the task.
  return { ...estimate, proposals: 1 + estimate.proposals };
}
