import { beforeEach, describe, expect, test } from '@jest/globals';
import { endEvents, paused } from '../../../src/core/events/jobs.js';
import { lockJob, type JobRef } from '../../../src/jobs/store/events.js';
import { insertCommand } from '../../../src/jobs/store/commands.js';
import { finishJob, recordDecision } from '../../../src/jobs/store/decisions/record.js';
import {
  syncRollouts,
  type Claim,
  type CompletedRollouts,
  type WantedSlots,
} from '../../../src/rollouts/store/exchange.js';
import { listJobs } from '../../../src/jobs/store/jobs.js';
import { acquireLease, releaseLease } from '../../../src/jobs/store/leases.js';
import { settleAwaited, type Outcome } from '../../../src/rollouts/store/outcomes.js';
import { recordReward } from '../../../src/rollouts/store/rewards.js';
import { addCandidate } from '../../../src/candidates/store/candidates.js';
import { rolloutId } from '../../../src/core/jobs/ids.js';
import { areWhole, planRollouts, readAnswers } from '../../../src/rollouts/store/rollouts.js';
import { insertJob } from '../../support/job.js';
import { databaseOfFile } from '../../support/database-of-file.js';

// Invariants: one runner holds a job; an outcome counts only under its attempt and the token of the
// lease; a rollout has one outcome and one event; claims need the control `run`.

const db = databaseOfFile(6);
let job: JobRef;
beforeEach(async () => {
  job = await insertJob(db);
  await db.org('default', (tx) =>
    planRollouts(
      tx,
      job,
      [0, 1, 2].map((n) => ({ ordinal: n, candidate: 0, seed: 10 + n, stage: 'evaluation' as const, generation: 0 })),
      false,
    ),
  );
});

const lease = (seconds = 30) => db.org('default', (tx) => acquireLease(tx, job.jobId, 'me', seconds));
const swap = (token: number, outcomes: Outcome[], want: number, rolloutSeconds = 30) =>
  tell(token, { outcomes }, { slots: want }, rolloutSeconds);
const tell = (token: number, report: Partial<CompletedRollouts>, want: Partial<WantedSlots>, rolloutSeconds = 30) =>
  db.org('default', async (tx) => {
    const exchange = {
      jobId: job.jobId,
      token,
      leaseSeconds: 30,
      rolloutSeconds,
      maxFailureRate: 0.5,
      hasCostBudget: false,
      completed: { outcomes: [], started: [], returned: [], ...report },
      wanted: { slots: 0, ahead: 0, ...want },
      limit: null,
      readEnd: null,
    };
    return (await syncRollouts(tx, job.orgId, [exchange], 'wait'))[0]!;
  });
const outcome = (claim: Claim, more: Partial<Outcome> = {}): Outcome => ({
  rolloutId: claim.rolloutId,
  attempt: claim.attempt,
  status: 'succeeded',
  reward: 0.5,
  feedback: 'fine',
  details: { feedback: 'fine' },
  empty: null,
  error: null,
  latencyMs: 3,
  ...more,
});
const rows = () =>
  db.org('default', (tx) =>
    tx.query<{
      ordinal: number;
      status: string;
      reward: number | null;
      attempt: number;
      resent: number;
      feedback: string | null;
      error: unknown;
    }>(
      'select ordinal, status, reward, attempt, resent, feedback, error from rollouts where job_id = $1 order by ordinal',
      [job.jobId],
    ),
  );
const listedMean = () =>
  db.org('default', async (tx) => {
    const jobs = await listJobs(tx, { kind: 'evaluation' }, 1_000);
    return jobs.find(({ jobId }) => jobId === job.jobId)!.meanReward;
  });
const eventKeys = async () =>
  (
    await db.org('default', (tx) =>
      tx.query<{ key: string }>('select key from events where job_id = $1 order by seq', [job.jobId]),
    )
  ).map((row) => row.key);
const expireLease = () =>
  db.org('default', (tx) =>
    tx.query(`update job_controls set lease_expires_at = now() - interval '1 second' where job_id = $1`, [job.jobId]),
  );

