/** Inputs of workflows, which an operator may have started by hand with anything. */
import { ApplicationFailure, workflowInfo } from '@temporalio/workflow';
import { failureOf } from '../../src/core/jobs/fault.js';
import type { JobInput, JudgeInput, ScheduledRunInput } from '../messages.js';
import { UnreadablePayload } from '../payload-converter.js';
import type { JobWorkflowInput } from './control.js';
import { isName, ownField } from './fields.js';

/** The job of a workflow. Fails where the input names none. */
export function readJob(input: unknown): JobInput {
  requireReadable(input);
  const [orgId, jobId] = [ownField(input, 'orgId'), ownField(input, 'jobId')];
  if (!isName(orgId) || !isName(jobId)) throw invalidInput('The input is not {"orgId": "…", "jobId": "…"}.');
  return { orgId, jobId };
}

/** The name of a deployment whose answers a workflow judges. */
export function readJudge(input: unknown): JudgeInput {
  requireReadable(input);
  const [orgId, name] = [ownField(input, 'orgId'), ownField(input, 'name')];
  if (!isName(orgId) || !isName(name)) throw invalidInput('The input is not {"orgId": "…", "name": "…"}.');
  return { orgId, name };
}

/** The schedule that a workflow adds a run to. */
export function readSchedule(input: unknown): ScheduledRunInput {
  requireReadable(input);
  const [orgId, scheduleId] = [ownField(input, 'orgId'), ownField(input, 'scheduleId')];
  if (!isName(orgId) || !isName(scheduleId)) throw invalidInput('The input is not {"orgId": "…", "scheduleId": "…"}.');
  return { orgId, scheduleId };
}

function requireReadable(input: unknown): void {
  if (input instanceof UnreadablePayload && input.isEncrypted)
    // No failure of the workflow: a worker with the right key goes on.
    throw new Error(
      'The input of the workflow is encrypted with another RATCHET_CODEC_KEY, or by no key of this worker.',
    );
}

/** Like `readJob`, with what only a gate or an earlier run can give. */
export function readJobInput(input: unknown): JobWorkflowInput {
  const job = readJob(input);
  const { gate, carried } = input as JobWorkflowInput;
  const { parent, continuedFromExecutionRunId } = workflowInfo();
  if (gate && !parent) throw invalidInput('Only a deployment starts the evaluation of a gate.');
  if (carried && !continuedFromExecutionRunId) throw invalidInput('Only an earlier run hands on its state.');
  return { ...job, ...(gate && { gate }), ...(carried && { carried }) };
}

/** Takes workflows of unknown names, so that they end. */
export function unknownWorkflow(): Promise<never> {
  return Promise.reject(invalidInput(`There is no workflow ${workflowInfo().workflowType}.`));
}

function invalidInput(message: string): ApplicationFailure {
  return ApplicationFailure.create(failureOf({ code: 'invalid_input', message, retryable: false }));
}
