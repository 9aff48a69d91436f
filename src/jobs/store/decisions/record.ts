import type { JobFault } from '../../../core/jobs/fault.js';
import { isTerminal, type Status } from '../../../core/jobs/status.js';
import { recordOf } from '../../../core/search/acceptance-record.js';
import type { AcceptanceDecision, CandidateSummary, CandidateTest } from '../../../core/search/protocol.js';
import type { Tx } from '../../../platform/db/db.js';
import type { NewEvent } from '../../../core/events/event.js';
import { jobKinds } from '../../../core/jobs/kinds.js';
import { settleLost } from '../cost-budget.js';
import { appendEvents, lockJob, type ControlRow, type JobRef } from '../events.js';
import type { AnyProjection } from '../projection.js';
import { markTraceDue } from '../traces.js';
import { markDue } from '../webhooks.js';
import { toJsonb } from '../../../platform/db/json.js';
import { candidateId } from '../../../core/jobs/ids.js';
import { countedThrough, keepTotals, rewardSums } from '../../../rollouts/store/totals.js';
import { keepAgreement } from '../../../rollouts/store/agreement.js';
import { keepFinal } from './final.js';
import { notifyControl, setCanceller, setStatus } from './status.js';
import { recordFrames } from '../../../rollouts/store/sensors.js';

/** A command's outcome. `statusAfter`: set if a later command of the decision changed it. */
export interface CommandOutcome {
  commandId: string;
  outcome: 'accepted' | 'refused';
  statusAfter?: Status;
}

/** A decision of a workflow, recorded in one transaction. All parts are optional. */
export interface Decision {
  projection?: AnyProjection;
  candidates?: CandidateSummary[];
  /** The running tests of candidates, and the decisions on tests. */
  tests?: CandidateTest[];
  acceptances?: AcceptanceDecision[];
  /** Ordinals of rollouts that were requested again and do not count. */
  repeated?: number[];
  /** Every rollout with an ordinal below has its outcome, for good. */
  outcomesThrough?: number;
  events?: NewEvent[];
  status?: 'running' | 'paused';
  /** The number of pauses with this one. */
  pauses?: number;
  commands?: CommandOutcome[];
  /** The running search is to take in a person's prompt. */
  hasPrompt?: boolean;
  /** The job is about to end: its running work stops. */
  isEnding?: boolean;
}

/**
 * Records a decision of an open job; a repeated one changes nothing. Returns false without effect
 * if the job is closed.
 */
export async function recordDecision(tx: Tx, job: JobRef, decision: Decision): Promise<boolean> {
  const row = await lockJob(tx, job);
  if (isTerminal(row.status)) return false;
  await writeDecision(tx, job, decision, row.status);
  return true;
}

/** A job's status; `pauses` numbers the keys of its pause events. */
export interface ControlState {
  status: Exclude<Status, 'pending'>;
  pauses: number;
}

/** The state of a locked job; a pending one begins to run with its workflow. */
export function stateOf({ status, pauses }: Pick<ControlRow, 'status' | 'pauses'>): ControlState {
  return { status: status === 'pending' ? 'running' : status, pauses };
}

/** `moved`: the job is in another state than its workflow believed, and nothing was recorded. */
export type Recorded = { kind: 'recorded' } | { kind: 'moved'; state: ControlState };

/**
 * Records a decision of a job's workflow, which believes the job in the state `from`: a workflow
 * that was reset may have forgotten a pause. The same decision again changes nothing.
 */
export async function recordFrom(
  tx: Tx,
  job: JobRef,
  row: ControlRow,
  { from, decision }: { from: ControlState; decision: Decision },
): Promise<Recorded> {
  const state = stateOf(row);
  const after = { status: decision.status ?? from.status, pauses: decision.pauses ?? from.pauses };
  const isExpected = [from, after].some(({ status, pauses }) => status === state.status && pauses === state.pauses);
  if (!isExpected || isTerminal(state.status)) return { kind: 'moved', state };
  await writeDecision(tx, job, decision, row.status);
  return { kind: 'recorded' };
}

