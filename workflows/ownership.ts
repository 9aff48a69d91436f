/**
 * Lets a worker run the workflows of its own installation only. A task of another one fails as a
 * task: Temporal gives it to the next worker that polls, and the workflow goes on there.
 */
import { defaultPayloadConverter, proxySinks, type Sinks, type WorkflowInterceptors } from '@temporalio/workflow';
import type { Payload } from '@temporalio/common';
import { installationHeader } from './messages.js';

declare global {
  /** Set by a worker in front of the bundle; absent in a replay of a history. */
  var installation: string | undefined;
}

/** Where a worker hears of tasks that it refused. */
export interface OwnershipSinks extends Sinks {
  ownership: { refused(installation: string): void };
}

const { ownership } = proxySinks<OwnershipSinks>();

export const interceptors = (): WorkflowInterceptors => {
  let owner: Payload | undefined;
  const withOwner = <Input extends { headers: Record<string, Payload> }>(input: Input): Input =>
    owner ? { ...input, headers: { ...input.headers, [installationHeader]: owner } } : input;
  return {
    inbound: [
      {
        execute(input, next) {
          owner = input.headers[installationHeader];
          if (owner) refuseForeign(defaultPayloadConverter.fromPayload<string>(owner));
          return next(input);
        },
      },
    ],
    outbound: [
      {
        scheduleActivity: (input, next) => next(withOwner(input)),
        scheduleLocalActivity: (input, next) => next(withOwner(input)),
        startChildWorkflowExecution: (input, next) => next(withOwner(input)),
        continueAsNew: (input, next) => next(withOwner(input)),
      },
    ],
  };
};

function refuseForeign(owner: string): void {
  const { installation } = globalThis;
  if (installation === undefined || installation === owner) return;
  ownership.refused(owner);
  throw new Error(`The workflow is of the installation ${owner}; this worker is of ${installation}.`);
}
