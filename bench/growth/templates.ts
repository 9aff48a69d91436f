/** Finished jobs of every kind, run by the service itself, whose rows the fill copies. */
import { ruleRow } from '../../test/support/worlds/rows.js';
import { baseline } from '../../test/support/worlds/rules.js';
import { evaluate, graphJob, optimize, range, smallSearch } from '../jobs.js';
import { deploy } from '../rows/deployment.js';
import type { World } from '../world.js';
import { chain } from '../graph/shapes.js';
import { graphToJson } from '../../src/core/graphs/json.js';

/** Ids of the jobs that are copied, and of the largest ones, which are read. */
export interface Templates {
  session: string;
  evaluation: string;
  graph: string;
  deployment: string;
  largeEvaluation: string;
}

const rules = 40;
const largestEvaluation = 10_000;

/** A finished session with a few candidates. */
export function smallSession(world: World) {
  return optimize(world, {
    dataset: { rows: range(rules).map((seed) => ruleRow(seed, rules)), input: 'question', expected: 'answer' },
    scorer: 'exact',
    initial_prompt: { messages: [{ role: 'system', content: baseline }] },
    policy: { provider: 'fake', model: 'rules' },
    gepa: smallSearch(rules),
    budget: { max_rollouts: 200 },
    max_concurrent: 8,
  });
}

export async function runTemplates(world: World): Promise<Templates> {
  const { url } = world.container;
  const session = await smallSession(world);
  const evaluation = await evaluate(world, {
    containerUrl: `${url}/asked/asks/${rules}`,
    seeds: 200,
    maxConcurrent: 8,
  });
  const largeEvaluation = await evaluate(world, {
    containerUrl: `${url}/large/delay/0`,
    seeds: largestEvaluation,
    maxConcurrent: 64,
  });
  const tasks = range(40).map((n) => ({ id: `task-${n}`, input: { question: `Parcel ${n}?` } }));
  const graph = await graphJob(world, {
    dataset: {
      tasks,
      gold_outputs: tasks.map(({ id }) => ({ task_id: id, output: 'parcel' })),
      verifier_config: { mode: 'contains' },
    },
    policy_model: 'fake-1',
    policy_provider: 'fake',
    rollout_budget: 100,
    preflight: false,
    initial_graph: graphToJson(chain(2).graph),
  });
  await deploy(world);
  const { deployments } = await world.client.request('listDeployments');
  return {
    session: session.jobId,
    evaluation: evaluation.jobId,
    graph: graph.jobId,
    deployment: deployments[0]!.id,
    largeEvaluation: largeEvaluation.jobId,
  };
}
