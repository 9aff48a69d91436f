import { countOutcome, type OutcomeCounts } from '../core/failures.js';
import type { RolloutAnswer, RolloutRequest, Stage } from '../core/work.js';
import type { Tx } from './db.js';
import { appendEvents, lockJob, type ControlRow, type JobRef } from './events.js';
import { toJsonb } from './json.js';

/** How one try at a rollout ended, written under the attempt that claimed it. */
export interface Outcome {
  rolloutId: string;
  attempt: number;
  status: 'succeeded' | 'failed' | 'awaiting_reward';
  reward: number | null;
  feedback: string | null;
  details: unknown;
  error: { code: string; message: string; infrastructure: boolean; connect: boolean } | null;
  latencyMs: number;
}

/** A rollout that this runner has claimed and must now run. */
export interface Claim {
  rolloutId: string;
  attempt: number;
  ordinal: number;
  seed: number;
  candidateId: string | null;
}

/** What an exchange found. `held` false: another runner has the job, so nothing was written and nothing may be started. */
export interface Exchange {
  held: boolean;
  control: ControlRow['control'];
  claims: Claim[];
  awaiting: number;
  /** Of all the job's rollouts so far. */
  counts: OutcomeCounts;
}

/** The id of a rollout, of its correlation and of its trace: one name for all three. */
export function rolloutId(jobId: string, ordinal: number): string {
  return `rol_${jobId.slice(4)}_${ordinal}`;
}

/** The id of the candidate with this lever version. */
export function candidateId(jobId: string, leverVersion: number): string {
  return `cand_${jobId.slice(4)}_${leverVersion}`;
}

/** Writes rollouts that are wanted; those already there are left as they are. `withCandidate`: null ids otherwise. */
export async function planRollouts(
  tx: Tx,
  job: JobRef,
  requests: RolloutRequest[],
  withCandidate: boolean,
): Promise<void> {
  if (requests.length === 0) return;
  await lockJob(tx, job);
  await tx.query(
    `with input as (
       select * from unnest($3::text[], $4::int[], $5::text[], $6::bigint[], $7::text[], $8::int[])
              as t(id, ordinal, candidate_id, seed, stage, generation)
        where not exists (select 1 from rollouts r where r.id = t.id)
     ), bumped as (
       update job_controls set rollout_idx = rollout_idx + (select count(*) from input) where job_id = $1 returning rollout_idx
     )
     insert into rollouts (id, org_id, job_id, idx, source, ordinal, stage, generation, seed, candidate_id, status)
     select id, $2, $1, rollout_idx - (select count(*) from input) + row_number() over (order by ordinal) - 1, 'service',
            ordinal, stage, generation, seed, candidate_id, 'queued'
       from input, bumped`,
    [
      job.jobId,
      job.orgId,
      requests.map((r) => rolloutId(job.jobId, r.ordinal)),
      requests.map((r) => r.ordinal),
      requests.map((r) => (withCandidate ? candidateId(job.jobId, r.candidate) : null)),
      requests.map((r) => r.seed),
      requests.map((r) => r.stage),
      requests.map((r) => r.generation),
    ],
  );
}

/** Takes the job's lease for `seconds`, with a new token that fences all before it; null while another runner holds it. */
export async function acquireLease(tx: Tx, jobId: string, owner: string, seconds: number): Promise<number | null> {
  const [row] = await tx.query<{ lease_token: number }>(
    `update job_controls
        set lease_token = lease_token + 1, lease_owner = $2, lease_expires_at = clock_timestamp() + make_interval(secs => $3)
      where job_id = $1 and (lease_owner is null or lease_expires_at < clock_timestamp())
      returning lease_token`,
    [jobId, owner, seconds],
  );
  return row?.lease_token ?? null;
}

/** Gives the lease back, so that the next runner need not wait for it to expire. */
export async function releaseLease(tx: Tx, jobId: string, token: number): Promise<void> {
  await tx.query(
    'update job_controls set lease_owner = null, lease_expires_at = null where job_id = $1 and lease_token = $2',
    [jobId, token],
  );
}

/**
 * The runner's one transaction: outcomes in, claims out, lease renewed. Outcomes count only while the runner holds the
 * lease and the row's attempt is its own, so each rollout has one outcome whoever else is still at it; each outcome and
 * its event stand or fall together. Claims at most `want` rollouts, and none unless the job's control says `run`.
 * Rows that an earlier runner left in flight are claimed again, with the same id.
 */
