import { afterAll, expect, test } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { check } from '../harness/rules/checker.js';
import type { Kill } from '../harness/evidence/evidence.js';
import { found } from '../harness/evidence/found.js';
import { startEvaluation, startSession, type JobPlan } from '../harness/jobs/jobs.js';
import { conclude, newRound, Worlds } from '../harness/round.js';
import { callsTo, killOnce, killScene, patientPlan } from '../harness/scene.js';
import { judgeFrames } from '../support/frames.js';
import { ended } from '../support/jobs-over-http.js';
import { until } from '../support/until.js';

// kill -9 of the whole `npm start` tree, three times, at seeded moments of an evaluation and of a
// session. The rules of `test/harness/rules` judge it from ledgers outside the product, and the
// session finds what one without a kill finds, by the same path.

const seed = 20_261_121;
const kills = 3;
const plan: JobPlan = {
  ...patientPlan(80),
  nature: { faults: 0, workMs: [1, 30], asks: 1, patienceMs: 25_000, attemptStep: 0 },
};

const folder = mkdtempSync(join(tmpdir(), 'ratchet-kill-'));
const worlds = new Worlds();
const round = newRound('kill', seed, folder, worlds);

afterAll(async () => {
  for (const end of round.after.reverse()) await end();
  await worlds.stop();
  rmSync(folder, { recursive: true });
}, 60_000);

test('loses nothing and repeats no recorded rollout', async () => {
  const scene = await killScene(round, 'tree');
  const { world, where } = scene;
  const search = (name: string) => startSession({ ...where, choice: round.choice.of('session') }, name, plan);
  const calm = await search('calm');
  await ended(world, calm.id, 120);

  const killed = await search('killed');
  const jobs = [killed, await startEvaluation(where, 'evaluation', plan)];
  const killings: Kill[] = [];
  for (let kill = 0; kill < kills; kill += 1) {
    const moment = 20 + kill * 40 + round.choice.between(0, 25);
    await until(`${moment} calls have come`, () => callsTo(jobs) >= moment, 120);
    await killOnce(scene, killings);
  }
  const evidence = await conclude(round, scene, [calm, ...jobs], { kills: killings });
  expect(check(evidence)).toEqual([]);
  expect(evidence.jobs.map(({ status }) => status)).toEqual(['completed', 'completed', 'completed']);
  expect(await found(world.sql, killed.id)).toEqual(await found(world.sql, calm.id));
  // At each kill at most the calls in flight, and as many whose answers were on their way to
  // Postgres.
  const resent = evidence.jobs.reduce((sum, job) => sum + job.resent, 0);
  expect(resent).toBeLessThanOrEqual(kills * 2 * jobs.length * plan.maxConcurrent);
  await judgeFrames(world.api, killed.id);
}, 600_000);
