import { DefaultFailureConverter } from '@temporalio/common';

declare global {
  /** Set by a worker in front of the bundle, true with a codec: the sandbox sees no settings. */
  var encodesFailures: boolean | undefined;
}

/** Encodes messages and stack traces of failures as payloads where a codec encrypts them. */
export const failureConverter = new DefaultFailureConverter({
  encodeCommonAttributes: globalThis.encodesFailures ?? false,
});
