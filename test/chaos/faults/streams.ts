import { join } from 'node:path';
import { startCutter } from './cutter.js';
import { startEvaluation, startSession, type Job } from '../jobs.js';
import type { Judged } from '../kinds.js';
import { patientPlan } from './kills.js';
import { startReader } from '../reader.js';
import { conclude, type Round } from '../round.js';
import type { World } from '../world.js';

const readers = 4;
/** Bytes that a connection lives. An answer's head alone has about 700. */
const bytes = [1, 6_000] as const;

/** Streams of events cut at random bytes; their readers come back with Last-Event-ID. */
export const sseKind: Judged = {
  name: 'sse',
  async play(round) {
    const { dice, folder, worlds, after } = round;
    const world = await worlds.get('split');
    const model = world.model.begin(dice.of('model'), join(folder, 'model.jsonl'), 0);
    const read = await readCut(round, world);
    const where = { world, folder, dice, after };
    const plan = {
      ...patientPlan(100),
      nature: { faults: 0, workMs: [5, 60] as [number, number], asks: 0, patienceMs: 0 },
    };
    const jobs = [await startEvaluation(where, 'evaluation', plan), await startSession(where, 'session', plan)];
    jobs.forEach(read);
    return conclude(round, world, jobs, { model, kills: [], lastFaultAt: Date.now() });
  },
};

/** Starts what cuts connections; what it answers has a few readers follow a job through it. */
export async function readCut({ dice, after }: Round, world: World): Promise<(job: Job) => void> {
  const cuts = dice.of('cuts');
  const cutter = await startCutter(world.url, () => cuts.between(...bytes));
  after.push(() => cutter.close());
  return (job) => {
    for (let n = 0; n < readers; n += 1) {
      const reader = startReader(`cut ${n}`, () => cutter.url + job.eventsPath, world.apiKey);
      job.readers.push(reader);
      after.push(() => reader.stop());
    }
  };
}
