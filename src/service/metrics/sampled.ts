import { Gauge, type Registry } from 'prom-client';
import { shareSample } from './sample.js';

/** Values that a process reads where it is asked for its metrics. */
export interface Samples {
  /** `progressAge`: seconds since the oldest last event of those that run. */
  openJobs: { kind: string; status: string; count: number; progressAge: number | null }[];
  stuckJobs: { cause: string; count: number }[];
  /** Workers that have reported in the last seconds. */
  liveWorkers: number;
  taskQueues: { type: string; backlog: number; ageSeconds: number }[];
}

/** Adds gauges that are read at each scrape. All processes read the same, so none is summed. */
export function addSampledGauges(registry: Registry, read: () => Promise<Samples>): void {
  const gauge = (name: string, help: string, labelNames: string[]) =>
    new Gauge({
      name: `ratchet_${name}`,
      help,
      labelNames,
      registers: [registry],
      aggregator: 'max' as const,
      collect: () => refresh(),
    });
  const jobs = gauge('open_jobs', 'Jobs that have not ended.', ['kind', 'status']);
  const progress = gauge('progress_age_seconds', 'Longest time since an event of a running job.', ['kind']);
  const stuck = gauge('stuck_jobs', 'Open jobs whose workflow task fails again and again.', ['cause']);
  const workers = gauge('live_workers', 'Workers that have reported in the last 10 seconds.', []);
  const backlog = gauge('task_queue_backlog', 'Tasks in Temporal that wait for a worker.', ['type']);
  const age = gauge('task_queue_age_seconds', 'Age of the oldest task that waits for a worker.', ['type']);
  const up = gauge('sample_up', '1: the open jobs and task queues could be read; 0: they are absent.', []);
  const refresh = shareSample(async () => {
    const sample = await read().catch(() => null);
    for (const gauge of [jobs, progress, stuck, backlog, age]) gauge.reset();
    if (sample) workers.set(sample.liveWorkers);
    else workers.remove();
    up.set(sample ? 1 : 0);
    for (const { kind, status, count, progressAge } of sample?.openJobs ?? []) {
      jobs.set({ kind, status }, count);
      if (progressAge !== null) progress.set({ kind }, progressAge);
    }
    for (const { cause, count } of sample?.stuckJobs ?? []) stuck.set({ cause }, count);
    for (const queue of sample?.taskQueues ?? []) {
      backlog.set({ type: queue.type }, queue.backlog);
      age.set({ type: queue.type }, queue.ageSeconds);
    }
  });
}
