import { cutWithin } from '../../util/text.js';

/** Characters of a failure's message in Temporal, whose lists and logs show it whole. */
const maxShownChars = 1_000;

/** Why a job fails. The message may quote containers, models and users, and holds no secret. */
export interface JobFault {
  code: string;
  message: string;
  retryable: boolean;
}

/** A fault as a failure of Temporal: its code and text; its details have the whole text. */
export function failureOf({ code, message, retryable }: JobFault) {
  return {
    type: code,
    message: cutWithin(`${code}: ${message}`, maxShownChars),
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
