import { policyOptimizationSchema } from '../../src/kinds/session/contract/create.js';
import { toConfig } from '../../src/core/algorithms/mipro.js';
import { createGepa, type GepaState } from '../../src/core/algorithms/gepa/state.js';
import { forecast } from '../../src/core/algorithms/gepa/forecast.js';
import { gepa } from '../../src/core/algorithms/gepa.js';
import { mean } from '../../src/core/math/rewards.js';
import { rewardModelOf } from '../../src/core/search/model-cache.js';
import { rolloutsIn } from '../../src/core/search/parts.js';
import type { Stage } from '../../src/core/search/protocol.js';
import type { CheckedEstimate } from '../estimates.js';
import type { TaskSetup } from '../worlds/client.js';
import { openTaskWorld } from '../worlds/tasks.js';
import { searchTask } from './task.js';
import { TaskInProcess } from './task-in-process.js';

export interface CoreSetup extends Pick<TaskSetup, 'kind' | 'world' | 'feedback' | 'labels'> {
  maxRollouts: number;
  numCandidates: number;
  numTrials?: number;
  /** The most topics of an instance. */
  most?: number;
}

/** The end of a search; `gap`: the mean on the evaluation seeds minus the true reward. */
export interface CoreResult {
  trueReward: number;
  /** Mean true reward of the instances that are neither train nor evaluation seeds. */
  unseen: number;
  gap: number;
  rollouts: number;
  stages: Partial<Record<Stage, number>>;
  proposerCalls: number;
  generations: number;
  stoppedBy: string;
  /** Of each accepted candidate. */
  estimates: CheckedEstimate[];
}

/** Runs the sessions' MIPRO search in process and without waits. */
export function searchCore(setup: CoreSetup): CoreResult {
  const { kind, world, feedback, labels, most } = setup;
  const truth = openTaskWorld(kind, world, most === undefined ? {} : { most });
  const answers = new TaskInProcess(truth, { feedback, labels });
  const stages: Partial<Record<Stage, number>> = {};
  const estimates: CoreResult['estimates'] = [];
  for (let state = createGepa(configOf(setup)); ;) {
    const work = gepa.next(state);
    if (work.kind === 'done' || work.kind === 'failed') {
      const { candidate, reward } = state.best!;
      const prompt = answers.promptOf(candidate);
      const trueReward = truth.trueReward(prompt);
      const stoppedBy = work.kind === 'done' ? work.stoppedBy : work.code;
      return {
        ...summaryOf(state, stages),
        trueReward,
        gap: reward - trueReward,
        unseen: unseenReward(),
        estimates,
        proposerCalls: answers.calls,
        stoppedBy,
      };

      function unseenReward(): number {
        const { trainSeeds, evaluationSeeds } = state.config;
        const seen = new Set([...trainSeeds, ...evaluationSeeds]);
        const others = Array.from({ length: 240 }, (_, seed) => seed).filter((seed) => !seen.has(seed));
        const rewards = others.map((seed) => {
          const question = { role: 'user', content: truth.input(seed) };
          return truth.score(seed, truth.answer([...prompt, question])).reward;
        });
        return mean(rewards)!;
      }
    }
    for (const { stage } of rolloutsIn(work)) stages[stage] = (stages[stage] ?? 0) + 1;
    const { state: after, decisions } = gepa.apply(state, answers.answer(work));
    for (const decision of decisions) {
      if (decision.type !== 'candidate_accepted') continue;
      const estimate = forecast(after, rewardModelOf(after), decision.candidate);
      estimates.push({ ...estimate, truth: truth.trueReward(answers.promptOf(decision.candidate)) });
    }
    state = after;
  }
}

function summaryOf({ asked, generation }: GepaState, stages: CoreResult['stages']) {
  return { rollouts: asked, stages, generations: generation };
}

function configOf({ world, labels, maxRollouts, numCandidates, numTrials }: CoreSetup) {
  const { trainSeeds, evaluationSeeds, maxBootstrappedDemos, maxLabeledDemos, rngSeed } = searchTask(world, labels);
  return toConfig(
    policyOptimizationSchema.parse({
      algorithm: 'mipro',
      container_url: 'http://localhost',
      policy: { provider: 'bench', model: 'bench' },
      mipro: {
        num_candidates: numCandidates,
        num_trials: numTrials,
        train_seeds: trainSeeds,
        evaluation: { seeds: evaluationSeeds },
        max_bootstrapped_demos: maxBootstrappedDemos,
        max_labeled_demos: maxLabeledDemos,
      },
      budget: { max_rollouts: maxRollouts },
      rng_seed: rngSeed,
    }),
  );
}
