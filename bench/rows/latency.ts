import { evaluate, type JobRun } from '../jobs.js';
import { plainClient } from '../plain.js';
import { median } from '../stats.js';
import type { Row } from '../table.js';
import { difference, type ContainerCount, type World } from '../world.js';

const seeds = 1_000;
const atOnce = 50;
const containerMs = 50;
const idealMs = (seeds / atOnce) * containerMs;
const runs = 3;

/** A slow container: the added time over the ideal. */
export async function run(world: World): Promise<Row[]> {
  const { url } = world.container;
  await evaluate(world, { containerUrl: `${url}/warm/delay/0`, seeds, maxConcurrent: atOnce });
  const plain: number[] = [];
  const ours: Awaited<ReturnType<typeof measure>>[] = [];
  for (let n = 0; n < runs; n += 1) {
    plain.push(await plainClient(`${url}/plain/delay/${containerMs}`, seeds, atOnce));
    ours.push(await measure(world, n));
  }
  const value = median(ours.map(({ wallMs }) => wallMs)) / 1_000;
  const what = `evaluation, ${seeds} seeds of ${containerMs} ms, ${atOnce} at once: wall`;
  return [
    {
      what,
      value,
      unit: 's',
      beside: { what: 'ideal', value: idealMs / 1_000 },
      aim: { of: 'ratio', most: 1.2 },
      used: { unit: 'rollout', n: seeds, spent: ours[0]!.spent },
      raw: ours,
    },
    { what, value, unit: 's', beside: { what: 'plain client, nothing kept', value: median(plain) / 1_000 } },
  ];
}

async function measure(world: World, n: number) {
  const name = `latency-${n}`;
  const before = await world.spent();
  const job = await evaluate(world, {
    containerUrl: `${world.container.url}/${name}/delay/${containerMs}`,
    seeds,
    maxConcurrent: atOnce,
  });
  const spent = difference(before, await world.spent());
  const count = await world.container.ask<ContainerCount>('count', name);
  return { wallMs: job.endedAt - job.sentAt, timeline: await timeline(world, job, count), spent };
}

/** Times of events, in milliseconds from the create request. */
async function timeline(world: World, job: JobRun, count: ContainerCount): Promise<Record<string, number>> {
  const times: Record<string, number> = {
    'create answered': job.createdAt - job.sentAt,
    'first rollout at the container': count.firstIn - job.sentAt,
    'last rollout answered': count.lastOut - job.sentAt,
    'terminal event at the client': job.endedAt - job.sentAt,
  };
  // Temporal uses the wall clock.
  const epochOfSent = Date.now() - (Number(process.hrtime.bigint()) / 1e6 - job.sentAt);
  const { events } = await world.temporal.workflow.getHandle(job.workflowId).fetchHistory();
  const names = new Map<string, string>();
  for (const event of events ?? []) {
    const { eventTime, eventId } = event;
    const at = Number(eventTime?.seconds ?? 0) * 1_000 + (eventTime?.nanos ?? 0) / 1e6 - epochOfSent;
    const scheduled = event.activityTaskScheduledEventAttributes;
    if (scheduled) names.set(String(eventId), scheduled.activityType?.name ?? '');
    const started = event.activityTaskStartedEventAttributes;
    const completed = event.activityTaskCompletedEventAttributes;
    if (event.workflowExecutionStartedEventAttributes) times['workflow started'] = at;
    if (scheduled) times[`${scheduled.activityType?.name} scheduled`] = at;
    if (started) times[`${names.get(String(started.scheduledEventId))} started`] = at;
    if (completed) times[`${names.get(String(completed.scheduledEventId))} completed`] = at;
    if (event.workflowExecutionCompletedEventAttributes) times['workflow closed'] = at;
  }
  return Object.fromEntries(Object.entries(times).sort(([, a], [, b]) => a - b));
}
