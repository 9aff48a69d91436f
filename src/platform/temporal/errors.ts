/** The job's workflow is closed, so nothing can take the command. */
export class WorkflowGoneError extends Error {
  override readonly name = 'WorkflowGoneError';
}

/** Temporal did not answer in time; the command may have been delivered. */
export class TemporalUnavailableError extends Error {
  override readonly name = 'TemporalUnavailableError';
}
