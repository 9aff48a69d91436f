// Encodes messages and stack traces of failures as payloads, which the codec encrypts. The SDK
// loads this file by its path.
import { DefaultFailureConverter } from '@temporalio/common';

export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
