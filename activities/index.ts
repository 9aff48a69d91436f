import { checkupActivities } from './checkups/advance.js';
import { deploymentActivities } from './deployments/build.js';
import { judgeActivities } from './deployments/judge-answers.js';
import type { ActivityDeps } from './deps.js';
import { withErrorClasses } from './errors.js';
import { lifecycleActivities } from './lifecycle/lifecycle.js';
import { prepareActivities } from './lifecycle/prepare.js';
import { RolloutRunners } from './rollouts/run.js';
import { awaitChildActivities } from './jobs/await-child.js';
import { migrationActivities } from './migrations/advance.js';
import { webhookActivities } from './jobs/webhook.js';
import { scheduleActivities } from './schedules/open-run.js';
import { driveActivity } from './lifecycle/drive.js';

export type { GateEvaluation } from '../src/kinds/deployment/store/gate.js';
export type { CommandOutcome, ControlState } from '../src/jobs/store/decisions/record.js';
export type { Ending } from './close-job.js';
export type { Advanced, PartJob } from './jobs/parts.js';
export type { GateRun } from './deployments/gate.js';
export type { Rest, ShownSlice } from './drive/rest.js';
export type { Finished } from './lifecycle/lifecycle.js';

/** All activities. Each is idempotent: a retry finds what the first try recorded. */
export function createActivities(deps: ActivityDeps) {
  const rollouts = new RolloutRunners(deps);
  const activities = {
    ...prepareActivities(deps),
    ...driveActivity(deps, rollouts),
    ...lifecycleActivities(deps),
    ...deploymentActivities(deps),
    ...judgeActivities(deps),
    ...migrationActivities(deps),
    ...checkupActivities(deps),
    ...awaitChildActivities(deps),
    ...webhookActivities(deps),
    ...scheduleActivities(deps),
  };
  return withErrorClasses(activities, deps.log);
}

export type Activities = ReturnType<typeof createActivities>;
