import { startCutter } from '../harness/faults/cutter.js';
import { startEvaluation, startSession, type Job } from '../harness/jobs/jobs.js';
import type { Judged } from './kinds.js';
import { startReader } from '../harness/clients/reader.js';
import { conclude, type Round } from '../harness/round.js';
import { patientPlan, sceneIn } from '../harness/scene.js';
import type { World } from '../harness/worlds/world.js';

const readers = 4;
/** Bytes until a connection breaks. The head of an answer has about 700. */
const bytes = [1, 6_000] as const;

/** Event streams cut at random bytes; their readers resume with Last-Event-ID. */
export const sseKind: Judged = {
  name: 'sse',
  async play(round) {
    const scene = await sceneIn(round, 'split');
    const { world, where } = scene;
    const read = await readCut(round, world);
    const plan = {
      ...patientPlan(100),
      nature: { faults: 0, workMs: [5, 60] as [number, number], asks: 0, patienceMs: 0 },
    };
    const jobs = [await startEvaluation(where, 'evaluation', plan), await startSession(where, 'session', plan)];
    jobs.forEach(read);
    return conclude(round, scene, jobs);
  },
};

/** Starts a proxy that cuts connections at random bytes. */
export async function startCuts({ choice, after }: Round, world: World) {
  const cuts = choice.of('cuts');
  const cutter = await startCutter(world.url, () => cuts.between(...bytes));
  after.push(() => cutter.close());
  return cutter;
}

/** Starts a proxy that cuts connections; the result attaches a few readers to a job. */
export async function readCut(round: Round, world: World): Promise<(job: Job) => void> {
  return readersThrough(round, world, await startCuts(round, world));
}

/** Attaches a few readers to a job, through a proxy. */
export function readersThrough({ after }: Round, world: World, cutter: { url: string }): (job: Job) => void {
  return (job) => {
    for (let n = 0; n < readers; n += 1) {
      const reader = startReader(`cut ${n}`, () => cutter.url + job.eventsPath, world.apiKey);
      job.readers.push(reader);
      after.push(() => reader.stop());
    }
  };
}
