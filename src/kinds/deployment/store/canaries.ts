/** New versions that names move to step by step. Each change holds the lock of the name. */
import type { Counts, CanaryState } from '../../../core/deployments/canary/canary.js';
import { noCounts, type MetricSum, type VersionCounts } from '../../../core/deployments/canary/counts.js';
import type { CanaryEvidence } from '../../../contracts/canary-evidence.js';
import type { Tx } from '../../../platform/db/db.js';
import { toJsonb } from '../../../platform/db/json.js';
import type { CanaryStatus } from '../contract/canary.js';
import { readPeriods } from './counters.js';
import { readMetrics } from './feedback.js';

export interface Canary extends Record<string, unknown> {
  /** The new version. */
  deploymentId: string;
  name: string;
  /** null: the version is deleted. */
  liveId: string | null;
  metric: string;
  percent: number;
  isShadow: boolean;
  status: CanaryStatus;
  state: CanaryState;
  reason: string | null;
  /** Of its last step; null: it is open, or was ended from outside. */
  evidence: CanaryEvidence | null;
  startedAt: Date;
  endedAt: Date | null;
}

/** Where requests go in a step. */
export type Share = Pick<Canary, 'percent' | 'isShadow'>;

const columns = `deployment_id as "deploymentId", name, live_id as "liveId", metric, percent, is_shadow as "isShadow", status,
  state, reason, evidence, started_at as "startedAt", ended_at as "endedAt"`;

/** Begins a canary; returns false if another one of the name is open. */
export async function insertCanary(
  tx: Tx,
  orgId: string,
  canary: Share & { deploymentId: string; name: string; liveId: string; metric: string; stickyBy: string | null },
  state: CanaryState,
): Promise<boolean> {
  const { deploymentId, name, liveId, metric, percent, isShadow, stickyBy } = canary;
  const rows = await tx.query(
    `insert into deployment_canaries (deployment_id, org_id, name, live_id, metric, percent, is_shadow, sticky_by, status, state)
     values ($1, $2, $3, $4, $5, $6, $7, $8, 'running', $9)
     on conflict (org_id, name) where ended_at is null do nothing returning deployment_id`,
    [deploymentId, orgId, name, liveId, metric, percent, isShadow, stickyBy, toJsonb(state)],
  );
  return rows.length > 0;
}

export async function readCanary(tx: Tx, deploymentId: string): Promise<Canary | null> {
  const [row] = await tx.query<Canary>(
    `select ${columns} from deployment_canaries where deployment_id = $1`,
    [deploymentId],
    'read_canary',
  );
  return row ?? null;
}

/** The newest canary of a name; null: it never had one. */
export async function readNewestCanary(tx: Tx, name: string): Promise<Canary | null> {
  const [row] = await tx.query<Canary>(
    `select ${columns} from deployment_canaries
      where org_id = current_setting('app.org') and name = $1 order by started_at desc limit 1`,
    [name],
  );
  return row ?? null;
}

/** The deployment that a name moves to; null: none. */
export async function readCanaryOf(tx: Tx, name: string): Promise<string | null> {
  const [row] = await tx.query<{ id: string }>(
    `select deployment_id as id from deployment_canaries
      where org_id = current_setting('app.org') and name = $1 and ended_at is null`,
    [name],
  );
  return row?.id ?? null;
}

/** Pauses or resumes a canary; the time of its step stands meanwhile. null: it is not open. */
export async function setPaused(tx: Tx, deploymentId: string, isPaused: boolean): Promise<Canary | null> {
  const [row] = await tx.query<Canary>(
    `update deployment_canaries set status = $2, state = state || jsonb_build_object('atMs', $3::float8)
      where deployment_id = $1 and ended_at is null returning ${columns}`,
    [deploymentId, isPaused ? 'paused' : 'running', Date.now()],
  );
  return row ?? null;
}

/** Stores what a look has found. */
export async function updateCanary(
  tx: Tx,
  deploymentId: string,
  { state, status, share }: { state?: CanaryState; status?: CanaryStatus; share?: Share },
): Promise<void> {
  await tx.query(
    `update deployment_canaries set state = coalesce($2, state), status = coalesce($3, status),
            percent = coalesce($4, percent), is_shadow = coalesce($5, is_shadow)
      where deployment_id = $1 and ended_at is null`,
    [deploymentId, state ? toJsonb(state) : null, status ?? null, share?.percent ?? null, share?.isShadow ?? null],
    'update_canary',
  );
}

export interface CanaryEnd {
  status: 'promoted' | 'rolled_back';
  reason: string;
  evidence: CanaryEvidence | null;
}

/** Ends an open canary: its name serves one version again. null: none is open. */
export async function endCanary(
  tx: Tx,
  deploymentId: string,
  { status, reason, evidence }: CanaryEnd,
): Promise<Canary | null> {
  const [ended] = await tx.query<Canary>(
    `update deployment_canaries set status = $2, reason = $3, evidence = $4, ended_at = clock_timestamp()
      where deployment_id = $1 and ended_at is null returning ${columns}`,
    [deploymentId, status, reason, evidence ? toJsonb(evidence) : null],
  );
  // Its state has what they showed.
  if (ended) await tx.query('delete from canary_values where deployment_id = $1', [deploymentId]);
  return ended ?? null;
}

/** What both versions have counted; in a shadow the new one's are those of the shadow. */
export async function readCounts(
  tx: Tx,
  { liveId, deploymentId }: { liveId: string; deploymentId: string },
  isShadow: boolean,
): Promise<Counts> {
  const always = { from: new Date(0), to: new Date(1) };
  const { sums } = await readPeriods(tx, [liveId, deploymentId], 'all', always);
  const shadows = isShadow ? (await readPeriods(tx, [deploymentId], 'shadow', always)).sums : null;
  const metrics = await readMetrics(tx, [liveId, deploymentId], 'all', always);
  const of = (id: string, all: typeof sums): VersionCounts => {
    const found = all.find((sum) => sum.deploymentId === id);
    const own = metrics.filter((metric) => metric.deploymentId === id);
    const values = Object.fromEntries(
      own.map(({ metric, sample }): [string, MetricSum] => {
        const { count, mean, variance } = sample;
        return [metric, { count, mean, distances: variance * Math.max(0, count - 1) }];
      }),
    );
    if (!found) return { ...noCounts, metrics: values };
    const { requests, errors, latencies, costUsd, costSquares, withoutCost } = found;
    return { requests, errors, latencies, priced: requests - withoutCost, costUsd, costSquares, metrics: values };
  };
  return { live: of(liveId, sums), canary: of(deploymentId, shadows ?? sums) };
}
