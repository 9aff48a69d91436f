export { checkupWorkflow } from './checkups/workflow.js';
export { deploymentWorkflow } from './deployments/workflow.js';
export { migrationWorkflow } from './migrations/workflow.js';
// One workflow; operators see the kind of a job by the name.
export {
  jobWorkflow as evaluationWorkflow,
  jobWorkflow as graphWorkflow,
  jobWorkflow as sessionWorkflow,
} from './job.js';
export { judgeWorkflow } from './deployments/judge.js';
export { scheduledRunWorkflow } from './schedules/workflow.js';
export { webhookWorkflow } from './jobs/webhook.js';
export { probeWorkflow } from './probe.js';
export { unknownWorkflow as default } from './jobs/input.js';
