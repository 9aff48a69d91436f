import { algorithmOf } from '../../src/core/algorithms/index.js';
import type { NewEvent } from '../../src/core/events/event.js';
import { graphJobStarted, sessionStarted } from '../../src/core/events/search.js';
import type { JobSpec } from '../../src/core/jobs/spec.js';

/** The first events of a job: those of a search. */
export function startEvents(spec: JobSpec, { baselineKnown }: { baselineKnown: boolean }): NewEvent[] {
  if (!('search' in spec)) return [];
  const { algorithm, evaluationSeeds } = spec.search;
  const generations = algorithmOf(spec.search).totalGenerations(spec.search);
  return spec.kind === 'session'
    ? [sessionStarted({ algorithm, generations, evaluationSeeds: evaluationSeeds.length, baselineKnown })]
    : [graphJobStarted({ algorithm, generations, tasks: spec.numTasks, evaluationTasks: evaluationSeeds.length })];
}
