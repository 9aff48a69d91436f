import { evaluationWorkflow, type EvaluationInput } from '../evaluations/workflow.js';

/** A container check: an evaluation that runs each seed several times. */
export async function checkWorkflow(input: EvaluationInput): Promise<void> {
  await evaluationWorkflow(input);
}
