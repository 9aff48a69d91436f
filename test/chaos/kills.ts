import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { until } from '../support/until.js';
import type { Kill } from '../harness/evidence/evidence.js';
import { startEvaluation, startSession, type Job, type JobPlan } from '../harness/jobs/jobs.js';
import type { Judged } from './kinds.js';
import type { Ledger, ModelLine } from '../harness/evidence/ledger.js';
import { conclude, type Round } from '../harness/round.js';
import type { Target, World } from '../harness/worlds/world.js';

/** A container that works for a while and calls its model while its rollout is wanted. */
export const patientPlan = (seeds: number): JobPlan => ({
  nature: { faults: 0, workMs: [30, 200], asks: 2, patienceMs: 25_000 },
  seeds,
  generations: 3,
  maxConcurrent: 3,
  rolloutTimeout: 40,
  mayEnd: ['completed'],
});

/** A kill follows a delay and a share of the remaining calls, or the last call. */
const afterPercent = [0, 45] as const;
const afterMs = [0, 400] as const;
const maxKills = 2;
/** Targets that hold runners of rollouts. */
const runners: Target[] = ['tree', 'worker', 'disk'];
/** Targets that client requests depend on. */
const servers: Target[] = ['tree', 'api', 'postgres', 'disk'];

export const targets: readonly Target[] = ['tree', 'worker', 'api', 'temporal', 'postgres'];

/** kill -9 at random moments of a concurrent evaluation and session. */
export const killKinds: Judged[] = targets.map((target) => ({
  name: `kill-${target}`,
  async play(round) {
    const { choice, folder, after } = round;
    const scene = await sceneOf(round, target);
    const { world, model } = scene;
    const where = { world, folder, choice, after };
    const plan = patientPlan(choice.between(40, 70));
    const jobs = [await startEvaluation(where, 'evaluation', plan), await startSession(where, 'session', plan)];
    const calls = () => callsTo(jobs[0]!.container!);
    const kills = await killAll(round, scene, { come: calls, toCome: plan.seeds, isOver: () => calls() >= plan.seeds });
    return conclude(round, world, jobs, { model, kills, lastFaultAt: Date.now() });
  },
}));

/** World, model and target of a round of kills. */
export interface Scene {
  target: Target;
  embedded: boolean;
  world: World;
  model: Ledger<ModelLine>;
}

/** Starts the world of a round in which `target` is killed. */
export async function sceneOf({ choice, folder, worlds }: Round, target: Target): Promise<Scene> {
  const isEither = target === 'temporal' || target === 'postgres';
  const embedded = target === 'tree' || target === 'disk' || (isEither && choice.chance(50));
  const world = await worlds.get(target === 'disk' ? 'small' : embedded ? 'dev' : 'split');
  return { target, embedded, world, model: world.model.begin(choice.of('model'), join(folder, 'model.jsonl'), 0) };
}

/** Call counters for the moments of kills: current and expected. */
interface Progress {
  come(): number;
  toCome: number;
  isOver(): boolean;
}

/** Kills the target once or twice, at random moments. */
export async function killAll(
  { choice }: Round,
  { target, embedded, world }: Scene,
  { come, toCome, isOver }: Progress,
): Promise<Kill[]> {
  const kills: Kill[] = [];
  for (let left = choice.between(1, maxKills); left > 0; left -= 1) {
    const wanted = come() + (toCome * choice.between(...afterPercent)) / 100;
    await until(`${wanted} calls have come`, () => come() >= wanted || isOver(), 60);
    await delay(choice.between(...afterMs));
    await killOnce({ choice }, { target, embedded, world }, kills);
  }
  return kills;
}

/** Kills the target; `kills` has it from its first moment on. */
export async function killOnce(
  { choice }: Pick<Round, 'choice'>,
  { target, embedded, world }: Pick<Scene, 'target' | 'embedded' | 'world'>,
  kills: Kill[],
): Promise<Kill> {
  const kill = {
    ...{ at: Date.now(), goneAt: Infinity, until: Infinity, what: embedded ? `${target} of npm start` : target },
    ...{ worker: runners.includes(target), serving: servers.includes(target) },
  };
  kills.push(kill);
  kill.goneAt = await world.kill(target, choice);
  kill.until = Date.now();
  return kill;
}

/** Number of calls that a container received. */
export const callsTo = (container: NonNullable<Job['container']>): number =>
  container.lines().filter(({ event }) => event === 'in').length;
