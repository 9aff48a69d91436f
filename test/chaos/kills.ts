import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { until } from '../support/until.js';
import type { Evidence } from './evidence.js';
import { startEvaluation, startSession, type Job, type JobPlan } from './jobs.js';
import type { Judged } from './kinds.js';
import { conclude, type Round } from './round.js';
import type { Target } from './world.js';

/** A container that works for a while and goes on asking for its model as long as its rollout is wanted. */
export const patientPlan = (seeds: number): JobPlan => ({
  nature: { faults: 0, workMs: [30, 200], asks: 2, patienceMs: 25_000 },
  seeds,
  generations: 3,
  maxConcurrent: 3,
  rolloutTimeout: 40,
  mayEnd: ['completed'],
});

/** A kill comes this long after so many percent of an evaluation's rollouts have come since the last, or the job has ended. */
const afterPercent = [0, 45] as const;
const afterMs = [0, 400] as const;
const mostKills = 2;
/** These hold runners of rollouts. */
const runners: Target[] = ['tree', 'worker'];

/** kill -9 at random moments of an evaluation and a session that run at once. */
export const killKinds: Judged[] = (['tree', 'worker', 'api', 'temporal', 'postgres'] as const).map((target) => ({
  name: `kill-${target}`,
  play: (round) => killRound(round, target),
}));

async function killRound(round: Round, target: Target): Promise<Evidence> {
  const { dice, folder, worlds, after } = round;
  const embedded = target === 'tree' || ((target === 'temporal' || target === 'postgres') && dice.chance(50));
  const world = await worlds.get(embedded ? 'dev' : 'split');
  const model = world.model.begin(dice.of('model'), join(folder, 'model.jsonl'), 0);
  const where = { world, folder, dice, after };
  const plan = patientPlan(dice.between(40, 70));
  const jobs = [await startEvaluation(where, 'evaluation', plan), await startSession(where, 'session', plan)];
  const kills: Evidence['kills'] = [];
  for (let left = dice.between(1, mostKills); left > 0; left -= 1) {
    await progress(jobs[0]!, (plan.seeds * dice.between(...afterPercent)) / 100);
    await delay(dice.between(...afterMs));
    kills.push({
      at: Date.now(),
      what: embedded ? `${target} of npm start` : target,
      worker: runners.includes(target),
    });
    await world.kill(target, dice);
  }
  return conclude(round, world, jobs, { model, kills, lastFaultAt: Date.now() });
}

/** Resolves when so many more calls have come to the job's container, or none comes any more because all have come. */
async function progress(job: Job, calls: number): Promise<void> {
  const count = () => job.container.ledger.lines().filter(({ event }) => event === 'in').length;
  const wanted = Math.min(count() + calls, job.seeds.length);
  await until(`${wanted} calls have come to ${job.name}`, () => count() >= wanted, 60);
}
