import { beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { GroupCommit } from '../../../activities/rollouts/group-commit.js';
import type { Db } from '../../../src/platform/db/db.js';
import { JobGoneError, lockJob, type JobRef } from '../../../src/jobs/store/events.js';
import { acquireLease } from '../../../src/jobs/store/leases.js';
import type { Claim, JobExchange, SyncResult } from '../../../src/rollouts/store/exchange.js';
import type { Outcome } from '../../../src/rollouts/store/outcomes.js';
import { planRollouts } from '../../../src/rollouts/store/rollouts.js';
import { databaseOfFile } from '../../support/database-of-file.js';
import { insertJob } from '../../support/job.js';
import { runs } from '../../support/runs.js';

// Invariants for any jobs in one transaction: a rollout has one outcome and one event, seq has
// no gaps, at most max_concurrent rollouts run, and no job suffers from the error of another.

const db = databaseOfFile(8);
const org: Db['org'] = (orgId, work) => db.org(orgId, work);
const maxConcurrent = 3;
const rollouts = 8;

interface Runner {
  job: JobRef;
  token: number;
  open: Claim[];
}

async function newJob(): Promise<JobRef> {
  const job = await insertJob(db);
  await org('default', (tx) =>
    planRollouts(
      tx,
      job,
      Array.from({ length: rollouts }, (_, n) => {
        return { ordinal: n, candidate: 0, seed: n, stage: 'evaluation' as const, generation: 0 };
      }),
      false,
    ),
  );
  return job;
}

async function take(job: JobRef): Promise<Runner | null> {
  const token = await org('default', (tx) => acquireLease(tx, job.jobId, 'me', 300));
  return token === null ? null : { job, token, open: [] };
}

type End = Outcome['status'];
const failure = { code: 'x', message: 'bad', infrastructure: false, connect: false };

function outcome({ rolloutId, attempt }: Claim, status: End = 'succeeded', reward: unknown = 0.5): Outcome {
  const rest = {
    feedback: null,
    details: null,
    empty: null,
    latencyMs: 3,
    error: status === 'failed' ? failure : null,
  };
  return { rolloutId, attempt, status, reward: status === 'succeeded' ? (reward as number) : null, ...rest };
}

/** What a runner exchanges; `returned`: claims that have not started. */
interface Report {
  outcomes?: Outcome[];
  returned?: string[];
  complete?: () => Promise<void>;
}

/** Exchanges as a runner does, and keeps its claims. */
async function exchange(group: GroupCommit, runner: Runner, report: Report = {}): Promise<SyncResult> {
  const { job, token } = runner;
  const { outcomes = [], returned = [], complete } = report;
  const ended = new Set([...outcomes.map(({ rolloutId }) => rolloutId), ...returned]);
  runner.open = runner.open.filter(({ rolloutId }) => !ended.has(rolloutId));
  const found = await group.run({
    jobId: job.jobId,
    take: (): JobExchange => ({
      jobId: job.jobId,
      token,
      leaseSeconds: 300,
      rolloutSeconds: 30,
      maxFailureRate: 1,
      hasCostBudget: false,
      completed: { outcomes, started: [], returned },
      wanted: { slots: maxConcurrent - runner.open.length, ahead: 0 },
      limit: null,
      readEnd: complete ? () => complete().then(() => ({ isOver: false, conclude: () => Promise.resolve() })) : null,
    }),
  });
  runner.open.push(...found.claims);
  return found;
}

interface Row extends Record<string, unknown> {
  id: string;
  status: string;
  isCurrent: boolean;
}

const rowsOf = (job: JobRef) =>
  org('default', (tx) =>
    tx.query<Row>(
      `select r.id, r.status, r.lease_token = c.lease_token as "isCurrent"
         from rollouts r join job_controls c on c.job_id = r.job_id where r.job_id = $1 order by r.ordinal`,
      [job.jobId],
    ),
  );

async function checkConcurrency(job: JobRef): Promise<void> {
  const rows = await rowsOf(job);
  const busy = rows.filter(({ status, isCurrent }) => status === 'running' && isCurrent);
  const awaiting = rows.filter(({ status }) => status === 'awaiting_reward');
  expect(busy.length + awaiting.length).toBeLessThanOrEqual(Math.max(maxConcurrent, awaiting.length));
}

/** Checks events and counts against the rollouts. */
async function checkRecords(job: JobRef): Promise<void> {
  const rows = await rowsOf(job);
  const [events, [control]] = await org('default', (tx) =>
    Promise.all([
      tx.query<{ seq: number; key: string }>('select seq, key from events where job_id = $1 order by seq', [job.jobId]),
      tx.query('select event_seq, rollouts_succeeded, rollouts_failed from job_controls where job_id = $1', [
        job.jobId,
      ]),
    ]),
  );
  const count = (status: End) => rows.filter((row) => row.status === status).length;
  const finished = rows.filter(({ status }) => status === 'succeeded' || status === 'failed');
  expect(events.map(({ seq }) => seq)).toEqual(finished.map((_, index) => index + 1));
  expect(events.map(({ key }) => key).sort()).toEqual(finished.map(({ id }) => `rollout:${id}`).sort());
  expect(control).toEqual({
    event_seq: finished.length,
    rollouts_succeeded: count('succeeded'),
    rollouts_failed: count('failed'),
  });
}

const set = (job: JobRef, what: string) =>
  org('default', (tx) => tx.query(`update job_controls set ${what} where job_id = $1`, [job.jobId]));

describe('jobs in one transaction', () => {
  let group: GroupCommit;
  let runners: Runner[];
  beforeEach(async () => {
    group = new GroupCommit(db, 'default');
    runners = await Promise.all([1, 2, 3].map(async () => (await take(await newJob()))!));
    await Promise.all(runners.map((runner) => exchange(group, runner)));
  });

  test('a value that Postgres refuses fails its own job only', async () => {
    const [poisoned, ...others] = runners;
    const bad = exchange(group, poisoned!, { outcomes: [outcome(poisoned!.open[0]!, 'succeeded', 'many')] });
    const found = await Promise.all([
      expect(bad).rejects.toMatchObject({ code: '22P02' }),
      ...others.map((runner) => exchange(group, runner, { outcomes: [outcome(runner.open[0]!)] })),
    ]);
    expect(found.slice(1)).toMatchObject(others.map(() => ({ held: true, counts: { succeeded: 1 } })));
    await Promise.all(runners.map(({ job }) => checkRecords(job)));
  });

  test('a job that is gone fails alone', async () => {
    const [gone, ...others] = runners;
    await org('default', (tx) => tx.query('delete from jobs where id = $1', [gone!.job.jobId]));
    const found = await Promise.all([
      expect(exchange(group, gone!)).rejects.toThrow(JobGoneError),
      ...others.map((runner) => exchange(group, runner, { outcomes: [outcome(runner.open[0]!)] })),
    ]);
    expect(found.slice(1)).toMatchObject(others.map(() => ({ counts: { succeeded: 1 } })));
  });

  test('a job that another transaction has locked keeps no other waiting', async () => {
    const [locked, ...others] = runners;
    let waiting: Promise<SyncResult> | undefined;
    await org('default', async (tx) => {
      await lockJob(tx, locked!.job);
      waiting = exchange(group, locked!, { outcomes: [outcome(locked!.open[0]!)] });
      await Promise.all(
        others.map((runner) => exchange(group, runner, { outcomes: [outcome(runner.open[0]!, 'failed')] })),
      );
    });
    expect(await waiting).toMatchObject({ held: true, counts: { succeeded: 1 } });
    await Promise.all(runners.map(({ job }) => checkRecords(job)));
  });

  test('a long transaction keeps no other job waiting', async () => {
    const [long, other] = runners;
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    let waiting: Promise<SyncResult> | undefined;
    await new Promise<void>((begun) => {
      waiting = exchange(group, long!, { complete: () => (begun(), held) });
    });
    expect(await exchange(group, other!, { outcomes: [outcome(other!.open[0]!)] })).toMatchObject({ held: true });
    release();
    expect(await waiting).toMatchObject({ held: true });
  });

  test('share one transaction', async () => {
    const seen = new Set<string>();
    await Promise.all(
      runners.map((runner) =>
        group.run({
          jobId: runner.job.jobId,
          take: () => ({
            jobId: runner.job.jobId,
            token: runner.token,
            leaseSeconds: 300,
            rolloutSeconds: 30,
            maxFailureRate: 1,
            hasCostBudget: false,
            wanted: { slots: 0, ahead: 0 },
            limit: null,
            completed: { outcomes: [], started: [], returned: [] },
            readEnd: async (tx) => {
              const [row] = await tx.query<{ id: string }>('select pg_current_xact_id()::text as id');
              seen.add(row!.id);
              return { isOver: true, conclude: () => Promise.resolve() };
            },
          }),
        }),
      ),
    );
    expect(seen.size).toBe(1);
  });

  test('a runner that lost its lease gets no claims of the one that has it', async () => {
    const [current] = runners;
    const stale: Runner = { ...current!, token: current!.token - 1, open: [] };
    await set(current!.job, `control = 'run'`);
    const results = await Promise.all([
      exchange(group, current!, { returned: current!.open.map(({ rolloutId }) => rolloutId) }),
      exchange(group, stale),
    ]);
    expect(results.map(({ held }) => held)).toEqual([true, false]);
    expect([current!.open.length, stale.open.length]).toEqual([maxConcurrent, 0]);
  });
});

/** A step of two workers at once; numbers choose jobs and outcomes. */
const anyStep = fc.oneof(
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('expire' as const), job: fc.nat(2) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('control' as const),
      job: fc.nat(2),
      control: fc.constantFrom('run', 'pause'),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('exchange' as const),
      // By worker and job: how its open rollouts end; null: still in flight.
      ends: fc.array(
        fc.array(
          fc.array(
            fc.constantFrom<End | 'returned' | null>('succeeded', 'failed', 'awaiting_reward', 'returned', null),
            {
              maxLength: maxConcurrent,
            },
          ),
          { minLength: 3, maxLength: 3 },
        ),
        { minLength: 2, maxLength: 2 },
      ),
      // Whether the outcomes of the step before are sent again.
      again: fc.boolean(),
    }),
  },
);

