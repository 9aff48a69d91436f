import { readFileSync, writeFileSync } from 'node:fs';
import type { ContainerNature } from '../harness/faults/container-server.js';
import type { Evidence } from '../harness/evidence/evidence.js';
import { startEvaluation, startSession, type JobPlan } from '../harness/jobs/jobs.js';
import type { Judged } from './kinds.js';
import { conclude, type Round } from '../harness/round.js';
import { sceneIn } from '../harness/scene.js';
import type { World } from '../harness/worlds/world.js';

/** Containers with every fault, and sound answers in between. */
export const containerKind: Judged = {
  name: 'container',
  play: (round) =>
    hostile(round, 0, {
      nature: { faults: 50, workMs: [1, 30], asks: 0, patienceMs: 0 },
      // Three tries of a hanging container must end soon, and no sound answer may be late on a busy
      // machine.
      seeds: 40,
      generations: 2,
      maxConcurrent: 8,
      rolloutTimeout: 3,
      mayEnd: ['completed'],
    }),
};

/** Models with every fault, for containers and proposers. */
export const modelKind: Judged = {
  name: 'model',
  play: (round) =>
    hostile(round, 50, {
      nature: { faults: 0, workMs: [1, 30], asks: 2, patienceMs: 0 },
      seeds: 24,
      generations: 2,
      maxConcurrent: 6,
      rolloutTimeout: 40,
      // A session fails with a message when its proposer gives nothing.
      mayEnd: ['completed', 'failed'],
    }),
};

async function hostile(
  round: Round,
  modelFaults: number,
  plan: JobPlan & { nature: ContainerNature },
): Promise<Evidence> {
  const scene = await sceneIn(round, 'split', modelFaults);
  const { world, where } = scene;
  const memory = peakMemory(world);
  // The rollouts of a session wait for each other, and up to three times for infrastructure faults.
  const gentle = { ...plan, nature: { ...plan.nature, faults: plan.nature.faults / 2 } };
  const jobs = [await startEvaluation(where, 'evaluation', plan), await startSession(where, 'session', gentle)];
  const evidence = await conclude(round, scene, jobs);
  return { ...evidence, memory: memory() };
}

/**
 * Samples the service's processes; the result returns the largest resident memory of each, in MiB.
 */
export function peakMemory(world: World): () => Record<string, number> {
  const processes = Object.entries(world.processes());
  for (const [, pid] of processes) forgetPeak(pid);
  return () => Object.fromEntries(processes.map(([name, pid]) => [name, peakMib(pid)]));
}

/** Resets the kernel's peak of a process's resident memory to its current value. */
function forgetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}

/** Peak of resident memory since the reset, in MiB. */
function peakMib(pid: number): number {
  const kib = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Math.round(Number(kib) / 1024);
}
