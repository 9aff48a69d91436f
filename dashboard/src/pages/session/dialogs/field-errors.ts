import { RatchetError } from '../../../../../src/client/index.js';

/** The errors of fields that the service named, by JSON pointer: `/max_rollouts`. */
export function fieldErrors(error: unknown): Record<string, string> {
  if (!(error instanceof RatchetError)) return {};
  return Object.fromEntries(error.fieldErrors.map(({ pointer, message }) => [pointer, message]));
}
