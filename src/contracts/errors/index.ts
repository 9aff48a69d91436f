/** All codes of errors with their meaning: types of errors and the reference come from here. */
import { callCodes } from './calls.js';
import { deploymentCodes } from './deployments.js';
import { jobCodes } from './jobs.js';
import { loadCodes } from './load.js';
import { requestCodes } from './requests.js';
import { rolloutCodes } from './rollouts.js';
import { scheduleCodes } from './schedules.js';
import { stateCodes } from './states.js';

/** Codes that an answer to a request may have. */
const answerCodes = { ...requestCodes, ...stateCodes, ...deploymentCodes, ...loadCodes, ...callCodes } as const;

export const errorCodes = { ...answerCodes, ...jobCodes, ...rolloutCodes, ...scheduleCodes } as const;

export type AnswerCode = keyof typeof answerCodes;
export type ErrorCode = keyof typeof errorCodes;

/** A code that came from elsewhere; throws if it has no row. */
export function answerCode(code: string): AnswerCode {
  if (!Object.hasOwn(answerCodes, code))
    throw new TypeError(`The error code "${code}" has no row in contracts/errors.`);
  return code as AnswerCode;
}
