import { generationsOf } from '../../src/core/algorithms/mipro/config.js';
import type { NewEvent } from '../../src/core/events/event.js';
import { graphJobStarted, sessionStarted } from '../../src/core/events/search.js';
import { searchSpecOf, type JobSpec, type SessionSpec } from '../../src/core/jobs/spec.js';

/** The first events of a job; an evaluation has none. */
export function startEvents(spec: JobSpec, { baselineKnown }: { baselineKnown: boolean }): NewEvent[] {
  switch (spec.kind) {
    case 'session':
      return [
        sessionStarted({
          algorithm: spec.algorithm,
          generations: sessionGenerations(spec),
          evaluationSeeds: searchSpecOf(spec).evaluationSeeds.length,
          baselineKnown,
        }),
      ];
    case 'graph':
      return [
        graphJobStarted({
          algorithm: spec.algorithm,
          generations: spec.gepa.generations,
          tasks: spec.numTasks,
          evaluationTasks: spec.gepa.evaluationSeeds.length,
        }),
      ];
    case 'evaluation':
      return [];
  }
}

function sessionGenerations(spec: SessionSpec): number {
  return spec.algorithm === 'mipro' ? generationsOf(spec.mipro) : spec.gepa.generations;
}
