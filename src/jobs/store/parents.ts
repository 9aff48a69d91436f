import { childJobId, type JobKind } from '../../core/jobs/kinds.js';
import type { Status } from '../../core/jobs/status.js';
import type { Tx } from '../../platform/db/db.js';

/** The kinds whose jobs start others; see `childJobId`. */
const parentKinds = ['deployment', 'migration', 'checkup'] as const satisfies JobKind[];

/** Whether a job was started by another one, which has ended. */
export async function isParentOver(tx: Tx, jobId: string): Promise<boolean> {
  const [first, last] = [0, 0xffff].map((number) => parentKinds.map((kind) => childJobId(kind, jobId, number)));
  const rows = await tx.query(
    `select 1 from unnest($1::text[], $2::text[]) as parents(first, last)
       join jobs on id between first and last where status in ('completed', 'failed', 'cancelled')`,
    [first, last],
  );
  return rows.length > 0;
}

/** A job that was made from the request of another. */
export interface Branch extends Record<string, unknown> {
  jobId: string;
  name: string | null;
  status: Status;
  candidateId: string | null;
  createdAt: Date;
}

/** The latest jobs made from one, newest first. */
export function readBranches(tx: Tx, jobId: string): Promise<Branch[]> {
  return tx.query<Branch>(
    `select id as "jobId", name, status, branched_candidate as "candidateId", created_at as "createdAt"
       from jobs where branched_from = $1 and not deleted order by created_at desc, id desc limit 50`,
    [jobId],
  );
}

/** The kinds of the jobs that others start. */
const childKinds = ['session', 'evaluation'] as const satisfies JobKind[];

/** What a job and those that it started have cost. `isKnown` false: more than `knownUsd`. */
interface FamilyCost extends Record<string, unknown> {
  isOpen: boolean;
  knownUsd: number;
  isKnown: boolean;
}

/** Calls that a budget reserved count as paid. A job that is gone has an unknown cost. */
export async function readFamilyCost(tx: Tx, jobId: string): Promise<FamilyCost> {
  const [first, last] = [0, 0xffff].map((number) => childKinds.map((kind) => childJobId(kind, jobId, number)));
  const [row] = await tx.query<FamilyCost>(
    `select coalesce(bool_or(j.completed_at is null), false) as "isOpen",
            coalesce(sum(greatest(u.usd, b.usd)), 0)::float8 as "knownUsd",
            coalesce(bool_and(b.usd is not null or u.unpriced = 0), false) as "isKnown"
       from (select id, completed_at from jobs where id = $1
             union all
             select id, completed_at from unnest($2::text[], $3::text[]) as children(first, last)
               join jobs on id between first and last) j
       cross join lateral (select sum(cost_usd) as usd, sum(unpriced) as unpriced from job_usage where job_id = j.id) u
       left join lateral (select (spent_usd + reserved_usd)::float8 as usd from job_budgets where job_id = j.id) b on true`,
    [jobId, first, last],
  );
  return row!;
}
