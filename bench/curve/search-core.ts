import { gepaDefaults } from '../../src/core/algorithms/gepa/config.js';
import { forecast } from '../../src/core/algorithms/gepa/forecast.js';
import { createGepa, type GepaState } from '../../src/core/algorithms/gepa/state.js';
import { gepa } from '../../src/core/algorithms/gepa.js';
import { rewardModelOf } from '../../src/core/search/model-cache.js';
import { proposalsIn, rolloutsIn } from '../../src/core/search/parts.js';
import type { Stage } from '../../src/core/search/protocol.js';
import { InProcess } from '../worlds/in-process.js';
import { measurableReward, openWorld, type World } from '../worlds/world.js';
import { searchTask } from './task.js';
import type { CoreStep, CurveStep, Search, Trajectory } from './trajectory.js';

/** The settings that a comparison varies. */
export interface CoreOptions {
  populationSize: number;
  parentSelection: 'estimate' | 'pareto';
}

/** The optimizer's name of the sessions' search in process. */
export function coreName({ populationSize, parentSelection }: CoreOptions): string {
  return `core p${populationSize}${parentSelection === 'pareto' ? ' pareto' : ''}`;
}

/**
 * The sessions' search, in process and without waits: for tuning, and to compare with the service.
 */
export function searchCore(search: Search, budgets: readonly number[], options: CoreOptions): Trajectory {
  const { kind, world, shuffledFeedback, maxRollouts } = search;
  const truth = openWorld(kind, world, { shuffledFeedback });
  const steps: CurveStep[] = [{ rollouts: 0, trueReward: truth.trueReward(truth.baseline) }];
  let rollouts = 0;
  for (const budget of budgets.filter((count) => count <= maxRollouts)) {
    const { trainSeeds, evaluationSeeds, minibatchSize, rngSeed } = searchTask(world, budget, kind);
    const seeds = { trainSeeds, evaluationSeeds, minibatchSize };
    const generations = Math.floor(499 / options.populationSize);
    const config = { ...gepaDefaults, ...seeds, ...options, generations, maxRollouts: budget, rngSeed };
    const { end, step } = observe(createGepa(config), truth);
    rollouts += end.asked;
    steps.push({ rollouts: budget, ...step });
  }
  return { ...search, rollouts, steps };
}

/** Runs a search to its end; records its spending, and its choices beside the truth. */
function observe(start: GepaState, truth: World): { end: GepaState; step: Omit<CoreStep, 'rollouts'> } {
  const answers = new InProcess(truth);
  const rewards = new Map<number, number>();
  const trueReward = (candidate: number) => {
    const reward = rewards.get(candidate) ?? truth.trueReward(answers.textsOf(candidate));
    rewards.set(candidate, reward);
    return reward;
  };
  const stages: Partial<Record<Stage, number>> = {};
  const estimates: CoreStep['estimates'] = [];
  let proposals = 0;
  let strayParents = 0;
  for (let state = start; ;) {
    const request = gepa.next(state);
    if (request.kind === 'done' || request.kind === 'failed') {
      const trueRewardOfBest = trueReward(state.best!.candidate);
      const { calls: proposerCalls } = answers;
      return {
        end: state,
        step: {
          trueReward: trueRewardOfBest,
          spent: state.asked,
          stages,
          proposals,
          strayParents,
          proposerCalls,
          estimates,
        },
      };
    }
    for (const { stage } of rolloutsIn(request)) stages[stage] = (stages[stage] ?? 0) + 1;
    const rewrites = proposalsIn(request).filter(({ kind }) => kind === 'rewrite');
    if (rewrites.length > 0) {
      const best = Math.max(...state.pool.map(trueReward));
      proposals += rewrites.length;
      strayParents += rewrites.filter(({ parent }) => trueReward(parent) < best - 1e-9).length;
    }
    const { state: after, decisions } = gepa.apply(state, answers.answer(request));
    for (const decision of decisions) {
      if (decision.type !== 'candidate_accepted') continue;
      const estimate = forecast(after, rewardModelOf(after), decision.candidate);
      estimates.push({ ...estimate, truth: measurableReward(truth, answers.textsOf(decision.candidate)) });
    }
    state = after;
  }
}
