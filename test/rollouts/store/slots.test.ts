import { beforeEach, describe, expect, test } from '@jest/globals';
import { addCandidate } from '../../../src/candidates/store/candidates.js';
import { callerRolloutId } from '../../../src/rollouts/store/calls.js';
import { lockJob, type JobRef } from '../../../src/jobs/store/events.js';
import { finishJob, recordDecision } from '../../../src/jobs/store/decisions/record.js';
import { recordReward } from '../../../src/rollouts/store/rewards.js';
import { readAnswers } from '../../../src/rollouts/store/rollouts.js';
import {
  assignRollout,
  clearWake,
  takeLostWake,
  publishSlots,
  readTraffic,
  type LiveCall,
} from '../../../src/rollouts/store/slots.js';
import { insertJob } from '../../support/job.js';
import { until } from '../../support/until.js';
import { databaseOfFile } from '../../support/database-of-file.js';

// Invariants: a slot has one call at a time and one answer; a correlation id keeps its candidate;
// nothing is claimed while the job may not start anything.

const db = databaseOfFile(8);
let job: JobRef;
beforeEach(async () => {
  job = await insertJob(db);
  for (const leverVersion of [0, 1]) {
    const messages = [{ role: 'system' as const, content: `prompt ${leverVersion}` }];
    await db.org('default', (tx) => addCandidate(tx, job, { leverVersion, generation: 0, parents: [], messages }));
  }
});

const candidate = (version: number) => `cand_${job.jobId.slice(4)}_${version}`;
const publish = (count: number, from = 0) =>
  db.org('default', async (tx) => {
    await lockJob(tx, job);
    await publishSlots(
      tx,
      job,
      Array.from({ length: count }, (_, index) => {
        return { ordinal: from + index, candidate: 1, seed: index, stage: 'gate' as const, generation: 1 };
      }),
    );
  });
const claim = (correlationId: string, more: Partial<LiveCall> = {}) =>
  db.orgApart('default', (tx) =>
    assignRollout(tx, job, { correlationId, seed: null, bestCandidateId: candidate(0), rewardSeconds: 60, ...more }),
  );
const reward = (correlationId: string, value: number) =>
  db.org('default', (tx) =>
    recordReward(tx, job, {
      reward: value,
      correlationId,
      rolloutId: null,
      candidateId: null,
      details: { feedback: `said of ${correlationId}` },
      body: {},
    }),
  );
const traffic = () => db.org('default', (tx) => readTraffic(tx, job.jobId));
const answers = (to: number) => db.org('default', (tx) => readAnswers(tx, job.jobId, 0, to));
const control = (value: string) =>
  db.org('default', (tx) =>
    recordDecision(tx, job, { status: value === 'run' ? ('running' as const) : ('paused' as const) }),
  );
const many = <T>(count: number, work: (n: number) => Promise<T>) =>
  Promise.all(Array.from({ length: count }, (_, n) => work(n)));

