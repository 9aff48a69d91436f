/** The place of a job among traces, decided when the job is created. */
export interface JobTrace {
  traceId: string;
  /** The caller's span; null: the job begins the trace. */
  parentId: string | null;
  /** The sampler's decision, for all spans of the job. */
  sampled: boolean;
}

/** The trace of a job's current run; each run has a span of its own. */
export interface TracedRun extends JobTrace {
  jobId: string;
  run: number;
}