export async function exchange(
  tx: Tx,
  job: JobRef,
  runner: { token: number; leaseSeconds: number; rolloutSeconds: number },
  outcomes: Outcome[],
  want: number,
): Promise<Exchange> {
  const row = await lockJob(tx, job);
  const open = row.status === 'running' || row.status === 'paused';
  const held = row.lease_token === runner.token && open;
  let counts: OutcomeCounts = {
    succeeded: row.rollouts_succeeded,
    failed: row.rollouts_failed,
    connectFailuresInARow: row.connect_failures,
  };
  if (!held) return { held, control: open ? row.control : 'stop', claims: [], awaiting: 0, counts };

  const written = [
    ...(outcomes.length > 0 ? await writeOutcomes(tx, job, outcomes) : []),
    ...(await expireAwaiting(tx, job)),
  ];
  for (const { status, error } of written) {
    counts = countOutcome(counts, status === 'succeeded' ? status : error?.connect ? 'connect_failed' : 'failed');
  }
  await reportOutcomes(tx, job, row, written);
  const claims = want > 0 && row.control === 'run' ? await claim(tx, job.jobId, runner, want) : [];
  await tx.query(
    `update job_controls set rollouts_succeeded = $3, rollouts_failed = $4, connect_failures = $5,
            lease_expires_at = clock_timestamp() + make_interval(secs => $6)
      where job_id = $1 and lease_token = $2`,
    [job.jobId, runner.token, counts.succeeded, counts.failed, counts.connectFailuresInARow, runner.leaseSeconds],
  );
  const [waiting] = await tx.query<{ n: number }>(
    `select count(*) as n from rollouts where job_id = $1 and status = 'awaiting_reward'`,
    [job.jobId],
  );
  return { held, control: row.control, claims, awaiting: waiting?.n ?? 0, counts };
}

interface Written extends Record<string, unknown> {
  id: string;
  idx: number;
  seed: number;
  stage: Stage;
  generation: number;
  candidate_id: string | null;
  status: 'succeeded' | 'failed' | 'awaiting_reward';
  reward: number | null;
  error: { code: string; message: string; connect?: boolean } | null;
}

const reported = 'r.id, r.idx, r.seed, r.stage, r.generation, r.candidate_id, r.status, r.reward, r.error';

async function writeOutcomes(tx: Tx, job: JobRef, outcomes: Outcome[]): Promise<Written[]> {
  const rows = await tx.query<Written>(
    `update rollouts r
        set status = o.status, reward = o.reward, feedback = o.feedback, details = o.details, error = o.error,
            latency_ms = o.latency_ms, completed_at = case when o.status = 'awaiting_reward' then null else clock_timestamp() end,
            prompt_tokens = u.prompt_tokens, completion_tokens = u.completion_tokens, cost_usd = u.cost_usd,
            cost_source = u.cost_source
       from jsonb_to_recordset($2::jsonb) as o(id text, attempt int, status text, reward float8, feedback text,
              details jsonb, error jsonb, latency_ms float8)
       left join lateral (
         select sum(c.prompt_tokens) as prompt_tokens, sum(c.completion_tokens) as completion_tokens,
                case when bool_and(c.cost_usd is not null) then sum(c.cost_usd) end as cost_usd,
                case when bool_and(c.cost_usd is not null) then min(c.cost_source) end as cost_source
           from model_calls c where c.job_id = $1 and c.rollout_id = o.id
       ) u on true
      where r.id = o.id and r.job_id = $1 and r.attempt = o.attempt and r.status = 'running'
      returning ${reported}`,
    [
      job.jobId,
      toJsonb(
        outcomes.map((o) => ({
          id: o.rolloutId,
          attempt: o.attempt,
          status: o.status,
          reward: o.reward,
          feedback: o.feedback,
          details: o.details,
          error: o.error,
          latency_ms: o.latencyMs,
        })),
      ),
    ],
  );
  return rows.filter((row) => row.status !== 'awaiting_reward').sort((a, b) => a.idx - b.idx);
}

/** A reward that was to come later and did not come before the rollout's deadline: a failed row. */
async function expireAwaiting(tx: Tx, job: JobRef): Promise<Written[]> {
  return tx.query<Written>(
    `update rollouts r set status = 'failed', completed_at = clock_timestamp(), error = $2::jsonb
      where r.job_id = $1 and r.status = 'awaiting_reward' and r.deadline_at < clock_timestamp()
      returning ${reported}`,
    [
      job.jobId,
      toJsonb({
        code: 'reward_timeout',
        message: 'The container said that the reward comes later, and none was reported before the rollout_timeout.',
        infrastructure: false,
        connect: false,
      }),
    ],
  );
}