describe('claims', () => {
  test('give concurrent calls different slots; further calls get the best', async () => {
    await publish(20);
    const claimed = await many(60, (n) => claim(`c${n}`));
    const served = claimed.map(({ candidateId }) => candidateId);
    expect(served.filter((id) => id === candidate(1))).toHaveLength(20);
    expect(served.filter((id) => id === candidate(0))).toHaveLength(40);
    expect(claimed.find(({ candidateId }) => candidateId === candidate(1))!.messages).toEqual([
      { role: 'system', content: 'prompt 1' },
    ]);
    expect(new Set(claimed.map(({ rollout }) => rollout.idx)).size).toBe(60);
    expect(await traffic()).toEqual({ traffic: 'unpaired', wanted: 20, claimed: 20 });
  });

  test('give concurrent calls of a correlation id one slot, and keep its candidate', async () => {
    await publish(5);
    const claimed = await many(12, () => claim('same'));
    expect(new Set(claimed.map(({ rollout, candidateId }) => `${rollout.id} ${candidateId}`)).size).toBe(1);
    expect(await traffic()).toMatchObject({ claimed: 1 });
  });

  test('ignore a named seed in a comparison without seeds', async () => {
    await publish(2);
    await claim('first');
    const { rollout } = await claim('second', { seed: 1 });
    const rows = await db.org('default', (tx) =>
      tx.query('select seed, slot from rollouts where id = $1', [rollout.id]),
    );
    expect(rows).toEqual([{ seed: null, slot: 1 }]);
  });

  test('take the comparison from the first call; with seeds only slots of the call’s seed', async () => {
    await publish(3);
    expect((await claim('a', { seed: 2 })).candidateId).toBe(candidate(1));
    expect((await claim('b', { seed: 2 })).candidateId).toBe(candidate(0));
    expect((await claim('c', { seed: 99 })).candidateId).toBe(candidate(0));
    expect((await claim('d')).candidateId).toBe(candidate(0));
    expect(await traffic()).toEqual({ traffic: 'paired', wanted: 3, claimed: 1 });
  });

  test('take no slot of a paused job; calls in flight count', async () => {
    await publish(2);
    await claim('before');
    await control('pause');
    expect((await claim('meanwhile')).candidateId).toBe(candidate(0));
    expect((await reward('before', 1)).is).toBe('counted');
    await control('run');
    expect((await claim('after')).candidateId).toBe(candidate(1));
    // It got the best candidate, and keeps it.
    expect((await claim('meanwhile')).candidateId).toBe(candidate(0));
  });

  test('take no slot for a call with an earlier reward, which gets no other', async () => {
    await publish(1);
    expect((await reward('early', 1)).is).toBe('counted');
    expect((await claim('early')).candidateId).toBe(candidate(0));
    expect(await traffic()).toMatchObject({ claimed: 0 });
  });
});

describe('a claim waiting for the job’s lock', () => {
  test('releases its slot if its own reward arrived meanwhile', async () => {
    await publish(1);
    let claimed: ReturnType<typeof claim> | undefined;
    await db.org('default', async (tx) => {
      await lockJob(tx, job);
      claimed = claim('hasty');
      // Postgres reports the wait, so the snapshot is taken.
      await until('the claim waits', async () => {
        const rows = await tx.query(
          `select 1 from pg_locks
            where not granted and locktype = 'transactionid' and transactionid = pg_current_xact_id()::xid`,
        );
        return rows.length > 0;
      });
      const report = { reward: 1, correlationId: 'hasty', rolloutId: null, candidateId: null, details: null, body: {} };
      await recordReward(tx, job, report);
    });
    await claimed;
    expect(await traffic()).toMatchObject({ wanted: 1, claimed: 0 });
    await claim('next');
    expect(await reward('next', 0.5)).toMatchObject({ wakes: true });
  });
});

