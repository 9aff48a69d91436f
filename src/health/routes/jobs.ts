import type { z } from 'zod';
import { firstEnd, isStalled, paceOf } from '../../core/health/pace.js';
import { stallCause } from '../../core/health/stall.js';
import { readCosts } from '../../jobs/store/usage.js';
import { commandView, isoOrNull, keyView, stuckView } from '../../jobs/routes/view.js';
import { namedModels } from '../../models/routes/retirements/named-models.js';
import type { Tx } from '../../platform/db/db.js';
import type { healthSchema } from '../contract/health.js';
import { countInFlight, listOpenRuns, type OpenRun } from '../store/open-runs.js';

type View = z.output<typeof healthSchema>;
type Job = View['jobs'][number];

/** What a stalled job may wait for. */
export interface Surroundings {
  providers: View['providers'];
  hasWorker: boolean;
}

const most = 200;

/** The open jobs with rollouts; `withCauses`: told why some of them stand still. */
export async function jobsHealth(
  tx: Tx,
  nowMs: number,
): Promise<{ jobs: Job[]; withCauses(around: Surroundings): Job[] }> {
  const runs = await listOpenRuns(tx, most);
  const costs = await readCosts(
    tx,
    runs.map(({ id }) => id),
  );
  const jobs = runs.map((run) => view(run, costs.get(run.id) ?? null, nowMs));
  const stalled = jobs.filter((job) => job.stalled).map(({ job_id: id }) => id);
  const inFlight = await countInFlight(tx, stalled);
  const withCauses = (around: Surroundings) =>
    jobs.map((job, index) =>
      job.stalled
        ? { ...job, stalled_because: causeOf(job, runs[index]!, inFlight.get(job.job_id) ?? 0, around) }
        : job,
    );
  return { jobs, withCauses };
}

function view(run: OpenRun, costUsd: number | null, nowMs: number): Job {
  const { completed, maxRollouts, maxConcurrent, inMinute, before, lastAt, status } = run;
  const [lastMs, startedMs, sinceMs] = [lastAt && +lastAt, +run.startedAt, +run.runsSince];
  const isRunning = status === 'running';
  const perMinute = isRunning ? paceOf({ completed, lastMs, inMinute, before }, { startedMs, sinceMs, nowMs }) : 0;
  const perHour = perMinute === null ? null : perMinute * 60;
  const usdPerHour = costUsd === null || completed === 0 || perHour === null ? null : (costUsd / completed) * perHour;
  const maxUsd = maxCostOf(run);
  const end = firstEnd(
    [
      { by: 'rollouts', left: maxRollouts === null ? null : maxRollouts - completed, perHour },
      { by: 'dollars', left: maxUsd === null ? null : maxUsd - (costUsd ?? 0), perHour: usdPerHour },
    ],
    nowMs,
  );
  const limit = Math.min(run.limit ?? maxConcurrent, maxConcurrent);
  return {
    job_id: run.id,
    kind: run.kind,
    name: run.name,
    tags: run.tags,
    status,
    last_command: commandView(run.lastCommand),
    created_by: keyView(run.createdBy),
    models: modelsOf(run),
    concurrency: { limit, max_concurrent: maxConcurrent, lowered_because: run.reason },
    rollouts_completed: completed,
    max_rollouts: maxRollouts,
    rollouts_per_minute: perMinute,
    last_result_at: isoOrNull(lastAt),
    ends_at: end && new Date(end.atMs).toISOString(),
    ends_by: end && end.by,
    usd_per_hour: usdPerHour,
    total_cost_usd: costUsd,
    stalled: isRunning && !run.isLive && isStalled(lastMs, sinceMs, nowMs),
    stalled_because: null,
    stuck: stuckView(run.stuck),
  };
}

function modelsOf({ spec }: OpenRun): Job['models'] {
  const named = namedModels(spec).map(({ provider, model }) => [`${provider}/${model}`, { provider, model }] as const);
  return [...new Map(named).values()];
}

/** null: no limit. */
const maxCostOf = ({ spec }: OpenRun): number | null => ('budget' in spec ? (spec.budget?.maxCostUsd ?? null) : null);

function causeOf(job: Job, run: OpenRun, inFlight: number, { providers, hasWorker }: Surroundings): string {
  const trouble = providers.find(({ state, job_ids: ids }) => state !== 'ok' && ids.includes(job.job_id));
  const container = 'container' in run.spec ? run.spec.container : null;
  const [model] = job.models;
  return stallCause({
    stuck: job.stuck && job.stuck.message,
    hasWorker,
    trouble:
      trouble === undefined
        ? null
        : `${trouble.provider}/${trouble.model} is ${trouble.state}${trouble.because ? ` (${trouble.because})` : ''}`,
    loweredBecause: job.concurrency.lowered_because,
    isPrepared: run.isPrepared,
    isDriven: run.isDriven,
    inFlight,
    answerer: container ? `the container ${container.url}` : model ? `${model.provider}/${model.model}` : 'its model',
  });
}
