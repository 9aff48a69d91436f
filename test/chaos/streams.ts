import { join } from 'node:path';
import { startCutter } from './cutter.js';
import { startEvaluation, startSession } from './jobs.js';
import type { Judged } from './kinds.js';
import { patientPlan } from './kills.js';
import { startReader } from './reader.js';
import { conclude } from './round.js';

const readers = 4;
/** Bytes that a connection lives. An answer's head alone has about 700. */
const bytes = [1, 6_000] as const;

/** Streams of events cut at random bytes; their readers come back with Last-Event-ID. */
export const sseKind: Judged = {
  name: 'sse',
  async play(round) {
    const { dice, folder, worlds } = round;
    const world = await worlds.get('split');
    const model = world.model.begin(dice.of('model'), join(folder, 'model.jsonl'), 0);
    const cutDice = dice.of('cuts');
    const cutter = await startCutter(world.url, () => cutDice.between(...bytes));
    const where = { world, folder, dice };
    const plan = {
      ...patientPlan(100),
      nature: { faults: 0, workMs: [5, 60] as [number, number], asks: 0, patienceMs: 0 },
    };
    const jobs = [await startEvaluation(where, 'evaluation', plan), await startSession(where, 'session', plan)];
    for (const job of jobs) {
      for (let n = 0; n < readers; n += 1) {
        job.readers.push(startReader(`cut ${n}`, () => cutter.url + job.eventsPath, world.apiKey));
      }
    }
    try {
      const evidence = await conclude(round, world, jobs, { model, kills: [], lastFaultAt: Date.now() });
      return { world, evidence };
    } finally {
      await cutter.close();
    }
  },
};
