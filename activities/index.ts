import { deploymentActivities } from './deployment.js';
import type { ActivityDeps } from './deps.js';
import { lifecycleActivities } from './lifecycle.js';
import { liveActivity } from './live-rollouts.js';
import { prepareActivities } from './prepare.js';
import { proposeActivity } from './propose.js';
import { rolloutActivity } from './rollouts.js';
import { surveyActivity } from './survey.js';

export type { GateEvaluation } from '../src/storage/deployments/gate.js';
export type { NewEvent } from '../src/storage/jobs/events.js';
export type { CommandOutcome } from '../src/storage/jobs/record.js';
export type { Decided } from './lifecycle.js';
export type { GateRun, Incumbent } from './deployment.js';
export type { SessionLimits, SessionPlan } from './prepare.js';
export type { SliceInput } from './rollouts.js';

/** Everything the workflows may have done for them. All are idempotent: a retry finds what the first try recorded. */
export function createActivities(deps: ActivityDeps) {
  return {
    ...prepareActivities(deps),
    ...rolloutActivity(deps),
    ...liveActivity(deps),
    ...proposeActivity(deps),
    ...surveyActivity(deps),
    ...lifecycleActivities(deps),
    ...deploymentActivities(deps),
  };
}

export type Activities = ReturnType<typeof createActivities>;
