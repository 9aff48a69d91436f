export { evaluationWorkflow } from './evaluation.js';
export { sessionWorkflow } from './session.js';
