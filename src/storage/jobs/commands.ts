import { v7 as uuidv7 } from 'uuid';
import type { CommandKind } from '../../contracts/control.js';
import { isTerminal, type Status } from '../../core/jobs/status.js';
import type { Tx } from '../db/db.js';
import { lockJob, type JobRef } from './events.js';

/** A command that was written down, or the status of a job that has closed, where nobody will decide one. */
export type Inserted = { commandId: string } | { closed: Status };

/** Writes a command down before it is sent. Under the job's lock: whoever closes the job settles every command there is. */
export async function insertCommand(tx: Tx, job: JobRef, kind: CommandKind): Promise<Inserted> {
  const { status } = await lockJob(tx, job);
  if (isTerminal(status)) return { closed: status };
  const commandId = `cmd_${uuidv7().replaceAll('-', '')}`;
  await tx.query('insert into commands (id, org_id, job_id, kind) values ($1, $2, $3, $4)', [
    commandId,
    job.orgId,
    job.jobId,
    kind,
  ]);
  return { commandId };
}

/** What the workflow answered to a command and the job's status then; null as long as it has not. */
export interface Outcome {
  outcome: 'accepted' | 'refused';
  status: Status;
}

/** Reads a command's outcome. */
export async function readOutcome(tx: Tx, commandId: string): Promise<Outcome | null> {
  const [row] = await tx.query<{ outcome: Outcome['outcome']; status: Status }>(
    'select outcome, status_after as status from commands where id = $1 and outcome is not null',
    [commandId],
  );
  return row ? { outcome: row.outcome, status: row.status } : null;
}
