import type { LatencyCounts } from '../../core/math/latency-sketch.js';
import type { Tx } from '../../platform/db/db.js';

/** Calls of a model. */
export interface CallTotals {
  calls: number;
  throttled: number;
  failed: number;
  throttledPeak: number;
  failedPeak: number;
  /** Calls without an answer by status or code; those that are the request's fault included. */
  errors: Record<string, number>;
  /** Of answered calls. */
  latencies: LatencyCounts;
  /** The first throttled or failed call, in milliseconds since 1970; null: none. */
  troubledMs: number | null;
}

/** A process's calls of a model in a minute. They only grow: `calls` orders two states. */
export interface CallCounter extends CallTotals {
  provider: string;
  model: string;
  /** Where the minute begins, in milliseconds since 1970. */
  startMs: number;
  counterId: string;
}

/** Writes counts. A repeated or older state changes nothing. */
export async function writeCalls(tx: Tx, orgId: string, counters: readonly CallCounter[]): Promise<void> {
  await tx.query(
    `insert into provider_calls as p (org_id, provider, model, start, counter_id, calls, throttled, failed, throttled_peak, failed_peak, errors, latencies, troubled_at)
     select $1, provider, model, to_timestamp("startMs" / 1000), "counterId", calls, throttled, failed, "throttledPeak", "failedPeak", errors, latencies,
            to_timestamp("troubledMs" / 1000)
       from jsonb_to_recordset($2::jsonb) as c(provider text, model text, "startMs" float8, "counterId" uuid, calls bigint,
              throttled bigint, failed bigint, "throttledPeak" float8, "failedPeak" float8, errors jsonb, latencies jsonb, "troubledMs" float8)
      -- In order: a statement of a broken connection may still run, and must not deadlock with this one.
      order by provider, model, "startMs", "counterId"
     on conflict (org_id, provider, model, start, counter_id) do update
       set calls = excluded.calls, throttled = excluded.throttled, failed = excluded.failed,
           throttled_peak = excluded.throttled_peak, failed_peak = excluded.failed_peak, errors = excluded.errors,
           latencies = excluded.latencies, troubled_at = excluded.troubled_at
     where excluded.calls > p.calls`,
    [orgId, JSON.stringify(counters)],
    'write_calls',
  );
}

/** A model at a provider. */
export interface CalledModel {
  provider: string;
  model: string;
}

export interface CalledMinute extends CallTotals, CalledModel {
  startMs: number;
}

/**
 * The calls of models by minute since a time, over all processes: by model, in the order of time.
 * `of`: these models alone, else the `most` that were called most.
 */
export async function readCalls(
  tx: Tx,
  since: Date,
  { of, most }: { of: readonly CalledModel[] | null; most: number },
): Promise<CalledMinute[]> {
  const rows = await tx.query<CalledMinute & Record<string, unknown>>(
    `with chosen as (
       select provider, model from provider_calls
        where org_id = current_setting('app.org') and start >= $1
          and ($2::jsonb is null or (provider, model) in (select p->>'provider', p->>'model' from jsonb_array_elements($2) p))
        group by provider, model order by sum(calls) desc, provider, model limit $3
     )
     select provider, model, (extract(epoch from start) * 1000)::float8 as "startMs", calls, throttled, failed,
            throttled_peak as "throttledPeak", failed_peak as "failedPeak", errors, latencies,
            (extract(epoch from troubled_at) * 1000)::float8 as "troubledMs"
       from provider_calls join chosen using (provider, model)
      where org_id = current_setting('app.org') and start >= $1 order by provider, model, start`,
    [since, of && JSON.stringify(of), most],
    'read_calls',
  );
  const minutes: CalledMinute[] = [];
  for (const row of rows) {
    const last = minutes.at(-1);
    if (last?.startMs === row.startMs && last.model === row.model && last.provider === row.provider)
      addCalls(last, row);
    else minutes.push(row);
  }
  return minutes;
}

export const noCalls = (): CallTotals => ({
  calls: 0,
  throttled: 0,
  failed: 0,
  throttledPeak: 0,
  failedPeak: 0,
  errors: {},
  latencies: {},
  troubledMs: null,
});

/** Adds calls to others, in place. */
function addCalls(sum: CallTotals, more: CallTotals): void {
  for (const field of ['calls', 'throttled', 'failed'] as const) sum[field] += more[field];
  for (const field of ['throttledPeak', 'failedPeak'] as const) sum[field] = Math.max(sum[field], more[field]);
  for (const field of ['errors', 'latencies'] as const)
    for (const [name, count] of Object.entries(more[field]))
      sum[field][name] = (Object.hasOwn(sum[field], name) ? sum[field][name]! : 0) + count;
  const troubled = [sum.troubledMs, more.troubledMs].filter((at) => at !== null);
  sum.troubledMs = troubled.length > 0 ? Math.min(...troubled) : null;
}
