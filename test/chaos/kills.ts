import { setTimeout as delay } from 'node:timers/promises';
import type { Kill } from '../harness/evidence/evidence.js';
import { startEvaluation, startSession } from '../harness/jobs/jobs.js';
import { conclude } from '../harness/round.js';
import { callsTo, killOnce, killScene, patientPlan, type KillScene } from '../harness/scene.js';
import type { Target } from '../harness/worlds/world.js';
import { until } from '../support/until.js';
import type { Judged } from './kinds.js';

/** A kill follows a delay and a share of the remaining calls, or the last call. */
const afterPercent = [0, 45] as const;
const afterMs = [0, 400] as const;
const maxKills = 2;

export const targets: readonly Target[] = ['tree', 'worker', 'api', 'temporal', 'postgres'];

/** kill -9 at random moments of a concurrent evaluation and session. */
export const killKinds: Judged[] = targets.map((target) => ({
  name: `kill-${target}`,
  async play(round) {
    const scene = await killScene(round, target);
    const plan = patientPlan(round.choice.between(40, 70));
    const evaluation = await startEvaluation(scene.where, 'evaluation', plan);
    const jobs = [evaluation, await startSession(scene.where, 'session', plan)];
    const come = () => callsTo([evaluation]);
    const kills = await killAll(scene, { come, toCome: plan.seeds, isOver: () => come() >= plan.seeds });
    return conclude(round, scene, jobs, { kills });
  },
}));

/** Call counters for the moments of kills: current and expected. */
interface Progress {
  come(): number;
  toCome: number;
  isOver(): boolean;
}

/** Kills the target once or twice, at random moments. */
export async function killAll(scene: KillScene, { come, toCome, isOver }: Progress): Promise<Kill[]> {
  const { choice } = scene.where;
  const kills: Kill[] = [];
  for (let left = choice.between(1, maxKills); left > 0; left -= 1) {
    const wanted = come() + (toCome * choice.between(...afterPercent)) / 100;
    await until(`${wanted} calls have come`, () => come() >= wanted || isOver(), 60);
    await delay(choice.between(...afterMs));
    await killOnce(scene, kills);
  }
  return kills;
}
