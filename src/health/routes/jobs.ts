import type { z } from 'zod';
import { isStalled, paceOf } from '../../core/health/pace.js';
import { readCosts } from '../../jobs/store/usage.js';
import { isoOrNull, keyView, stuckView } from '../../jobs/routes/view.js';
import { namedModels } from '../../models/routes/retirements/named-models.js';
import type { Tx } from '../../platform/db/db.js';
import type { healthSchema } from '../contract/health.js';
import { listOpenRuns, type OpenRun } from '../store/open-runs.js';

type View = z.output<typeof healthSchema>;
type Job = View['jobs'][number];

const most = 200;

/** The open jobs with rollouts; `withCauses`: told why some of them stand still. */
export async function jobsHealth(
  tx: Tx,
  nowMs: number,
): Promise<{ jobs: Job[]; withCauses(providers: View['providers']): Job[] }> {
  const runs = await listOpenRuns(tx, most);
  const costs = await readCosts(
    tx,
    runs.map(({ id }) => id),
  );
  const jobs = runs.map((run) => view(run, costs.get(run.id) ?? null, nowMs));
  const withCauses = (providers: View['providers']) =>
    jobs.map((job) => ({ ...job, stalled_because: job.stalled ? causeOf(job, providers) : null }));
  return { jobs, withCauses };
}

function view(run: OpenRun, costUsd: number | null, nowMs: number): Job {
  const { completed, maxRollouts, maxConcurrent, inMinute, before, lastAt, status } = run;
  const [lastMs, startedMs] = [lastAt && +lastAt, +run.startedAt];
  const remaining = maxRollouts === null ? null : maxRollouts - completed;
  const { rolloutsPerMinute, endsMs } = paceOf({ lastMs, inMinute, before }, { startedMs, nowMs, remaining });
  const isRunning = status === 'running';
  const limit = Math.min(run.limit ?? maxConcurrent, maxConcurrent);
  return {
    job_id: run.id,
    kind: run.kind,
    name: run.name,
    status,
    created_by: keyView(run.createdBy),
    models: [
      ...new Map(
        namedModels(run.spec).map(({ provider, model }) => [`${provider}/${model}`, { provider, model }]),
      ).values(),
    ],
    concurrency: { limit, max_concurrent: maxConcurrent, lowered_because: run.reason },
    rollouts_completed: completed,
    max_rollouts: maxRollouts,
    rollouts_per_minute: isRunning ? rolloutsPerMinute : 0,
    last_result_at: isoOrNull(lastAt),
    ends_at: isRunning && endsMs !== null ? new Date(endsMs).toISOString() : null,
    usd_per_hour:
      costUsd === null || completed === 0 ? null : isRunning ? (costUsd / completed) * rolloutsPerMinute * 60 : 0,
    total_cost_usd: costUsd,
    stalled: isRunning && !run.isLive && isStalled(lastMs, startedMs, nowMs),
    stalled_because: null,
    stuck: stuckView(run.stuck),
  };
}

function causeOf(job: Job, providers: View['providers']): string | null {
  if (job.stuck) return `its workflow task fails: ${job.stuck.message}`;
  const trouble = providers.find(({ state, job_ids: ids }) => state !== 'ok' && ids.includes(job.job_id));
  if (trouble)
    return `${trouble.provider}/${trouble.model} is ${trouble.state}${trouble.because ? ` (${trouble.because})` : ''}`;
  return job.concurrency.lowered_because;
}
