import type { z } from 'zod';
import { healthOf, healthStates, type Health } from '../../core/health/state.js';
import type { Tx } from '../../platform/db/db.js';
import { groupBy } from '../../util/group.js';
import type { healthSchema } from '../contract/health.js';
import { readCalls, type CalledMinute, type CalledModel } from '../store/provider-calls.js';
import { hourBefore, mainError, windowsOf } from './windows.js';

type View = z.output<typeof healthSchema>;
type Provider = View['providers'][number];
type Affected = Pick<View, 'jobs' | 'deployments'>;

const mostModels = 50;
const dayMs = 86_400_000;

const keyOf = ({ provider, model }: CalledModel) => JSON.stringify([provider, model]);

/** The models that were called in the last hour, the worst first. */
export async function providersHealth(tx: Tx, affected: Affected, nowMs: number): Promise<Provider[]> {
  const since = new Date(hourBefore(nowMs));
  const byModel = grouped(await readCalls(tx, since, { of: null, most: mostModels }));
  const states = new Map([...byModel].map(([key, minutes]) => [key, healthOf(minutes, nowMs)]));
  // A trouble may be older than the hour that is shown.
  const troubled = [...byModel.values()].flatMap(([first]) =>
    first && states.get(keyOf(first))!.state !== 'ok' ? [first] : [],
  );
  if (troubled.length > 0) {
    const of = troubled.map(({ provider, model }) => ({ provider, model }));
    const ofDay = await readCalls(tx, new Date(nowMs - dayMs), { of, most: mostModels });
    for (const [key, minutes] of grouped(ofDay)) states.set(key, healthOf(minutes, nowMs));
  }
  const views = [...byModel].map(([key, minutes]) => view(minutes, states.get(key)!, affected, nowMs));
  return views.sort((a, b) => healthStates.indexOf(b.state) - healthStates.indexOf(a.state));
}

function grouped(minutes: readonly CalledMinute[]): Map<string, CalledMinute[]> {
  return groupBy(minutes, keyOf);
}

function view(
  minutes: readonly CalledMinute[],
  health: Health,
  { jobs, deployments }: Affected,
  nowMs: number,
): Provider {
  const { provider, model } = minutes[0]!;
  const { state, sinceMs } = health;
  const names = (named: readonly CalledModel[]) =>
    named.some((each) => each.provider === provider && each.model === model);
  return {
    provider,
    model,
    state,
    since: sinceMs === null ? null : new Date(sinceMs).toISOString(),
    because: state === 'ok' || state === 'slow' ? null : mainError(minutes, nowMs),
    ...windowsOf(minutes, nowMs),
    job_ids: jobs.filter(({ models }) => names(models)).map(({ job_id: id }) => id),
    deployments: deployments.filter(({ models }) => names(models)).map(({ name }) => name),
  };
}
