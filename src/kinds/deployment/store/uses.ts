/** Tokens and dollars that count for limits of a deployment's name, of its keys and of its tags. */
import { today } from '../../../jobs/store/usage.js';
import type { Tx } from '../../../platform/db/db.js';

/** What a process has counted of a subject since it knows it. It only grows. */
export interface UseCounter {
  subject: string;
  counterId: string;
  tokens: number;
  usd: number;
}

/** What all processes have counted of a subject. */
export interface Uses {
  subject: string;
  /** In the current minute. */
  tokens: number;
  /** On the current UTC day. */
  usd: number;
  /** Until the minute ends, and the day. */
  minuteSecondsLeft: number;
  daySecondsLeft: number;
}

/**
 * Counts what has been added since the last write in the minute and the day of Postgres. A repeated
 * or older state changes nothing; a clock that goes back stays in the latest minute.
 */
export async function writeUses(tx: Tx, orgId: string, counters: readonly UseCounter[]): Promise<void> {
  const inPeriod = (period: string, counted: string, total: string) =>
    `case when u.${period} >= excluded.${period} then u.${counted} else 0 end + greatest(0, excluded.${total} - u.${total})`;
  await tx.query(
    `insert into deployment_uses as u (org_id, subject, counter_id, tokens, usd, minute, minute_tokens, day, day_usd)
     select $1, subject, "counterId", tokens, usd, date_trunc('minute', clock_timestamp()), tokens, ${today}, usd
       from jsonb_to_recordset($2::jsonb) as c(subject text, "counterId" uuid, tokens bigint, usd float8)
      order by subject, "counterId"
     on conflict (org_id, subject, counter_id) do update
       set minute_tokens = ${inPeriod('minute', 'minute_tokens', 'tokens')}, minute = greatest(u.minute, excluded.minute),
           day_usd = ${inPeriod('day', 'day_usd', 'usd')}, day = greatest(u.day, excluded.day),
           tokens = greatest(u.tokens, excluded.tokens), usd = greatest(u.usd, excluded.usd)
     where excluded.tokens > u.tokens or excluded.usd > u.usd`,
    [orgId, JSON.stringify(counters)],
    'write_deployment_uses',
  );
}

/** What has been counted of each subject. */
export async function readUses(tx: Tx, orgId: string, subjects: readonly string[]): Promise<Uses[]> {
  return tx.query<Uses & Record<string, unknown>>(
    `select asked.subject,
            coalesce(sum(minute_tokens) filter (where minute >= this_minute), 0)::float8 as tokens,
            coalesce(sum(day_usd) filter (where day >= ${today}), 0)::float8 as usd,
            extract(epoch from greatest(max(minute), this_minute) + interval '1 minute' - clock_timestamp())::float8
              as "minuteSecondsLeft",
            extract(epoch from greatest(max(day), ${today}) + 1 - (now() at time zone 'utc'))::float8 as "daySecondsLeft"
       from date_trunc('minute', clock_timestamp()) as this_minute cross join unnest($2::text[]) as asked(subject)
            left join deployment_uses u on u.org_id = $1 and u.subject = asked.subject
      group by asked.subject, this_minute`,
    [orgId, subjects],
    'read_deployment_uses',
  );
}
