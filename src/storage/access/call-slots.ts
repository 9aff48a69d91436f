import type { Statement } from '../db/batch.js';

/** A process's part of the calls that a key or an organization may have in flight. */
export interface SlotRequest {
  orgId: string;
  subject: string;
  limit: number;
  /** The process. */
  holder: string;
  /** Calls that it has in flight. */
  used: number;
  /** Calls that wait for a slot; 0: it returns the slots that it does not use. */
  waiting: number;
}

export interface HeldSlots {
  slots: number;
  /** What no process holds. */
  free: number;
}

/** A process that does not renew its slots, because it was killed, loses them after this long. */
export const slotSeconds = 15;

/**
 * Statements of one transaction, the last of which returns the `HeldSlots`: as many as are used,
 * and for waiting calls an eighth of the rest, at least one for each of them.
 */
export function holdSlots({ orgId, subject, limit, holder, used, waiting }: SlotRequest): Statement[] {
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
             returning slots, greatest(0, $4::int - slots - (select held from others)) as free`,
      values: [orgId, subject, holder, limit, used, waiting, slotSeconds],
      name: 'hold_slots',
    },
  ];
}
