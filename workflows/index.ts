export { deploymentWorkflow } from './deployments/workflow.js';
export { evaluationWorkflow } from './evaluations/workflow.js';
export { graphWorkflow } from './graphs/workflow.js';
export { webhookWorkflow } from './jobs/webhook.js';
export { sessionWorkflow } from './sessions/workflow.js';
