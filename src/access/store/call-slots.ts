import type { Statement } from '../../platform/db/batch.js';
import type { PortionOf } from './limits.js';

/** A process that does not renew its slots, because it was killed, loses them after this long. */
const slotSeconds = 15;

/**
 * Statements of one transaction, the last of which returns the portion of the process `holder` of
 * the calls in flight: the used ones, and for waiting calls an eighth of the rest, at least one for
 * each of them.
 */
export function holdSlots({ orgId, subject, limit, used, waiting }: PortionOf, holder: string): Statement[] {
  return [
    // Processes take turns, so that each counts the slots of those before.
    {
      text: `select pg_advisory_xact_lock(hashtextextended('calls ' || $1, 0))`,
      values: [subject],
      name: 'slots_turn',
    },
    {
      text: `with others as (
               select coalesce(sum(slots), 0)::int as held from call_slots
                where org_id = $1 and subject = $2 and holder <> $3 and expires_at > clock_timestamp()
             ), expired as (
               delete from call_slots
                where org_id = $1 and subject = $2 and holder <> $3 and expires_at <= clock_timestamp()
             )
             insert into call_slots as s (org_id, subject, holder, slots, expires_at)
             select $1, $2, $3,
                    greatest($5::int, least($4 - held, $5 + case when $6::int = 0 then 0
                                                                 else greatest($6, ($4 - held - $5 + 7) / 8) end)),
                    clock_timestamp() + make_interval(secs => $7)
               from others
             on conflict (org_id, subject, holder) do update
               set slots = excluded.slots, expires_at = excluded.expires_at
             returning slots as granted, greatest(0, $4::int - slots - (select held from others)) as left,
                       $7::int as "secondsLeft"`,
      values: [orgId, subject, holder, limit, used, waiting, slotSeconds],
      name: 'hold_slots',
    },
  ];
}