describe('leases', () => {
  test('admits one runner at a time; the next after a release or an expiry', async () => {
    const first = await lease();
    expect(first).toBe(1);
    expect(await lease()).toBeNull();
    await db.org('default', (tx) => releaseLease(tx, job.jobId, 1));
    expect(await lease()).toBe(2);
    await expireLease();
    expect(await lease()).toBe(3);
    // A late release by a former holder changes nothing.
    await db.org('default', (tx) => releaseLease(tx, job.jobId, 1));
    expect(await lease()).toBeNull();
  });

  test('admits one of many concurrent runners', async () => {
    const tokens = await Promise.all(Array.from({ length: 6 }, () => lease()));
    expect(tokens.filter((token) => token !== null)).toHaveLength(1);
  });
});

describe('exchange', () => {
  test('counts a candidate on a seed once, by its last try, where too many rollouts failed', async () => {
    const failed = { code: 'judgement_unusable', message: 'no', infrastructure: true, connect: false };
    const request = (ordinal: number, seed: number) => {
      return { ordinal, candidate: 0, seed, stage: 'baseline' as const, generation: 0 };
    };
    const requests = [13, 13, 13, 12].map((seed, at) => request(3 + at, seed));
    await db.org('default', (tx) => planRollouts(tx, job, requests, false));
    const token = (await lease())!;
    const { claims } = await swap(token, [], 7);
    const outcomes = claims.map((claim) =>
      outcome(claim, claim.ordinal < 2 || claim.ordinal === 6 ? {} : { status: 'failed', reward: null, error: failed }),
    );
    const { counts } = await swap(token, outcomes, 0);
    expect(counts).toMatchObject({ succeeded: 3, failed: 4, distinct: { succeeded: 3, failed: 1 } });
  });

  test('planning twice adds nothing', async () => {
    await db.org('default', (tx) =>
      planRollouts(tx, job, [{ ordinal: 2, candidate: 0, seed: 99, stage: 'evaluation', generation: 0 }], false),
    );
    expect(await rows()).toHaveLength(3);
  });

  test('claims in order, up to the wanted number, and records an event for each outcome', async () => {
    const token = (await lease())!;
    const { claims } = await swap(token, [], 2);
    expect(claims.map((c) => [c.ordinal, c.seed, c.attempt])).toEqual([
      [0, 10, 1],
      [1, 11, 1],
    ]);
    const after = await swap(
      token,
      [
        outcome(claims[1]!),
        outcome(claims[0]!, {
          status: 'failed',
          reward: null,
          error: { code: 'x', message: 'bad', infrastructure: true, connect: false },
        }),
      ],
      5,
    );
    expect(after).toMatchObject({ held: true, counts: { succeeded: 1, failed: 1, connectFailuresInARow: 0 } });
    expect(after.claims.map((c) => c.ordinal)).toEqual([2]);
    expect(await eventKeys()).toEqual([`rollout:${rolloutId(job.jobId, 0)}`, `rollout:${rolloutId(job.jobId, 1)}`]);
    expect(await db.org('default', (tx) => readAnswers(tx, job.jobId, 0, 3))).toBeNull();
    await swap(token, [outcome(after.claims[0]!, { reward: 1 })], 5);
    expect(await db.org('default', (tx) => readAnswers(tx, job.jobId, 0, 3))).toEqual([
      { ordinal: 0, reward: null, infrastructure: true },
      { ordinal: 1, reward: 0.5, infrastructure: false },
      { ordinal: 2, reward: 1, infrastructure: false },
    ]);
    expect(await listedMean()).toBe(0.75);
  });

  test('records an outcome once', async () => {
    const token = (await lease())!;
    const [claim] = (await swap(token, [], 1)).claims;
    await swap(token, [outcome(claim!)], 0);
    const again = await swap(token, [outcome(claim!, { reward: 0.9 })], 0);
    expect(again.counts.succeeded).toBe(1);
    expect((await rows())[0]).toMatchObject({ status: 'succeeded', reward: 0.5 });
    expect(await listedMean()).toBe(0.5);
    expect(await eventKeys()).toHaveLength(1);
  });

  test('refuses writes of a runner that lost its lease and reports it; its rollouts in flight are sent again once', async () => {
    const old = (await lease())!;
    const [claim] = (await swap(old, [], 1)).claims;
    await expireLease();
    const fresh = (await lease())!;
    const again = await swap(fresh, [], 1);
    expect(again.claims).toMatchObject([{ rolloutId: claim!.rolloutId, attempt: 2 }]);
    expect(await swap(old, [outcome(claim!, { reward: 0.1 })], 3)).toMatchObject({ held: false, claims: [] });
    // Even with the new token, an answer of the old attempt does not count.
    await swap(fresh, [outcome(claim!, { reward: 0.1 })], 0);
    expect((await rows())[0]).toMatchObject({ status: 'running', resent: 1 });
    await swap(fresh, [outcome(again.claims[0]!, { reward: 0.7 })], 0);
    expect((await rows())[0]).toMatchObject({ status: 'succeeded', reward: 0.7, attempt: 2, resent: 1 });
  });

  test.each(['pause', 'stop'] as const)(
    'claims nothing under %s, and still records rollouts in flight',
    async (control) => {
      const token = (await lease())!;
      const [claim] = (await swap(token, [], 1)).claims;
      await db.org('default', (tx) =>
        tx.query('update job_controls set control = $2 where job_id = $1', [job.jobId, control]),
      );
      expect(await swap(token, [outcome(claim!)], 5)).toMatchObject({ control, claims: [], counts: { succeeded: 1 } });
    },
  );

  test('sets the control at a pause, and resets it at a resume', async () => {
    const token = (await lease())!;
    await db.org('default', (tx) => recordDecision(tx, job, { status: 'paused' }));
    expect((await swap(token, [], 5)).claims).toEqual([]);
    await db.org('default', (tx) => recordDecision(tx, job, { status: 'running' }));
    expect((await swap(token, [], 5)).claims).toHaveLength(3);
  });

  test('counts connection failures in a row', async () => {
    const token = (await lease())!;
    const { claims } = await swap(token, [], 3);
    const lost = {
      status: 'failed' as const,
      reward: null,
      error: { code: 'c', message: 'm', infrastructure: true, connect: true },
    };
    expect(await swap(token, [outcome(claims[0]!, lost), outcome(claims[1]!, lost)], 0)).toMatchObject({
      counts: { connectFailuresInARow: 2 },
    });
    expect(await swap(token, [outcome(claims[2]!)], 0)).toMatchObject({ counts: { connectFailuresInARow: 0 } });
  });

  test('begins a prefetched claim only on the runner’s report, and releases it without a trace', async () => {
    const token = (await lease())!;
    const { claims } = await tell(token, {}, { slots: 1, ahead: 2 });
    expect(claims.map((claim) => claim.ordinal)).toEqual([0, 1, 2]);
    const began = async () =>
      (
        await db.org('default', (tx) =>
          tx.query<{ began: boolean }>(
            'select started_at is not null as began from rollouts where job_id = $1 order by ordinal',
            [job.jobId],
          ),
        )
      ).map((row) => row.began);
    expect(await began()).toEqual([true, false, false]);
    await tell(token, { started: [claims[1]!.rolloutId], returned: [claims[2]!.rolloutId] }, {});
    expect(await began()).toEqual([true, true, false]);
    expect((await rows())[2]).toMatchObject({ status: 'queued' });
    const again = await tell(token, {}, { slots: 1 });
    expect(again.claims.map((claim) => claim.ordinal)).toEqual([2]);
    expect((await rows()).map((row) => row.resent)).toEqual([0, 0, 0]);
    await tell(token, { returned: [again.claims[0]!.rolloutId] }, {});
    expect(await began()).toEqual([true, true, false]);
    await tell(token, {}, { slots: 1 });
    // The released claim is void.
    await tell(token, { outcomes: [outcome(claims[2]!)] }, {});
    expect((await rows())[2]).toMatchObject({ status: 'running' });
  });

  test('does not release a claim that another runner has taken since', async () => {
    const first = (await lease())!;
    const { claims } = await tell(first, {}, { slots: 1 });
    await expireLease();
    const second = (await lease())!;
    await tell(second, {}, { slots: 1 });
    await tell(first, { returned: [claims[0]!.rolloutId] }, {});
    expect((await rows())[0]).toMatchObject({ status: 'running', attempt: 2, resent: 1 });
  });

  test('stores hostile text as text', async () => {
    const token = (await lease())!;
    const [claim] = (await swap(token, [], 1)).claims;
    await swap(token, [outcome(claim!, { feedback: 'a\0b\ud800', details: { 'k\0': '\0' } })], 0);
    expect((await rows())[0]).toMatchObject({ feedback: 'a\ufffdb\ufffd' });
  });
});

