import type { Message } from '../contracts/spec.js';
import type { Tx } from './db.js';
import type { JobRef } from './events.js';
import { toJsonb } from './json.js';
import { candidateId } from '../core/ids.js';

/** A candidate to store under its lever version; `messages` null while the baseline's prompt is not known yet. */
export interface NewCandidate {
  leverVersion: number;
  generation: number;
  parents: number[];
  messages: Message[] | null;
  detail?: Record<string, unknown>;
}

/** Stores a candidate; one that is already there is left as it is. */
export async function addCandidate(tx: Tx, job: JobRef, candidate: NewCandidate): Promise<void> {
  await tx.query(
    `insert into candidates (id, org_id, job_id, lever_version, generation, parent_ids, status, messages, detail)
     values ($1, $2, $3, $4, $5, $6, 'proposed', $7, $8) on conflict (id) do nothing`,
    [
      candidateId(job.jobId, candidate.leverVersion),
      job.orgId,
      job.jobId,
      candidate.leverVersion,
      candidate.generation,
      candidate.parents.map((parent) => candidateId(job.jobId, parent)),
      candidate.messages && toJsonb(candidate.messages),
      toJsonb(candidate.detail ?? {}),
    ],
  );
}

/** Every candidate's messages by lever version. */
export async function readPrompts(tx: Tx, jobId: string): Promise<Map<number, Message[] | null>> {
  const rows = await tx.query<{ lever_version: number; messages: Message[] | null }>(
    'select lever_version, messages from candidates where job_id = $1 order by lever_version',
    [jobId],
  );
  return new Map(rows.map((row) => [row.lever_version, row.messages]));
}

/** The messages of those candidates that have rollouts to run, by lever version. */
export async function readOpenPrompts(tx: Tx, jobId: string): Promise<Map<number, Message[] | null>> {
  const rows = await tx.query<{ lever_version: number; messages: Message[] | null }>(
    `select lever_version, messages from candidates
      where id = any(array(select distinct candidate_id from rollouts where job_id = $1 and completed_at is null))`,
    [jobId],
  );
  return new Map(rows.map((row) => [row.lever_version, row.messages]));
}

/** Sets the baseline's prompt once it is known. */
export async function setBaseline(tx: Tx, jobId: string, messages: Message[]): Promise<void> {
  await tx.query('update candidates set messages = $2 where id = $1 and messages is null', [
    candidateId(jobId, 0),
    toJsonb(messages),
  ]);
}