describe('rewards', () => {
  test('in any order, and twice: each slot has one answer; the last one wakes the workflow', async () => {
    await publish(4);
    await many(4, (n) => claim(`c${n}`));
    const woken: boolean[] = [];
    for (const n of [2, 0, 3, 1]) {
      woken.push((await reward(`c${n}`, n / 10)).wakes);
      expect(await reward(`c${n}`, n / 10)).toMatchObject({ is: 'duplicate', wakes: false });
      expect(await reward(`c${n}`, 9)).toMatchObject({ is: 'conflict', recorded: n / 10, wakes: false });
    }
    expect(woken).toEqual([false, false, false, true]);
    const known = (await answers(4))!.map(({ reward: value }) => value);
    expect([...known].sort()).toEqual([0, 0.1, 0.2, 0.3]);
    // A second publication, as after a crash, adds nothing.
    await publish(4);
    expect(await traffic()).toMatchObject({ wanted: 0 });
    const rows = await db.org('default', (tx) =>
      tx.query('select 1 from events where job_id = $1 and type = $2', [job.jobId, 'eval.policy.seed.completed']),
    );
    expect(rows).toHaveLength(4);
  });

  test('concurrent: exactly one is the last', async () => {
    await publish(30);
    await many(30, (n) => claim(`c${n}`));
    const outcomes = await many(30, (n) => reward(`c${n}`, 1));
    expect(outcomes.filter(({ wakes }) => wakes)).toHaveLength(1);
    expect(await answers(30)).toHaveLength(30);
  });

  test('missing: after the deadline another call gets the slot, too', async () => {
    await publish(1);
    await claim('silent', { rewardSeconds: -1 });
    expect(await traffic()).toMatchObject({ wanted: 1, claimed: 0 });
    expect((await claim('next')).candidateId).toBe(candidate(1));
    expect((await claim('one too many')).candidateId).toBe(candidate(0));
    expect(await reward('next', 0.5)).toMatchObject({ is: 'counted', wakes: true });
    expect(await answers(1)).toEqual([{ ordinal: 0, reward: 0.5, infrastructure: false }]);
  });

  test('late: the first reward of either call answers the slot; the other one is stored only', async () => {
    await publish(1);
    await claim('slow', { rewardSeconds: -1 });
    await claim('next');
    expect(await reward('slow', 1)).toMatchObject({ is: 'counted', wakes: true });
    expect(await reward('next', 0.5)).toMatchObject({ is: 'counted', wakes: false });
    expect(await answers(1)).toEqual([{ ordinal: 0, reward: 1, infrastructure: false }]);
  });

  test('open slots are claimed before overdue ones', async () => {
    await publish(2);
    await claim('slow', { rewardSeconds: -1 });
    await claim('other');
    expect(await reward('other', 0.5)).toMatchObject({ wakes: false });
    expect(await reward('slow', 1)).toMatchObject({ wakes: true });
    expect(await answers(2)).toMatchObject([{ reward: 1 }, { reward: 0.5 }]);
  });

  test('of the caller’s own traffic are stored and answer no slot', async () => {
    await publish(1);
    await claim('a');
    await claim('own');
    expect(await reward('own', 1)).toMatchObject({ is: 'counted', wakes: false });
    expect(await answers(1)).toBeNull();
  });

  test('their feedback is the material of reflection', async () => {
    await publish(1);
    const { rollout } = await claim('a');
    expect(rollout.id).toBe(callerRolloutId(job.jobId, 'a'));
    await reward('a', 0);
    const rows = await db.org('default', (tx) =>
      tx.query('select ordinal, stage, feedback, status from rollouts where id = $1', [rollout.id]),
    );
    expect(rows).toEqual([{ ordinal: 0, stage: 'gate', feedback: 'said of a', status: 'succeeded' }]);
  });
});

describe('wake-up', () => {
  test('a lost notification is detected until the workflow has read the answers', async () => {
    await publish(1);
    await claim('a');
    const isLost = (seconds: number) => db.org('default', (tx) => takeLostWake(tx, job.jobId, seconds));
    expect(await isLost(-1)).toBe(false);
    await reward('a', 1);
    expect(await isLost(60)).toBe(false);
    // It checks by itself after a resume.
    await control('pause');
    expect(await isLost(-1)).toBe(false);
    await control('run');
    expect(await isLost(-1)).toBe(true);
    // The next worker need not notify it, too.
    expect(await isLost(-1)).toBe(false);
    expect(await isLost(-60)).toBe(true);
    await db.org('default', (tx) => clearWake(tx, job.jobId));
    expect(await isLost(-1)).toBe(false);
  });
});

describe('the end', () => {
  test('removes open slots, and leaves calls in flight without an outcome', async () => {
    await publish(2);
    const { rollout } = await claim('a');
    const { rollout: own } = await claim('b');
    await reward('b', 1);
    await db.org('default', (tx) =>
      finishJob(tx, job, { status: 'cancelled', stoppedBy: 'cancelled', error: null, events: [], accepted: [] }),
    );
    expect(await traffic()).toMatchObject({ wanted: 0, claimed: 0 });
    const statusOf = async (id: string) =>
      (await db.org('default', (tx) => tx.query('select status from rollouts where id = $1', [id])))[0];
    expect(await statusOf(rollout.id)).toEqual({ status: 'cancelled' });
    expect(await statusOf(own.id)).toEqual({ status: 'succeeded' });
    expect(await reward('a', 1)).toMatchObject({ is: 'closed', wakes: false });
  });
});