/** Records a decision of a job that is locked and open. `status`: the one before it. */
export async function writeDecision(tx: Tx, job: JobRef, decision: Decision, status: Status): Promise<void> {
  await Promise.all([
    decision.projection &&
      tx.query(
        'update jobs set projection = projection || $2::jsonb where id = $1',
        [job.jobId, toJsonb(decision.projection)],
        'set_projection',
      ),
    updateCandidates(tx, job, decision),
    decision.repeated?.length &&
      tx.query(
        'update rollouts set repeated = true where job_id = $1 and ordinal = any($2)',
        [job.jobId, decision.repeated],
        'set_repeated',
      ),
    decision.outcomesThrough !== undefined && countOutcomes(tx, job, decision.outcomesThrough),
    decision.status && setStatus(tx, job, decision.status, decision),
    decision.isEnding &&
      tx.query(`update job_controls set control = 'stop' where job_id = $1`, [job.jobId], 'set_ending'),
    (decision.isEnding || decision.hasPrompt) && notifyControl(tx, job),
    settleCommands(tx, decision.commands ?? [], decision.status ?? status),
    appendEvents(tx, job, decision.events ?? []),
  ]);
}

async function updateCandidates(
  tx: Tx,
  job: JobRef,
  { candidates = [], tests = [], acceptances = [] }: Pick<Decision, 'candidates' | 'tests' | 'acceptances'>,
): Promise<void> {
  const changes = new Map<number, Record<string, unknown>>();
  const change = (candidate: number, fields: Record<string, unknown>) =>
    changes.set(candidate, { ...changes.get(candidate), ...fields });
  for (const { candidate, status, reward, interval } of candidates) change(candidate, { status, reward, interval });
  for (const { candidate, seeds } of tests) change(candidate, { tests: seeds });
  const merges = await readMerges(
    tx,
    job,
    acceptances.map(({ candidate }) => candidate),
  );
  for (const decision of acceptances) {
    const { candidate } = decision;
    change(candidate, { decision: recordOf(decision, merges.has(candidate)) });
  }
  if (changes.size === 0) return;
  await tx.query(
    `update candidates c set status = coalesce(i.status, c.status), reward = coalesce(i.reward, c.reward),
            reward_interval = coalesce(i.interval, c.reward_interval), tests = coalesce(i.tests, c.tests), decision = coalesce(i.decision, c.decision)
       from jsonb_to_recordset($2::jsonb) as i(id text, status text, reward float8, interval jsonb, tests jsonb, decision jsonb)
      where c.id = i.id and c.job_id = $1`,
    [
      job.jobId,
      toJsonb([...changes].map(([candidate, fields]) => ({ id: candidateId(job.jobId, candidate), ...fields }))),
    ],
    'update_candidates',
  );
}

/** Those of the candidates that combine several candidates. */
async function readMerges(tx: Tx, job: JobRef, candidates: readonly number[]): Promise<ReadonlySet<number>> {
  if (candidates.length === 0) return new Set();
  const rows = await tx.query<{ candidate: number }>(
    `select lever_version as candidate from candidates
      where job_id = $1 and lever_version = any($2) and detail ? 'merge'`,
    [job.jobId, candidates],
    'read_merges',
  );
  return new Set(rows.map(({ candidate }) => candidate));
}

/**
 * Adds new outcomes to the candidates' sums and to frames. `rest`: at the end of the job, also
 * frames for outcomes beyond `outcomesThrough`.
 */
async function countOutcomes(tx: Tx, job: JobRef, outcomesThrough: number, rest = false): Promise<void> {
  // In this order: the sums move the bound from which both begin.
  await Promise.all([recordFrames(tx, job, outcomesThrough, rest), countRewards(tx, job, outcomesThrough)]);
}

async function countRewards(tx: Tx, job: JobRef, through: number): Promise<void> {
  await tx.query(
    `with fresh as (
       ${rewardSums} and ordinal >= (${countedThrough}) and ordinal < $2 group by candidate_id
     ), moved as (
       update jobs set rollouts_counted = $2 where id = $1 and rollouts_counted < $2
     )
     update candidates c
        set rollouts_counted = c.rollouts_counted + f.n, rewards_counted = c.rewards_counted + f.succeeded,
            reward_sum = c.reward_sum + f.rewards
       from fresh f where c.id = f.candidate_id and c.job_id = $1`,
    [job.jobId, through],
    'count_rewards',
  );
}

