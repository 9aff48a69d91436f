/** The activities of each kind of job. */
import type { JobSpec } from '../../src/core/jobs/spec.js';
import { evaluationActivities } from './evaluation.js';
import { graphActivities } from './graph.js';
import { sessionActivities } from './session.js';
import type { KindActivities } from './kind.js';

const kinds: { [Kind in JobSpec['kind']]: KindActivities<JobSpec & { kind: Kind }> } = {
  session: sessionActivities,
  evaluation: evaluationActivities,
  graph: graphActivities,
};

export function activitiesOf({ kind }: JobSpec): KindActivities {
  return kinds[kind];
}
