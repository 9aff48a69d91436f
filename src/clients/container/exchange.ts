import { request, type Dispatcher } from 'undici';
import { TimeoutError, withTimeout } from '../net/bounded.js';
import { fault, type Answer, type Fault, type Peer } from './answer.js';
import { EgressError } from '../net/egress.js';
import { Redactor } from '../net/redact.js';
import { retryAdvice } from '../net/retry-advice.js';
import { unsentFault } from '../net/unsent.js';
import { errorCode, firstValue } from '../net/untrusted.js';
import { cutToBytes } from '../../util/text.js';

/** An HTTP request to a container or a scorer. */
export interface ExchangeRequest {
  method: 'GET' | 'POST';
  url: string;
  headers: Record<string, string>;
  body?: string;
  /** Hides the secrets of the request in everything that comes back; absent: it has none. */
  redactor?: Redactor;
}

const noSecrets = new Redactor([]);

/**
 * Sends one request and reads the whole answer within `ms`, or returns a fault. Rejects with the
 * signal's reason or with an internal error.
 */
export async function exchange(
  dispatcher: Dispatcher,
  what: ExchangeRequest,
  ms: number,
  signal: AbortSignal,
  peer: Peer,
): Promise<Answer | Fault> {
  const { redactor = noSecrets } = what;
  try {
    return await withTimeout(ms, signal, async (bounded) => {
      const { url, method, headers, body = null } = what;
      const answer = await request(url, { dispatcher, method, headers, body, signal: bounded });
      const header = (name: string) => {
        const value = firstValue(answer.headers[name]);
        return value === null ? null : redactor.text(value);
      };
      return {
        status: answer.statusCode,
        ...retryAdvice(answer.headers, Date.now(), (text) => redactor.text(text)),
        contentEncoding: header('content-encoding'),
        text: redactor.body(await answer.body.text()),
      };
    });
  } catch (error) {
    signal.throwIfAborted();
    return faultOfError(error, ms, peer, redactor);
  }
}

function faultOfError(error: unknown, ms: number, peer: Peer, redactor: Redactor): Fault {
  const code = errorCode(error);
  if (code === null) throw error;
  const { message: original, name } = error as Error;
  const reason = cutToBytes(redactor.text(original || code), 512);
  if (error instanceof TimeoutError) {
    // Not necessarily the infrastructure's fault: a prompt can make the model talk endlessly.
    return fault(`${peer}_timeout`, `The ${peer} gave no full answer within ${ms} ms.`, { retry: 'tries' });
  }
  if (error instanceof EgressError) return fault('egress_refused', error.message, { connect: true });
  const unsent = unsentFault(error);
  if (unsent) {
    const remedy = unsent.remedy === null ? '' : ` ${unsent.remedy}`;
    const message = `The ${peer} cannot be reached: ${unsent.reason}: ${reason}${/[.!?]$/.test(reason) ? '' : '.'}${remedy}`;
    const retry = unsent.isLasting ? 'none' : 'tries';
    return fault(`${peer}_unreachable`, message, { retry, infrastructure: true, connect: true });
  }
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') {
    return fault(`${peer}_answer_too_large`, `The ${peer}'s answer is larger than 10 MiB.`);
  }
  if (name === 'HTTPParserError' || code === 'UND_ERR_HEADERS_OVERFLOW') {
    return fault(`${peer}_answer_invalid`, `The ${peer}'s answer is not HTTP: ${reason}`);
  }
  if (code === 'UND_ERR_INVALID_ARG' || error instanceof TypeError) throw error;
  const message = `The connection to the ${peer} broke: ${reason}`;
  return fault(`${peer}_connection_lost`, message, { retry: 'tries', infrastructure: true });
}
