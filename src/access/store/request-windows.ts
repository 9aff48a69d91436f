import type { Tx } from '../../platform/db/db.js';
import type { Portion, PortionOf } from './limits.js';

/**
 * Takes a share of the current minute's requests for this process: an eighth of the rest, and at
 * least one for each that waits. The minutes are those of Postgres.
 */
export async function takeRequests(
  tx: Tx,
  { orgId, subject, limit, waiting }: Omit<PortionOf, 'used'>,
): Promise<Portion> {
  const share = (left: string) => `greatest(0, least(${left}, greatest((${left} + 7) / 8, $4)))`;
  const [row] = await tx.query<Portion & Record<string, unknown>>(
    `insert into request_windows as w (org_id, subject, starts_at, taken)
     values ($1, $2, date_trunc('minute', clock_timestamp()), ${share('$3::int')})
     on conflict (org_id, subject) do update
       set starts_at = greatest(w.starts_at, excluded.starts_at),
           -- A statement that waited for the row may name the minute before.
           taken = case when w.starts_at >= excluded.starts_at then w.taken + ${share('($3::int - w.taken)')}
                        else excluded.taken end
     returning w.taken - case when old.starts_at = w.starts_at then old.taken else 0 end as granted,
               greatest(0, $3::int - w.taken) as left,
               extract(epoch from w.starts_at + interval '1 minute' - clock_timestamp())::float8 as "secondsLeft"`,
    [orgId, subject, limit, waiting],
    'take_requests',
  );
  return row!;
}
