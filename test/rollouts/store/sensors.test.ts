import { beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { candidateId, rolloutId } from '../../../src/core/jobs/ids.js';
import type { Stage } from '../../../src/core/search/protocol.js';
import { addCandidate } from '../../../src/candidates/store/candidates.js';
import { readRunMeans, readSpending } from '../../../src/kinds/graph/store/download.js';
import { lockJob, type JobRef } from '../../../src/jobs/store/events.js';
import { expireAwaiting, settleAwaited } from '../../../src/rollouts/store/outcomes.js';
import { finishJob, recordDecision } from '../../../src/jobs/store/decisions/record.js';
import { planRollouts } from '../../../src/rollouts/store/rollouts.js';
import { maxTraces, readFrames, readLatestFrames, type FrameRow } from '../../../src/rollouts/store/sensors.js';
import { insertJob } from '../../support/job.js';
import { runs } from '../../support/runs.js';
import { databaseOfFile } from '../../support/database-of-file.js';

// Invariants: each finished rollout of a session is in exactly one frame, despite repeated writes
// and any end; a frame has one candidate in one batch of one stage; unknown values are null.

const db = databaseOfFile(4);
let job: JobRef;
beforeEach(async () => {
  job = await newSession();
});

async function newSession(): Promise<JobRef> {
  const created = await insertJob(db);
  await db.org('default', async (tx) => {
    await tx.query(`update jobs set kind = 'session' where id = $1`, [created.jobId]);
    for (const leverVersion of [0, 1, 2]) {
      const messages = [{ role: 'system' as const, content: `prompt ${leverVersion}` }];
      await addCandidate(tx, created, { leverVersion, generation: 0, parents: [], messages });
    }
  });
  return created;
}

interface Seeded {
  candidate: number;
  stage: Stage;
  status: 'succeeded' | 'failed' | 'running' | 'awaiting_reward';
  reward: number;
  resent: number;
  latencyMs: number | null;
  /** For each call its tokens and its price; null: unknown. */
  calls: { tokens: number | null; cost: number | null }[];
}

const one: Seeded = {
  candidate: 0,
  stage: 'evaluation',
  status: 'succeeded',
  reward: 1,
  resent: 0,
  latencyMs: 5,
  calls: [{ tokens: 3, cost: 0.5 }],
};

/** Adds finished rollouts from the ordinal `from` on. */
async function add(from: number, rollouts: readonly Seeded[]): Promise<void> {
  await db.org('default', async (tx) => {
    const requests = rollouts.map(({ candidate, stage }, index) => {
      return { ordinal: from + index, candidate, seed: index, stage, generation: stage === 'baseline' ? 0 : 1 };
    });
    await planRollouts(tx, job, requests, true);
    await Promise.all(
      rollouts.map(async ({ status, reward, resent, latencyMs, calls }, index) => {
        const id = rolloutId(job.jobId, from + index);
        const isTold = calls.length > 0 && calls.every(({ tokens }) => tokens !== null);
        const tokens = isTold ? calls.reduce((sum, call) => sum + call.tokens!, 0) : null;
        const isPriced = calls.length > 0 && calls.every(({ cost }) => cost !== null);
        const isFinished = status === 'succeeded' || status === 'failed';
        await tx.query(
          `update rollouts set status = $2, reward = $3, resent = $4, latency_ms = $5, prompt_tokens = $6, completion_tokens = $6,
                  cost_usd = $7, deadline_at = case when $2 = 'awaiting_reward' then now() - interval '1 second' end where id = $1`,
          [
            id,
            status,
            status === 'succeeded' ? reward : null,
            resent,
            isFinished ? latencyMs : null,
            isFinished ? tokens : null,
            isFinished && isPriced ? calls.reduce((sum, { cost }) => sum + cost!, 0) : null,
          ],
        );
        for (const [n, call] of calls.entries()) {
          await tx.query(
            `insert into model_calls (id, org_id, job_id, purpose, rollout_id, request_hash, occurrence, provider, model, request, http_status,
                                      prompt_tokens, completion_tokens, cost_usd)
             values ($1, 'default', $2, 'rollout', $3, '', $4, 'p', 'm', '{}', 200, $5, $5, $6)`,
            [`call_${id}_${n}`, job.jobId, id, n, call.tokens, call.cost],
          );
        }
      }),
    );
  });
}

const decide = (outcomesThrough: number) => db.org('default', (tx) => recordDecision(tx, job, { outcomesThrough }));
const finish = (outcomesThrough?: number) =>
  db.org('default', (tx) =>
    finishJob(tx, job, {
      status: 'completed' as const,
      stoppedBy: null,
      error: null,
      events: [],
      accepted: [],
      ...(outcomesThrough !== undefined && { outcomesThrough }),
    }),
  );
const frames = () => db.org('default', (tx) => readFrames(tx, job.jobId, { after: -1, limit: 1_000 }));
const only = async (): Promise<FrameRow> => {
  const all = await frames();
  expect(all).toHaveLength(1);
  return all[0]!;
};

describe('frames', () => {
  test('summarize the readings of each sensor', async () => {
    const latencies = Array.from({ length: 20 }, (_, n) => n + 1);
    await add(
      0,
      latencies.map((latencyMs, n) => ({
        ...one,
        latencyMs,
        reward: n % 4,
        ...(n === 19 && { status: 'failed' as const, resent: 2 }),
      })),
    );
    await db.org('default', (tx) => tx.query('update job_controls set concurrency = 1 where job_id = $1', [job.jobId]));
    await decide(20);
    const { rollout, reward, resource, traceIds, ...frame } = await only();
    expect(frame).toMatchObject({
      ordinal: 0,
      candidateId: candidateId(job.jobId, 0),
      leverVersion: 0,
      stage: 'evaluation',
      generation: 1,
    });
    expect(traceIds).toEqual(latencies.map((_, n) => rolloutId(job.jobId, n)));
    expect(rollout).toEqual({ count: 20, succeeded: 19, failed: 1, resent: 2 });
    // The rewards 0, 1, 2, 3 five times each, without the last 3.
    expect(reward).toMatchObject({ count: 19, min: 0, max: 3 });
    expect(reward!.mean).toBeCloseTo(27 / 19, 12);
    expect(reward!.sd).toBeCloseTo(Math.sqrt((61 - 27 ** 2 / 19) / 18), 12);
    expect(resource).toEqual({
      prompt_tokens: 60,
      completion_tokens: 60,
      cost_usd: 10,
      latency_ms_p50: 10,
      latency_ms_p95: 19,
      latency_ms_max: 20,
      concurrency: 1,
    });
  });

  test('name at most a hundred traces, and have the number of rollouts', async () => {
    await add(
      0,
      Array.from({ length: maxTraces + 30 }, () => ({ ...one, calls: [] })),
    );
    await decide(maxTraces + 30);
    const { traceIds, rollout } = await only();
    expect(traceIds).toEqual(Array.from({ length: maxTraces }, (_, n) => rolloutId(job.jobId, n)));
    expect(rollout).toMatchObject({ count: maxTraces + 30 });
  });

  test('have no reading of unknown values', async () => {
    const silent = { ...one, status: 'failed' as const, latencyMs: null, calls: [] };
    await add(0, [silent, silent]);
    await decide(2);
    expect(await only()).toMatchObject({ rollout: { count: 2, failed: 2 }, reward: null, resource: null });
  });

  test.each([
    ['one call has no price', [{ tokens: 3, cost: null }], null, 6],
    ['one call reports nothing', [{ tokens: null, cost: null }], null, null],
    ['a rollout makes no call', [], 0.5, 3],
  ])('where %s the cost is %3$p and the tokens are %4$p', async (_, calls, cost, tokens) => {
    await add(0, [one, { ...one, calls }]);
    await decide(2);
    expect((await only()).resource).toMatchObject({ cost_usd: cost, prompt_tokens: tokens, completion_tokens: tokens });
    // So do the sums of a graph's download, over the job and for a candidate.
    const { spending, means } = await db.org('default', async (tx) => ({
      spending: await readSpending(tx, job.jobId),
      means: await readRunMeans(tx, job.jobId, [candidateId(job.jobId, one.candidate)]),
    }));
    expect(spending).toMatchObject([{ promptTokens: tokens, completionTokens: tokens, usd: cost }]);
    const mean = tokens === null ? null : tokens / 2;
    expect(means).toMatchObject([{ promptTokens: mean, completionTokens: mean }]);
  });

  test('have no deviation for a single reward, 0 for equal rewards, and a finite one for the largest', async () => {
    const batch = (from: number, rewards: number[]) =>
      add(
        from,
        rewards.map((reward) => ({ ...one, reward })),
      );
    await batch(0, [0.1]);
    await decide(1);
    await batch(1, [0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1]);
    await decide(8);
    await batch(8, [-1.7e308, 1.7e308]);
    await decide(10);
    const rewards = (await frames()).map(({ reward }) => reward!);
    expect(rewards.map(({ sd }) => sd)).toEqual([null, 0, expect.closeTo(Math.SQRT2 * 1e300, -290)]);
    expect(rewards[2]).toMatchObject({ mean: 0, min: -1e300, max: 1e300 });
  });

  test('contain one batch each: a repeated rollout is in the frame of its own batch', async () => {
    await add(0, [one, one]);
    await decide(2);
    await add(2, [one]);
    await decide(3);
    expect((await frames()).map(({ traceIds }) => traceIds.length)).toEqual([2, 1]);
  });

  test('contain the finished rollouts of a session stopped within a batch, apart from the previous batch', async () => {
    await add(0, [one, one]);
    await add(2, [one, { ...one, status: 'running' }, { ...one, status: 'failed' }]);
    // The decision on the first batch was not written separately.
    expect(await finish(2)).toBe(true);
    expect(await finish(2)).toBe(false);
    expect((await frames()).map(({ traceIds }) => traceIds)).toEqual([
      [0, 1].map((n) => rolloutId(job.jobId, n)),
      [2, 4].map((n) => rolloutId(job.jobId, n)),
    ]);
  });

  test('are created even if the workflow could not report its search state', async () => {
    await add(0, [one]);
    await decide(1);
    await add(1, [one, { ...one, status: 'running' }]);
    await finish();
    expect((await frames()).map(({ traceIds }) => traceIds)).toEqual(
      [[0], [1]].map(([n]) => [rolloutId(job.jobId, n!)]),
    );
  });

  test('do not exist for an evaluation', async () => {
    await db.org('default', (tx) => tx.query(`update jobs set kind = 'evaluation' where id = $1`, [job.jobId]));
    await add(0, [one]);
    await finish();
    expect(await frames()).toEqual([]);
  });
});

test('include the container’s usage so far of a rollout with a late reward', async () => {
  await add(0, [
    { ...one, status: 'awaiting_reward' },
    { ...one, status: 'awaiting_reward' },
  ]);
  await db.org('default', async (tx) => {
    const row = await lockJob(tx, job);
    await settleAwaited(tx, job, row, { rolloutId: rolloutId(job.jobId, 0), reward: 1, details: null });
    await expireAwaiting(tx, job);
  });
  await decide(2);
  expect((await only()).resource).toMatchObject({ prompt_tokens: 6, completion_tokens: 6, cost_usd: 1 });
});

test('are paged and limited in the order of creation', async () => {
  for (const n of [0, 1, 2, 3, 4]) {
    await add(n, [one]);
    await decide(n + 1);
  }
  const page = (after: number) => db.org('default', (tx) => readFrames(tx, job.jobId, { after, limit: 2 }));
  const ordinals = (rows: FrameRow[]) => rows.map(({ ordinal }) => ordinal);
  expect([await page(-1), await page(1), await page(3)].map(ordinals)).toEqual([[0, 1], [2, 3], [4]]);
  const latest = await db.org('default', (tx) => readLatestFrames(tx, job.jobId, 3));
  expect([ordinals(latest.frames), latest.count]).toEqual([[2, 3, 4], 5]);
});

const seeded: fc.Arbitrary<Seeded> = fc.record({
  candidate: fc.nat(2),
  stage: fc.constant('gate' as const),
  status: fc.constantFrom('succeeded' as const, 'failed' as const),
  reward: fc.double({ noNaN: true, min: -2, max: 2 }),
  resent: fc.nat(2),
  latencyMs: fc.nat(1_000),
  calls: fc.array(fc.record({ tokens: fc.nat(99), cost: fc.option(fc.integer({ min: 1, max: 64 }), { freq: 9 }) }), {
    maxLength: 2,
  }),
});

test('contain every finished rollout once, and add up to the totals', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.array(seeded, { minLength: 1, maxLength: 5 }), fc.boolean()), {
        maxLength: 4,
      }),
      fc.array(seeded, { maxLength: 4 }),
      fc.infiniteStream(fc.boolean()),
      async (batches, last, isCut) => {
        job = await newSession();
        const all: Seeded[] = [];
        for (const [rollouts, isAgain] of batches) {
          await add(all.length, rollouts);
          all.push(...rollouts);
          await decide(all.length);
          if (isAgain) await decide(all.length);
        }
        const through = all.length;
        const rest = last.map((rollout) => (isCut.next().value ? { ...rollout, status: 'running' as const } : rollout));
        await add(through, rest);
        all.push(...rest);
        await finish(through);

        const made = await frames();
        const finished = [...all.keys()].filter((n) => all[n]!.status !== 'running');
        expect(made.flatMap(({ traceIds }) => traceIds).sort()).toEqual(
          finished.map((n) => rolloutId(job.jobId, n)).sort(),
        );
        for (const { traceIds, candidateId: candidate, rollout, reward, resource } of made) {
          const mine = traceIds.map((id) => all[Number(id.split('_').at(-1))]!);
          expect(new Set(mine.map((rollout) => candidateId(job.jobId, rollout.candidate)))).toEqual(
            new Set([candidate]),
          );
          const succeeded = mine.filter(({ status }) => status === 'succeeded');
          expect(rollout).toEqual({
            count: mine.length,
            succeeded: succeeded.length,
            failed: mine.length - succeeded.length,
            resent: mine.reduce((sum, { resent }) => sum + resent, 0),
          });
          expect(reward?.count ?? 0).toBe(succeeded.length);
          if (reward)
            expect(reward.mean * reward.count).toBeCloseTo(
              succeeded.reduce((sum, r) => sum + r.reward, 0),
              9,
            );
          const calls = mine.flatMap((rollout) => rollout.calls);
          const tokens = calls.length > 0 ? calls.reduce((sum, call) => sum + call.tokens!, 0) : null;
          const isKnown = calls.length > 0 && calls.every(({ cost }) => cost !== null);
          expect(resource).toMatchObject({
            prompt_tokens: tokens,
            completion_tokens: tokens,
            cost_usd: isKnown ? calls.reduce((sum, { cost }) => sum + cost!, 0) : null,
          });
        }
      },
    ),
    { numRuns: runs(10, 40) },
  );
});