test('two workers, lost leases, stale attempts: each rollout has one outcome, seq has no gaps', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { minLength: 4, maxLength: 14 }), async (steps) => {
      const jobs = await Promise.all([newJob(), newJob(), newJob()]);
      const workers = [0, 1].map(() => {
        const held: (Runner | null)[] = jobs.map(() => null);
        const last: Outcome[][] = jobs.map(() => []);
        return { group: new GroupCommit(db, 'default'), held, last };
      });
      for (const step of steps) {
        if (step.kind === 'expire') {
          await set(jobs[step.job]!, `lease_expires_at = now() - interval '1 second'`);
        } else if (step.kind === 'control') {
          await set(jobs[step.job]!, `control = '${step.control}'`);
        } else {
          await Promise.all(
            workers.flatMap(({ group, held, last }, worker) =>
              jobs.map(async (job, at) => {
                const runner = (held[at] ??= await take(job));
                if (!runner) return;
                const ends = step.ends[worker]![at]!;
                const ended = runner.open.slice(0, ends.length).map((claim, index) => ({ claim, end: ends[index]! }));
                const outcomes = ended.flatMap(({ claim, end }) =>
                  end === null || end === 'returned' ? [] : [outcome(claim, end)],
                );
                const returned = ended.flatMap(({ claim, end }) => (end === 'returned' ? [claim.rolloutId] : []));
                const repeated = step.again ? last[at]! : [];
                last[at] = outcomes;
                const found = await exchange(group, runner, { outcomes: [...repeated, ...outcomes], returned });
                // A runner without the lease ends.
                if (!found.held) held[at] = null;
              }),
            ),
          );
        }
        await Promise.all(jobs.map(checkConcurrency));
      }
      await Promise.all(jobs.map(checkRecords));
    }),
    { numRuns: runs(15, 60) },
  );
});
