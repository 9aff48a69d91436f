import { deploymentActivities } from './deployments/build.js';
import type { ActivityDeps } from './deps.js';
import { withErrorClasses } from './errors.js';
import { lifecycleActivities } from './jobs/lifecycle.js';
import { liveActivity } from './rollouts/live.js';
import { prepareActivities } from './jobs/prepare.js';
import { proposeActivity } from './proposals/propose.js';
import { rolloutActivity } from './rollouts/run.js';
import { webhookActivities } from './jobs/webhook.js';
import { findDemosActivity } from './proposals/find-demos.js';

export type { GateEvaluation } from '../src/storage/deployments/gate.js';
export type { CommandOutcome } from '../src/storage/decisions/record.js';
export type { KeptSearch } from '../src/storage/jobs/extensions.js';
export type { SearchUpdate } from './jobs/search-update.js';
export type { GateRun } from './deployments/build.js';
export type { SessionLimits, SessionPlan } from './jobs/prepare.js';
export type { RunRolloutsInput } from './rollouts/run.js';

/** All activities. Each is idempotent: a retry finds what the first try recorded. */
export function createActivities(deps: ActivityDeps) {
  return withErrorClasses({
    ...prepareActivities(deps),
    ...rolloutActivity(deps),
    ...liveActivity(deps),
    ...proposeActivity(deps),
    ...findDemosActivity(deps),
    ...lifecycleActivities(deps),
    ...deploymentActivities(deps),
    ...webhookActivities(deps),
  });
}

export type Activities = ReturnType<typeof createActivities>;
