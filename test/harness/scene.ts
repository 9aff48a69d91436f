import { join } from 'node:path';
import type { Kill } from './evidence/evidence.js';
import type { Ledger, ModelLine } from './evidence/ledger.js';
import type { Job, JobPlan, Where } from './jobs/jobs.js';
import type { Round, WorldName } from './round.js';
import type { Target, World } from './worlds/world.js';

/** A round's world, the ledger of its model, and where its jobs run. */
export interface Scene {
  world: World;
  model: Ledger<ModelLine>;
  where: Where;
}

/** Opens a scene whose model answers this percentage of its calls wrongly. */
export async function sceneIn(round: Round, name: WorldName, modelFaults = 0): Promise<Scene> {
  const { choice, folder, worlds, after } = round;
  const world = await worlds.get(name);
  const model = world.model.begin(choice.of('model'), join(folder, 'model.jsonl'), modelFaults);
  return { world, model, where: { world, folder, choice, after } };
}

/** A scene in which a target is killed. */
export interface KillScene extends Scene {
  target: Target;
  embedded: boolean;
}

/** Opens a scene in which `target` is killed. */
export async function killScene(round: Round, target: Target): Promise<KillScene> {
  const isEither = target === 'temporal' || target === 'postgres';
  const embedded = target === 'tree' || target === 'disk' || (isEither && round.choice.chance(50));
  const scene = await sceneIn(round, target === 'disk' ? 'small' : embedded ? 'dev' : 'split');
  return { target, embedded, ...scene };
}

/** Targets that hold runners of rollouts. */
const runners: Target[] = ['tree', 'worker', 'disk'];
/** Targets that client requests depend on. */
const servers: Target[] = ['tree', 'api', 'postgres', 'disk'];

/** Kills the target; `kills` has it from its first moment on. */
export async function killOnce({ target, embedded, world, where }: KillScene, kills: Kill[]): Promise<void> {
  const kill = {
    at: Date.now(),
    goneAt: Infinity,
    until: Infinity,
    what: embedded ? `${target} of npm start` : target,
    worker: runners.includes(target),
    serving: servers.includes(target),
  };
  kills.push(kill);
  kill.goneAt = await world.kill(target, where.choice);
  kill.until = Date.now();
}

/** A container that works for a while and calls its model while its rollout is wanted. */
export const patientPlan = (seeds: number): JobPlan => ({
  nature: { faults: 0, workMs: [30, 200], asks: 2, patienceMs: 25_000 },
  seeds,
  generations: 3,
  maxConcurrent: 3,
  rolloutTimeout: 40,
  mayEnd: ['completed'],
});

/** Number of calls that the containers of these jobs received. */
export function callsTo(jobs: readonly Pick<Job, 'container'>[]): number {
  const lines = jobs.flatMap(({ container }) => container?.lines() ?? []);
  return lines.filter(({ event }) => event === 'in').length;
}
