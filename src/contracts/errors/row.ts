/** Where a code is read: in the answer to a request, in a job's state, or in a rollout's trace. */
export type ErrorPlace = 'problem' | 'error_details' | 'error_code';

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
