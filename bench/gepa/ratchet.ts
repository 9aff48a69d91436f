import { all, type Ratchet } from '../../src/client/index.js';
import { componentTexts } from '../../src/core/prompts/components.js';
import { populationSize } from '../curve/trajectory.js';
import type { Run } from '../worlds/client.js';
import type { Outcome, SearchTask } from './search.js';

/** The maximum, so that the budget ends the search. */
const generations = Math.floor(499 / populationSize);

/** A GEPA session over HTTP, followed by its events. The clock starts with the request. */
export async function searchSession(client: Ratchet, run: Run, task: SearchTask): Promise<Outcome> {
  const startedAt = Date.now();
  const session = await client.createSession({
    policy_optimization: {
      algorithm: 'gepa',
      container_url: run.containerUrl,
      policy: { provider: 'bench', model: run.model },
      gepa: {
        population_size: populationSize,
        generations,
        minibatch_size: task.minibatchSize,
        train_seeds: task.trainSeeds,
        evaluation: { seeds: task.evaluationSeeds },
      },
      budget: { max_rollouts: task.maxRollouts },
      max_concurrent: task.maxConcurrent,
      rng_seed: task.rngSeed,
      // The peer has none.
      preflight: false,
    },
  });
  const events = await all(session.events());
  const last = events.at(-1);
  if (last?.type !== 'job_complete') throw new Error(`the session ended with ${last?.type}: ${last?.message}`);
  const { best_prompt: best } = await session.results();
  const { messages } = best!;
  const rollouts = events.filter((event) => event.type === 'rollout_completed');
  const candidates = [];
  for (const { ts, data } of events.filter((event) => event.type === 'candidate_evaluated')) {
    const own = rollouts.find((rollout) => rollout.data.candidate_id === data.candidate_id)!;
    const prompt = await session.prompt({ correlation_id: own.data.rollout_id });
    candidates.push({ at: Date.parse(ts), text: prompt.messages[0]!.content, reward: data.reward! });
  }
  return {
    startedAt,
    endedAt: Date.parse(last.ts),
    rollouts: rollouts.length,
    winner: messages[0]!.content,
    winnerTexts: componentTexts(messages),
    candidates,
  };
}
