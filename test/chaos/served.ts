import { begin } from './actors.js';
import { peakMemory } from './hostile.js';
import type { JobPlan } from '../harness/jobs/jobs.js';
import type { Judged } from './kinds.js';
import { killAll, targets } from './kills.js';
import { readCut } from './streams.js';
import { conclude, type Round } from '../harness/round.js';
import { killScene, patientPlan, sceneIn } from '../harness/scene.js';

/** Expected calls in a round, without those for the client. */
const toCome = 160;

/** kill -9 at random moments while a job runs, deployments are made and a client calls them. */
const kills: Judged[] = targets.map((target) => ({
  name: `served-kill-${target}`,
  async play(round) {
    const scene = await killScene(round, target);
    const { client, made, come } = await begin(round, scene, patientPlan(24), { sound: true });
    let isOver = false;
    const all = made.finally(() => (isOver = true));
    const [jobs, killed] = await Promise.all([all, killAll(scene, { come, toCome, isOver: () => isOver })]);
    return conclude(round, scene, jobs, { kills: killed, client });
  },
}));

/** The same with interrupted event readers and faulty containers or models of gates. */
const hostile: Judged[] = [
  { name: 'served-sse', play: (round) => playHostile(round, 0, plan) },
  {
    name: 'served-container',
    play: (round) =>
      playHostile(round, 0, { ...plan, nature: { ...plan.nature, faults: 50 }, rolloutTimeout: 3, maxConcurrent: 6 }),
  },
  {
    name: 'served-model',
    play: (round) => playHostile(round, 15, { ...plan, nature: { ...plan.nature, asks: 2 } }),
  },
];
const plan: JobPlan = {
  ...patientPlan(16),
  nature: { faults: 0, workMs: [1, 30], asks: 0, patienceMs: 0 },
  mayEnd: ['completed', 'failed'],
};

async function playHostile(round: Round, modelFaults: number, plan: JobPlan) {
  const scene = await sceneIn(round, 'split', modelFaults);
  const memory = peakMemory(scene.world);
  const read = await readCut(round, scene.world);
  const { client, made } = await begin(round, scene, plan, {
    sound: modelFaults === 0 && plan.nature.faults === 0,
    read,
  });
  const jobs = await made;
  const evidence = await conclude(round, scene, jobs, { client });
  return { ...evidence, memory: memory() };
}

/** Graph jobs and deployments under every fault. */
export const servedKinds: readonly Judged[] = [...kills, ...hostile];