/** One event an outcome, in the specification's words for the job's kind. */
async function reportOutcomes(tx: Tx, job: JobRef, row: ControlRow, written: Written[]): Promise<void> {
  if (written.length === 0) return;
  let completed = row.rollouts_succeeded + row.rollouts_failed;
  const total = row.kind === 'evaluation' ? await totalSeeds(tx, job.jobId) : 0;
  await appendEvents(
    tx,
    job,
    written.map((w) => {
      completed += 1;
      const what = w.status === 'succeeded' ? `reward ${w.reward}` : `failed: ${w.error?.message ?? 'no reason given'}`;
      const common = {
        rollout_id: w.id,
        trace_id: w.id,
        seed: w.seed,
        status: w.status,
        reward: w.reward,
        error: w.error?.message ?? null,
      };
      return row.kind === 'evaluation'
        ? {
            key: `rollout:${w.id}`,
            type: 'eval.policy.seed.completed',
            message: `seed ${w.seed}: ${what} (${completed} of ${total})`,
            data: { completed, total, ...common },
          }
        : {
            key: `rollout:${w.id}`,
            type: 'rollout_completed',
            message: `seed ${w.seed}: ${what}`,
            data: {
              ...common,
              rollout_idx: w.idx,
              candidate_id: w.candidate_id,
              stage: w.stage,
              generation: w.generation,
            },
          };
    }),
  );
}

async function totalSeeds(tx: Tx, jobId: string): Promise<number> {
  const [row] = await tx.query<{ total: number }>(
    `select (projection->>'total')::int as total from jobs where id = $1`,
    [jobId],
  );
  return row?.total ?? 0;
}

async function claim(
  tx: Tx,
  jobId: string,
  runner: { token: number; rolloutSeconds: number },
  want: number,
): Promise<Claim[]> {
  const rows = await tx.query<{
    id: string;
    attempt: number;
    ordinal: number;
    seed: number;
    candidate_id: string | null;
  }>(
    // The choice is a step of its own: as a subquery Postgres may run it again and claim more than was wanted.
    `with chosen as materialized (
       select id from rollouts
        where job_id = $1 and (status = 'queued' or (status = 'running' and lease_token < $2))
        order by ordinal limit $4 for update
     )
     update rollouts r
        set status = 'running', attempt = r.attempt + 1, lease_token = $2,
            resent = r.resent + case when r.status = 'running' then 1 else 0 end,
            started_at = coalesce(r.started_at, clock_timestamp()),
            deadline_at = clock_timestamp() + make_interval(secs => $3)
       from chosen where r.id = chosen.id
      returning r.id, r.attempt, r.ordinal, r.seed, r.candidate_id`,
    [jobId, runner.token, runner.rolloutSeconds, want],
  );
  return rows
    .sort((a, b) => a.ordinal - b.ordinal)
    .map((r) => ({
      rolloutId: r.id,
      attempt: r.attempt,
      ordinal: r.ordinal,
      seed: r.seed,
      candidateId: r.candidate_id,
    }));
}

/**
 * Settles a rollout that waits for its reward, with its event. False: it does not wait (any more). Wakes the runner,
 * whose slot is free again.
 */
export async function settleAwaited(
  tx: Tx,
  where: JobRef & { rolloutId: string; reward: number; details: unknown },
): Promise<boolean> {
  const row = await lockJob(tx, where);
  if (row.status !== 'running' && row.status !== 'paused') return false;
  const written = await tx.query<Written>(
    `update rollouts r set status = 'succeeded', reward = $3, details = $4::jsonb,
            feedback = coalesce($4::jsonb->>'feedback', feedback), completed_at = clock_timestamp()
      where r.job_id = $1 and r.id = $2 and r.status = 'awaiting_reward' and r.deadline_at >= clock_timestamp()
      returning ${reported}`,
    [where.jobId, where.rolloutId, where.reward, toJsonb(where.details ?? null)],
  );
  if (written.length === 0) return false;
  await reportOutcomes(tx, where, row, written);
  await tx.query(
    `update job_controls set rollouts_succeeded = rollouts_succeeded + 1, connect_failures = 0 where job_id = $1`,
    [where.jobId],
  );
  await tx.query(`select pg_notify('ratchet_control', $1)`, [where.jobId]);
  return true;
}

/** The outcomes of rollouts `from` to `to` (exclusive), in the order they were asked for; null while one is still open. */
export async function readAnswers(tx: Tx, jobId: string, from: number, to: number): Promise<RolloutAnswer[] | null> {
  const rows = await tx.query<{
    ordinal: number;
    status: string;
    reward: number | null;
    infrastructure: boolean | null;
  }>(
    `select ordinal, status, reward, (error->>'infrastructure')::boolean as infrastructure
       from rollouts where job_id = $1 and ordinal >= $2 and ordinal < $3 order by ordinal`,
    [jobId, from, to],
  );
  if (rows.length < to - from || rows.some((r) => r.status !== 'succeeded' && r.status !== 'failed')) return null;
  return rows.map((r) => ({
    ordinal: r.ordinal,
    reward: r.status === 'succeeded' ? r.reward : null,
    infrastructure: r.infrastructure ?? false,
  }));
}
