import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CommandKind, ControlAnswer } from '../../contracts/control.js';
import type { AnswerCode } from '../../contracts/errors/index.js';
import { isTerminal, transition, type Status, type StatusCommand } from '../../core/jobs/status.js';
import { jobKinds, type JobKind } from '../../core/jobs/kinds.js';
import { insertCommand, readOutcome, type Outcome, type SentCommand } from '../store/commands.js';
import { insertSuggestion, type SuggestedContent } from '../store/suggestions.js';
import { closePending } from '../store/decisions/pending.js';
import { readJob, type JobHead, type JobRow } from '../store/jobs.js';
import { TemporalUnavailableError, WorkflowGoneError } from '../../platform/temporal/errors.js';
import { defaultTiming, type HttpDeps } from '../../platform/http/deps.js';
import { ApiError, refuse } from '../../platform/http/server/errors.js';
import { createWakeSignal } from '../../platform/http/server/wake-signal.js';
import { idFields } from './view.js';

/** What a person suggests to a search; it changes no status. */
type SuggestionKind = 'candidate' | 'hint';

const statusCommands: Record<Exclude<CommandKind, SuggestionKind>, StatusCommand> = {
  pause: 'pause',
  resume: 'resume',
  cancel: 'cancel',
  stop: 'reward_stop',
};

/** The command for the state requested by PATCH. */
export const patchCommands = { paused: 'pause', running: 'resume', cancelled: 'cancel' } as const;

/** A job of the caller's organization; default `kind`: any but deployments. Throws 404. */
export async function findJob<Head = JobHead>(
  deps: HttpDeps,
  request: FastifyRequest,
  jobId: string,
  kind?: JobKind,
): Promise<JobRow<Head>> {
  const job = await deps.db.org(request.caller.orgId, (tx) => readJob<Head>(tx, jobId));
  if (!job || (kind ? job.kind !== kind : !jobKinds[job.kind].takesCommands))
    throw refuse.notFound(`${kind ?? 'job'} ${jobId.slice(0, 100)}`);
  return job;
}

/** Sends a command and replies with its outcome. */
export async function control(
  deps: HttpDeps,
  reply: FastifyReply,
  job: JobRow,
  sent: SentCommand,
): Promise<FastifyReply> {
  const { code, body } = await command(deps, job, sent);
  return reply.code(code).send(body);
}

/**
 * Sends a command to a job's workflow and waits for the outcome: 200 with the new status, 409 if
 * refused, or 202 with `pending_command` if no worker decided in time.
 */
export async function command(
  deps: HttpDeps,
  job: JobRow,
  { kind, keyId, content }: SentCommand & { content?: SuggestedContent },
): Promise<{ code: 200 | 202; body: ControlAnswer }> {
  const ids = idFields(job.jobId);
  // A closed job has no workflow, and its status is final.
  if (isTerminal(job.status)) return { code: 200, body: { ...ids, status: decided(job.status, kind) } };
  if (job.status === 'pending') {
    // A pending job has no workflow yet.
    const status = statusCommandOf(kind, job.status);
    const found = await deps.db.org(job.orgId, (tx) => closePending(tx, job, { command: status, keyId }));
    if (found === 'refused') throw refused(kind, job.status);
    if (found !== 'started') return { code: 200, body: { ...ids, status: found } };
  }

  const inserted = await deps.db.org(job.orgId, async (tx) => {
    const command = await insertCommand(tx, job, { kind, keyId });
    if (content && 'commandId' in command) await insertSuggestion(tx, job.orgId, command.commandId, content);
    return command;
  });
  if ('closed' in inserted) return { code: 200, body: { ...ids, status: decided(inserted.closed, kind) } };
  const { commandId } = inserted;
  const outcome = await deliverAndWait(deps, job, kind, commandId);
  if (outcome?.outcome === 'refused') throw refused(kind, outcome.status);
  if (outcome) return { code: 200, body: { ...ids, status: outcome.status, command_id: commandId } };
  const { status } = (await deps.db.org(job.orgId, (tx) => readJob(tx, job.jobId))) ?? job;
  if (isTerminal(status)) return { code: 200, body: { ...ids, status: decided(status, kind), command_id: commandId } };
  return { code: 202, body: { ...ids, status, pending_command: kind, command_id: commandId } };
}

async function deliverAndWait(
  deps: HttpDeps,
  job: JobRow,
  kind: CommandKind,
  commandId: string,
): Promise<Outcome | null> {
  const { commandWaitMs, pollMs } = { ...defaultTiming, ...deps.timing };
  const signal = createWakeSignal((wake) => deps.notifications.on('ratchet_commands', commandId, wake));
  try {
    const closed = await deliver(deps, job, kind, commandId);
    const end = closed ? 0 : Date.now() + commandWaitMs;
    for (;;) {
      const outcome = await deps.db.org(job.orgId, (tx) => readOutcome(tx, commandId));
      const left = end - Date.now();
      if (outcome || left <= 0) return outcome;
      await signal.next(Math.min(pollMs, left));
    }
  } finally {
    signal.stop();
  }
}

/** Delivers a command; true: the job was closed meanwhile, so no answer will come. */
async function deliver(deps: HttpDeps, job: JobRow, kind: CommandKind, commandId: string): Promise<boolean> {
  try {
    if (!job.workflowStarted) await deps.commander.start(job);
    await deps.commander.send(job, kind, commandId);
    return false;
  } catch (error) {
    if (error instanceof WorkflowGoneError) {
      // A workflow closes its row first; for a terminated one the reconciler does it.
      const now = await deps.db.org(job.orgId, (tx) => readJob(tx, job.jobId));
      if (now && isTerminal(now.status)) return true;
      throw unavailable(
        'workflow_gone',
        'The workflow of this job no longer exists; the job is about to be closed. Try again.',
        error,
      );
    }
    if (error instanceof TemporalUnavailableError) {
      throw unavailable(
        'temporal_unavailable',
        'Temporal is unreachable and the command was not delivered. Try again.',
        error,
      );
    }
    throw error;
  }
}

/** 503 with a hint to repeat the request. */
function unavailable(code: AnswerCode, detail: string, cause: Error): ApiError {
  return new ApiError(503, code, detail, { cause, headers: { 'retry-after': '2' } });
}

/** The result of a command on a closed job, by the transition table; throws if refused. */
function decided(status: Status, kind: CommandKind): Status {
  const result = transition(status, statusCommandOf(kind, status));
  if (!result.ok) throw refused(kind, status);
  return result.status;
}

function statusCommandOf(kind: CommandKind, status: Status): StatusCommand {
  if (kind === 'candidate' || kind === 'hint') throw refused(kind, status);
  return statusCommands[kind];
}

const verbs: Record<CommandKind, string> = {
  pause: 'paused',
  resume: 'resumed',
  cancel: 'cancelled',
  stop: 'stopped',
  candidate: 'given a prompt: its search is about to begin, ending or over',
  hint: 'given a hint: its search is about to begin or over',
};

function refused(kind: CommandKind, status: Status): ApiError {
  return new ApiError(409, 'invalid_state', `The job is ${status} and cannot be ${verbs[kind]}.`, {
    extra: { current_status: status },
  });
}
