import { ruleRow } from '../../test/support/worlds/rows.js';
import { baseline } from '../../test/support/worlds/rules.js';
import { optimize, range } from '../jobs.js';
import { mean } from '../stats.js';
import type { Row } from '../table.js';
import type { World } from '../world.js';

const maxRollouts = 400;
const rounds = 3;
/** Too many rules to learn within the budget, so that the session uses all rollouts. */
const rules = 40;
const atOnce = 8;

/** A session on a data set beside one whose container asks the same model on the same seeds. */
export async function run(world: World): Promise<Row[]> {
  const inContainer = { container_url: `${world.container.url}/asks/asks/${rules}` };
  const onRows = {
    dataset: { rows: range(rules).map((seed) => ruleRow(seed, rules)), input: 'question', expected: 'answer' },
    scorer: 'exact',
    initial_prompt: { messages: [{ role: 'system', content: baseline }] },
  };
  for (const source of [inContainer, onRows]) await session(world, source, 100);
  const container: number[] = [];
  const dataset: number[] = [];
  // In turn, so that both meet the same load.
  for (let round = 0; round < rounds; round += 1) {
    container.push(await session(world, inContainer, maxRollouts));
    dataset.push(await session(world, onRows, maxRollouts));
  }
  return [
    {
      what: `GEPA session on a data set, ${maxRollouts} rollouts, ${atOnce} at once: wall per rollout`,
      value: mean(dataset),
      unit: 'ms',
      beside: { what: 'a container that asks the same model', value: mean(container) },
      aim: { of: 'ratio', most: 1 },
      raw: { container, dataset },
    },
  ];
}

/** Milliseconds per rollout. */
async function session(world: World, source: object, budget: number): Promise<number> {
  const job = await optimize(world, {
    ...source,
    policy: { provider: 'fake', model: 'rules' },
    gepa: {
      population_size: 4,
      generations: 50,
      minibatch_size: 3,
      train_seeds: range(rules),
      evaluation: { seeds: range(rules / 2) },
    },
    budget: { max_rollouts: budget },
    max_concurrent: atOnce,
  });
  const { progress } = await world.client.sessions.handle(job.jobId).get();
  return (job.endedAt - job.sentAt) / progress.rollouts_completed;
}
