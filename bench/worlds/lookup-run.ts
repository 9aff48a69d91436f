/** A run of a world of lookups: task model, proposer, and scores by `POST score {seed, answer}`. */
import type { Entry, LookupSetup, RunSetup, TaskSetup } from './client.js';
import { lookupKinds, openLookupWorld } from './lookups.js';
import type { ServedRun } from './task-run.js';

export function isLookupSetup(setup: RunSetup | TaskSetup | LookupSetup): setup is LookupSetup {
  return lookupKinds.some((kind) => kind === setup.kind);
}

const now = () => performance.timeOrigin + performance.now();

export function createLookupRun({ kind, world: seed }: LookupSetup): ServedRun {
  const world = openLookupWorld(kind, seed);
  const ledger: Entry[] = [];
  return {
    complete(kind, messages) {
      const startedAt = now();
      const content = kind === 'call' ? world.answer(messages) : world.propose(messages);
      ledger.push({ kind: kind, startedAt, endedAt: now() });
      return Promise.resolve(content);
    },
    serve(what, body) {
      if (what === 'GET ledger') return ledger;
      if (what !== 'POST score') return null;
      const { seed: instance, answer } = body as { seed: number; answer: string };
      return world.score(instance, answer);
    },
  };
}