async function settleCommands(tx: Tx, commands: CommandOutcome[], status: Status): Promise<void> {
  await Promise.all(
    commands.flatMap(({ commandId, outcome, statusAfter = status }) => [
      tx.query(
        'update commands set outcome = $2, status_after = $3, settled_at = now() where id = $1 and outcome is null',
        [commandId, outcome, statusAfter],
        'settle_command',
      ),
      tx.query(`select pg_notify('ratchet_commands', $1)`, [commandId]),
    ]),
  );
}

/** Gives a name's requests back to what it serves, where the workflow was ended from outside. */
function endOpenCanary(tx: Tx, { jobId }: JobRef) {
  return tx.query(
    `update deployment_canaries set status = 'rolled_back', ended_at = now(), reason = 'Rolled back: its job ended.'
      where deployment_id = $1 and ended_at is null`,
    [jobId],
  );
}

export interface ClosedState {
  status: 'completed' | 'failed' | 'cancelled';
  stoppedBy: string | null;
  error: JobFault | null;
  projection?: AnyProjection;
  candidates?: CandidateSummary[];
  outcomesThrough?: number;
  events: NewEvent[];
  /** The workflow that ended; no effect on a job that goes on in another. Absent: any. */
  workflowId?: string;
  /** The commands that caused the end; all other open commands are refused. */
  accepted: string[];
  /** The key that cancels a job without a workflow. */
  keyId?: string | null;
}

/** Events that each run of a job can have, such as its end. */
export function eventsOfRun(run: number, events: readonly NewEvent[]): NewEvent[] {
  return events.map((event) => (run === 1 ? event : { ...event, key: `${event.key}:${run}` }));
}

/**
 * Closes a job: status, last events, commands, reservations of lost calls, and a new fence against
 * running runners. No effect on a closed job. Returns whether this call closed it.
 */
export async function finishJob(tx: Tx, job: JobRef, end: ClosedState): Promise<boolean> {
  const row = await lockJob(tx, job);
  if (isTerminal(row.status) || (end.workflowId ?? row.workflow_id) !== row.workflow_id) return false;
  const [open] = await Promise.all([
    tx.query<{ id: string; kind: string }>('select id, kind from commands where job_id = $1 and outcome is null', [
      job.jobId,
    ]),
    tx.query(
      `update job_controls set control = 'stop', lease_token = lease_token + 1, lease_owner = null, lease_expires_at = null
        where job_id = $1`,
      [job.jobId],
    ),
    tx.query(
      `update rollouts r set status = 'cancelled', completed_at = now()
        where r.job_id = $1 and (r.status in ('queued', 'running', 'awaiting_reward')
                                 or (r.status = 'open' and exists (select 1 from slots s where s.job_id = $1 and s.ordinal = r.slot)))`,
      [job.jobId],
    ),
    tx.query('delete from slots where job_id = $1', [job.jobId]),
    row.kind === 'deployment' && endOpenCanary(tx, job),
    end.status === 'cancelled' && setCanceller(tx, job, end.keyId ?? null),
    updateCandidates(tx, job, end),
    jobKinds[row.kind].isSearch ? countOutcomes(tx, job, end.outcomesThrough ?? 0, true) : keepTotals(tx, job.jobId),
    keepAgreement(tx, job.jobId),
    tx.query(
      `update jobs set status = $2, stuck = null, stopped_by = $3, error_details = $4::jsonb, projection = projection || $5::jsonb,
              started_at = coalesce(started_at, now()), completed_at = now()
        where id = $1`,
      [job.jobId, end.status, end.stoppedBy, end.error && toJsonb(end.error), toJsonb(end.projection ?? {})],
    ),
    tx.query('delete from secrets where job_id = $1', [job.jobId]),
    markDue(tx, job.jobId),
    markTraceDue(tx, job.jobId),
    settleLost(tx, job),
    appendEvents(tx, job, eventsOfRun(row.run, end.events)),
    notifyControl(tx, job),
  ]);
  await keepFinal(tx, job.jobId);
  await settleCommands(
    tx,
    open.map(({ id, kind }) => ({
      commandId: id,
      outcome: end.accepted.includes(id) || (kind === 'cancel' && end.status === 'cancelled') ? 'accepted' : 'refused',
    })),
    end.status,
  );
  return true;
}
