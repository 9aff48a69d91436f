import { evaluate } from '../jobs.js';
import { mean } from '../stats.js';
import type { Row } from '../table.js';
import { plainClient } from '../plain.js';
import { difference, type ContainerCount, type World } from '../world.js';

const atOnce = 64;
const seeds = 5_000;

/** Many seeds with a no-op container: the service's own cost. */
export async function run(world: World): Promise<Row[]> {
  const { container } = world;
  await evaluate(world, { containerUrl: `${container.url}/warm/delay/0`, seeds: 1_250, maxConcurrent: atOnce });
  const few = await measure(world, 1_250);
  const before = await plainClient(`${container.url}/plain/delay/0`, seeds, atOnce);
  const main = await measure(world, seeds);
  const after = await plainClient(`${container.url}/plain/delay/0`, seeds, atOnce);
  const many = await measure(world, 10_000);
  const what = `evaluation, ${seeds} seeds, no-op container, ${atOnce} at once`;
  return [
    {
      what: `${what}: rollouts`,
      value: main.perSecond,
      unit: '/s',
      beside: { what: 'plain client, nothing kept', value: (seeds * 1_000) / mean([before, after]) },
      aim: { of: 'value', least: 1_000 },
      used: { unit: 'rollout', n: seeds, spent: main.spent },
      raw: main,
    },
    { what: `${what}: history`, value: main.historyEvents, unit: 'events', aim: { of: 'value', most: 500 } },
    {
      what: `${what}: in flight, as the container counts`,
      value: main.count.maxConcurrent,
      unit: 'rollouts',
      beside: { what: 'max_concurrent', value: atOnce },
      aim: { of: 'ratio', most: 1 },
    },
    {
      what: `evaluation, 10,000 seeds: peak memory of API and worker`,
      value: many.peakMiB,
      unit: 'MiB',
      beside: { what: '1,250 seeds', value: few.peakMiB },
      aim: { of: 'ratio', most: 1.25 },
      used: { unit: 'rollout', n: many.seeds, spent: many.spent },
      raw: { few, many },
    },
  ];
}

async function measure(world: World, count: number) {
  const name = `eval-${count}`;
  world.resetMemoryPeak();
  const beforeMiB = world.memory().now;
  const before = await world.spent();
  const job = await evaluate(world, {
    containerUrl: `${world.container.url}/${name}/delay/0`,
    seeds: count,
    maxConcurrent: atOnce,
  });
  const spent = difference(before, await world.spent());
  const { peak } = world.memory();
  const history = await world.temporal.workflow.getHandle(job.workflowId).describe();
  const wallMs = job.endedAt - job.sentAt;
  return {
    seeds: count,
    wallMs,
    perSecond: (count * 1_000) / wallMs,
    historyEvents: history.historyLength,
    beforeMiB,
    peakMiB: peak,
    count: await world.container.ask<ContainerCount>('count', name),
    spent,
  };
}
