import { v7 as uuidv7 } from 'uuid';
import type { CommandKind } from '../../contracts/control.js';
import { isTerminal, type Status } from '../../core/jobs/status.js';
import type { Tx } from '../../platform/db/db.js';
import { lockJob, type JobRef } from './events.js';
import { keyOf, type NamedKey } from './named-keys.js';

/** The last pause, resume or cancel of a job. `at`: a time of Postgres, as text. */
export interface LastCommand {
  command: 'pause' | 'resume' | 'cancel';
  key: NamedKey;
  at: string;
}

/** SQL of a job's last command, of its control row; null: none. */
export const lastCommandOf = (control: string): string =>
  `case when ${control}.command is not null then json_build_object('command', ${control}.command,
     'key', ${keyOf(`${control}.command_key`)}, 'at', ${control}.command_at) end`;

/** A command and the key that gives it; null: the service. */
export interface SentCommand {
  kind: CommandKind;
  keyId: string | null;
}

/** A recorded command, or the status of a job that was already closed. */
export type CommandInsertion = { commandId: string } | { closed: Status };

/** Records a command before it is sent, under the job's lock: closing settles all commands. */
export async function insertCommand(tx: Tx, job: JobRef, { kind, keyId }: SentCommand): Promise<CommandInsertion> {
  const { status } = await lockJob(tx, job);
  if (isTerminal(status)) return { closed: status };
  const commandId = `cmd_${uuidv7().replaceAll('-', '')}`;
  await tx.query('insert into commands (id, org_id, job_id, kind, key_id) values ($1, $2, $3, $4, $5)', [
    commandId,
    job.orgId,
    job.jobId,
    kind,
    keyId,
  ]);
  return { commandId };
}

/** The workflow's answer to a command, with the job status after it; null: no answer yet. */
export interface Outcome {
  outcome: 'accepted' | 'refused';
  status: Status;
}

/** A command's outcome. */
export async function readOutcome(tx: Tx, commandId: string): Promise<Outcome | null> {
  const [row] = await tx.query<{ outcome: Outcome['outcome']; status: Status }>(
    'select outcome, status_after as status from commands where id = $1 and outcome is not null',
    [commandId],
  );
  return row ? { outcome: row.outcome, status: row.status } : null;
}
