/** Why a job fails. The message may quote containers, models and users. */
export interface JobFault {
  code: string;
  message: string;
  retryable: boolean;
}

/**
 * A fault as a failure of Temporal. The message is the code alone: logs and the Temporal UI show
 * messages, and no codec encrypts them. Details are payloads, which a codec does encrypt.
 */
export function failureOf({ code, message, retryable }: JobFault) {
  return {
    type: code,
    message: `${code}: see the job`,
    nonRetryable: true,
    details: [{ message, retryable }],
  };
}

/** The fault that a failure carries. */
export function faultOf(failure: {
  type?: string | null | undefined;
  message: string;
  details?: unknown[] | null | undefined;
}): JobFault {
  // An operator may have failed an activity by hand, with any details.
  const [detail] = (failure.details ?? []) as ({ message?: unknown; retryable?: unknown } | null | undefined)[];
  return {
    code: failure.type ? failure.type : 'internal',
    message: typeof detail?.message === 'string' ? detail.message : failure.message,
    retryable: detail?.retryable === true,
  };
}
