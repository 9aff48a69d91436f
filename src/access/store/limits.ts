import type { Tx } from '../../platform/db/db.js';

/** What an organization or a key may use; null: without limit. */
export interface Limits {
  requestsPerMinute: number | null;
  callsInFlight: number | null;
  openJobs: number | null;
  /** Of an organization; a key has none. */
  storedBytes: number | null;
  spendUsdPerDay: number | null;
}

/** The limits of an organization or a key; `subject` is its id. */
export interface SubjectLimits extends Limits {
  subject: string;
}

/** A process's portion of a limit that processes share: what it has, needs, and asks for. */
export interface PortionOf {
  orgId: string;
  subject: string;
  limit: number;
  used: number;
  /** Uses that wait for more; 0: it returns what is not used. */
  waiting: number;
}

export interface Portion {
  granted: number;
  /** What no process has. */
  left: number;
  secondsLeft: number;
}

const columns: Record<keyof Limits, string> = {
  requestsPerMinute: 'requests_per_minute',
  callsInFlight: 'calls_in_flight',
  openJobs: 'open_jobs',
  storedBytes: 'stored_bytes',
  spendUsdPerDay: 'spend_usd_per_day',
};
const names = Object.keys(columns) as (keyof Limits)[];
const columnList = Object.values(columns).join(', ');

export const noLimits = Object.fromEntries(names.map((name) => [name, null])) as unknown as Limits;

/** SQL of the limits of a key, then those of its organization: a list without the unlimited. */
export function limitsOf(keyId: string, orgId: string): string {
  const fields = names.map((name) => `'${name}', ${columns[name]}`).join(', ');
  return `(select coalesce(json_agg(json_build_object('subject', subject, ${fields}) order by subject = limits.org_id), '[]')
             from limits where limits.org_id = ${orgId} and subject in (${keyId}, ${orgId}))`;
}

/** The limits of an organization or a key. */
export async function readLimits(tx: Tx, subject: string): Promise<Limits> {
  const fields = names.map((name) => `${columns[name]} as "${name}"`).join(', ');
  const [row] = await tx.query<Limits & Record<string, unknown>>(`select ${fields} from limits where subject = $1`, [
    subject,
  ]);
  return row ?? noLimits;
}

/** Sets all limits of an organization or a key. An unlimited one has no row. */
export async function setLimits(tx: Tx, orgId: string, subject: string, limits: Limits): Promise<void> {
  await tx.query('delete from limits where subject = $1', [subject]);
  const values = names.map((name) => limits[name]);
  if (values.every((value) => value === null)) return;
  await tx.query(
    `insert into limits (org_id, subject, ${columnList}) values ($1, $2, ${values.map((_, at) => `$${at + 3}`).join(', ')})`,
    [orgId, subject, ...values],
  );
}

/** Gives a key the limits of another one. */
export async function copyLimits(tx: Tx, from: string, to: string): Promise<void> {
  await tx.query(
    `insert into limits (org_id, subject, ${columnList}) select org_id, $2, ${columnList} from limits where subject = $1`,
    [from, to],
  );
}
