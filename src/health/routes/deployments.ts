import type { z } from 'zod';
import { healthOf, healthStates } from '../../core/health/state.js';
import { listLiveModels, type NamingDeployment } from '../../kinds/deployment/store/named-models.js';
import { readPeriods, type PeriodTotals } from '../../kinds/deployment/store/counters.js';
import type { Tx } from '../../platform/db/db.js';
import { groupBy } from '../../util/group.js';
import type { healthSchema } from '../contract/health.js';
import { hourBefore, mainError, windowsOf, type CountedMinute } from './windows.js';

type View = z.output<typeof healthSchema>['deployments'][number];

const most = 50;

/** What serves a name, the worst first. */
export async function deploymentsHealth(tx: Tx, nowMs: number): Promise<View[]> {
  const live = await listLiveModels(tx, most);
  const ids = live.map(({ id }) => id);
  const byId = groupBy(await readMinutes(tx, ids, nowMs), ({ deploymentId }) => deploymentId);
  const views = live.map((deployment) => view(deployment, byId.get(deployment.id) ?? [], nowMs));
  return views.sort((a, b) => healthStates.indexOf(b.state) - healthStates.indexOf(a.state));
}

/** All periods: a page of them may leave some out. */
async function readMinutes(tx: Tx, ids: readonly string[], nowMs: number): Promise<PeriodTotals[]> {
  const all: PeriodTotals[] = [];
  let from: Date | null = new Date(hourBefore(nowMs));
  while (from !== null && ids.length > 0) {
    const { sums, next } = await readPeriods(tx, ids, 'minute', { from, to: new Date(nowMs + 60_000) });
    all.push(...sums);
    from = next;
  }
  return all;
}

function view(deployment: NamingDeployment, periods: readonly PeriodTotals[], nowMs: number): View {
  const { id, name, version, previousId, models, fallbacks, judges } = deployment;
  const minutes = periods.map(minuteOf);
  const { state, sinceMs } = healthOf(minutes, nowMs);
  const named = [...models, ...fallbacks, ...judges].map(({ provider, model }) => ({ provider, model }));
  return {
    deployment_id: id,
    name,
    version,
    previous_id: previousId,
    models: [...new Map(named.map((each) => [JSON.stringify(each), each])).values()],
    state,
    since: sinceMs === null ? null : new Date(sinceMs).toISOString(),
    because: state === 'failing' ? mainError(minutes, nowMs) : null,
    ...windowsOf(minutes, nowMs),
  };
}

/** A request of whichever error failed for its caller. */
function minuteOf({ start, requests, aborted, errors, errorCodes, latencies }: PeriodTotals): CountedMinute {
  const counts = {
    calls: requests - aborted,
    throttled: 0,
    failed: errors,
    throttledPeak: 0,
    failedPeak: 0,
    errors: errorCodes,
    latencies,
  };
  return { startMs: +start, ...counts, troubledMs: errors > 0 ? +start : null };
}