describe('late rewards', () => {
  async function awaiting(rolloutSeconds = 30) {
    const token = (await lease())!;
    const [claim] = (await swap(token, [], 1)).claims;
    const word = outcome(claim!, { status: 'awaiting_reward', reward: null, feedback: null, details: null });
    await swap(token, [word], 0, rolloutSeconds);
    return { token, claim: claim! };
  }
  const settle = (id: string, reward: number) =>
    db.org('default', async (tx) =>
      settleAwaited(tx, job, await lockJob(tx, job), { rolloutId: id, reward, details: { feedback: 'late' } }),
    );

  test('keep the slot until the reward arrives, and count once', async () => {
    const { token, claim } = await awaiting();
    expect(await swap(token, [], 0)).toMatchObject({ awaiting: 1, counts: { succeeded: 0 } });
    expect(await listedMean()).toBeNull();
    expect(await eventKeys()).toEqual([]);
    expect(await settle(claim.rolloutId, 0.25)).toBe(true);
    expect(await settle(claim.rolloutId, 0.5)).toBe(false);
    expect(await swap(token, [], 0)).toMatchObject({ awaiting: 0, counts: { succeeded: 1 } });
    expect((await rows())[0]).toMatchObject({ status: 'succeeded', reward: 0.25, feedback: 'late' });
    expect(await listedMean()).toBe(0.25);
  });

  test('fail the row when missing at the deadline', async () => {
    const { token, claim } = await awaiting(-1);
    expect(await swap(token, [], 0)).toMatchObject({ awaiting: 0, counts: { failed: 1 } });
    expect((await rows())[0]).toMatchObject({ status: 'failed', reward: null });
    expect(await settle(claim.rolloutId, 1)).toBe(false);
  });

  test('count after the deadline if the failure is not recorded yet', async () => {
    const { token, claim } = await awaiting();
    await db.org('default', (tx) =>
      tx.query(`update rollouts set deadline_at = now() - interval '1 second' where id = $1`, [claim.rolloutId]),
    );
    expect(await settle(claim.rolloutId, 1)).toBe(true);
    expect(await swap(token, [], 0)).toMatchObject({ awaiting: 0, counts: { succeeded: 1, failed: 0 } });
  });

  test('occupy slots in the exchange that reports them, and for the next runner', async () => {
    const token = (await lease())!;
    const [claim] = (await swap(token, [], 1)).claims;
    const word = outcome(claim!, { status: 'awaiting_reward', reward: null, feedback: null, details: null });
    expect(await swap(token, [word], 1)).toMatchObject({ awaiting: 1, claims: [] });
    await expireLease();
    const next = (await lease())!;
    expect((await swap(next, [], 1)).claims).toEqual([]);
    expect((await swap(next, [], 2)).claims).toHaveLength(1);
  });

  test.each([
    ['that it comes later', { status: 'awaiting_reward', reward: null, feedback: null, details: null }],
    ['with another reward', { reward: 0.25 }],
    [
      'that it failed',
      { status: 'failed', reward: null, error: { code: 'x', message: 'x', infrastructure: false, connect: true } },
    ],
  ] satisfies [string, Partial<Outcome>][])('count when reported before the container’s answer %s', async (_, word) => {
    const token = (await lease())!;
    const [claim] = (await swap(token, [], 1)).claims;
    await db.org('default', (tx) =>
      recordReward(tx, job, {
        rolloutId: claim!.rolloutId,
        correlationId: null,
        candidateId: null,
        reward: 0.75,
        details: { feedback: 'early' },
        body: { reward_info: { outcome_reward: 0.75, details: { feedback: 'early' } } },
      }),
    );
    expect(await swap(token, [outcome(claim!, word)], 0)).toMatchObject({
      awaiting: 0,
      counts: { succeeded: 1, failed: 0, connectFailuresInARow: 0 },
    });
    expect((await rows())[0]).toMatchObject({ status: 'succeeded', reward: 0.75, feedback: 'early', error: null });
  });

  test('do not settle a rollout that does not wait', async () => {
    expect(await settle(rolloutId(job.jobId, 0), 1)).toBe(false);
  });
});

