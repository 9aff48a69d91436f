/** Where a code is read: in an answer, a job, a rollout's trace, a schedule's runs, or a try. */
export type ErrorPlace = 'problem' | 'error_details' | 'error_code' | 'last_runs' | 'rows';

/** What a code means to its reader. */
export interface ErrorRow {
  /** Of the answer; none: no request is answered with it. */
  status: readonly number[];
  at: readonly ErrorPlace[];
  /** Whether the same request, or the same job created again, may succeed. */
  retry: boolean;
  /** Markdown without a full stop. */
  meaning: string;
  remedy: string;
}
