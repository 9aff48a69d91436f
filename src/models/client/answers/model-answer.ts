import type { Readable } from 'node:stream';
import { readAll } from '../../../clients/net/read-all.js';
import { Redactor } from '../../../clients/net/redact.js';
import { parseObject } from '../../../clients/net/untrusted.js';
import type { ModelAnswer } from './provider-answer.js';
import { redactedCompletion, redactedStream } from './redacted-stream.js';
import { steadyStream } from './steady-stream.js';

const noSecrets = new Redactor([]);

/** An answer whose body is read without the secrets of `redactor`. */
export function modelAnswer(
  head: Pick<ModelAnswer, 'status' | 'contentType' | 'retryAfter' | 'shouldRetry'>,
  body: Readable,
  redactor = noSecrets,
): ModelAnswer {
  return {
    ...head,
    read: async (onBytes) => redacted(await readAll(body, onBytes), redactor),
    stream: (onBytes) => {
      const bytes = onBytes ? counted(body, onBytes) : body;
      const steady = steadyStream(bytes);
      return redactor.isIdle ? steady : redactedStream(steady, redactor);
    },
  };
}

/** A body without the secrets; the same bytes if it has none. */
function redacted(bytes: Buffer, redactor: Redactor): Buffer {
  // Secrets are ASCII, and Latin-1 is cheaper to decode and search than UTF-8.
  if (!redactor.isIn(bytes.toString('latin1'))) return bytes;
  const text = bytes.toString();
  const json = parseObject(text);
  return Buffer.from(json ? JSON.stringify(redactedCompletion(json, redactor)) : redactor.text(text));
}

async function* counted(body: AsyncIterable<Uint8Array>, onBytes: (bytes: number) => void): AsyncGenerator<Uint8Array> {
  for await (const part of body) {
    onBytes(part.length);
    yield part;
  }
}