const anyError = { code: 'internal', message: 'failed', retryable: false };

describe('the end of a job', () => {
  const end = (status: 'completed' | 'cancelled' | 'failed', accepted: string[] = []) =>
    db.org('default', (tx) =>
      finishJob(tx, job, {
        status,
        stoppedBy: status,
        error: null,
        events: endEvents('evaluation', status === 'failed' ? { status, error: anyError } : { status }),
        accepted,
      }),
    );

  test('is final, and refuses later writes', async () => {
    const token = (await lease())!;
    const [claim] = (await swap(token, [], 1)).claims;
    expect(await end('cancelled')).toBe(true);
    expect(await end('failed')).toBe(false);
    expect(await swap(token, [outcome(claim!)], 3)).toMatchObject({ held: false, control: 'stop', claims: [] });
    await db.org('default', (tx) => recordDecision(tx, job, { status: 'running', events: [paused(1, null)] }));
    expect(await eventKeys()).toEqual(['end']);
    expect(await rows()).toMatchObject([{ status: 'cancelled' }, { status: 'cancelled' }, { status: 'cancelled' }]);
    const [row] = await db.org('default', (tx) =>
      tx.query('select status, stopped_by from jobs where id = $1', [job.jobId]),
    );
    expect(row).toEqual({ status: 'cancelled', stopped_by: 'cancelled' });
  });

  test('settles every open command: accepted if it caused the end, else refused', async () => {
    await db.org('default', (tx) =>
      tx.query(
        `insert into commands (id, org_id, job_id, kind) values ('a' || $1, 'default', $1, 'stop'), ('b' || $1, 'default', $1, 'pause'), ('c' || $1, 'default', $1, 'cancel')`,
        [job.jobId],
      ),
    );
    await end('completed', [`a${job.jobId}`]);
    const settled = await db.org('default', (tx) =>
      tx.query('select left(id, 1) as id, outcome, status_after from commands where job_id = $1 order by id', [
        job.jobId,
      ]),
    );
    expect(settled).toEqual([
      { id: 'a', outcome: 'accepted', status_after: 'completed' },
      { id: 'b', outcome: 'refused', status_after: 'completed' },
      { id: 'c', outcome: 'refused', status_after: 'completed' },
    ]);
  });

  test('leaves no command open, including one that arrives at the same moment', async () => {
    const send = () => db.org('default', (tx) => insertCommand(tx, job, { kind: 'pause', keyId: null }));
    const [, ...sent] = await Promise.all([end('completed'), ...Array.from({ length: 20 }, send)]);
    expect(await send()).toEqual({ closed: 'completed' });
    const written = sent.filter((command) => 'commandId' in command);
    const settled = await db.org('default', (tx) =>
      tx.query('select id from commands where job_id = $1 and outcome is not null', [job.jobId]),
    );
    expect(settled).toHaveLength(written.length);
  });
});

test('reports rollouts as whole once all exist with their candidates', async () => {
  const whole = (to: number) => db.org('default', (tx) => areWhole(tx, job.jobId, 0, to));
  expect(await whole(3)).toBe(true);
  expect(await whole(4)).toBe(false);
  const next = { ordinal: 3, candidate: 1, seed: 1, stage: 'evaluation' as const, generation: 1 };
  await db.org('default', (tx) => planRollouts(tx, job, [next], true));
  expect(await whole(4)).toBe(false);
  await db.org('default', (tx) =>
    addCandidate(tx, job, { leverVersion: 1, generation: 1, parents: [0], messages: [] }),
  );
  expect(await whole(4)).toBe(true);
});
