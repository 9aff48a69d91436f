export { deploymentWorkflow } from './deployment.js';
export { evaluationWorkflow } from './evaluation.js';
export { graphWorkflow } from './graph.js';
export { sessionWorkflow } from './session.js';
