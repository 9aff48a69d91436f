import { Readable } from 'node:stream';
import { request, type Dispatcher } from 'undici';
import { firstValue } from '../net/untrusted.js';
import { providerError, type ModelAnswer } from './provider-answer.js';

/** Address and key of an OpenAI-compatible provider. */
export interface Endpoint {
  name: string;
  url: string;
  apiKey: string | null;
}

/** Posts a body of JSON; see `Providers.send`. */
export async function askEndpoint(
  dispatcher: Dispatcher,
  endpoint: Endpoint,
  body: string,
  stream: boolean,
  signal: AbortSignal,
): Promise<ModelAnswer> {
  try {
    const answer = await request(endpoint.url, {
      dispatcher,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: stream ? 'text/event-stream' : 'application/json',
        'accept-encoding': 'identity',
        'user-agent': 'ratchet',
        ...(endpoint.apiKey && { authorization: `Bearer ${endpoint.apiKey}` }),
      },
      body,
      signal,
    });
    const failed = answer.statusCode >= 300;
    return {
      status: answer.statusCode,
      contentType: firstValue(answer.headers['content-type']),
      retryAfter: firstValue(answer.headers['retry-after']),
      body: failed ? Readable.from([withoutKey(await answer.body.text(), endpoint)]) : answer.body,
    };
  } catch (error) {
    signal.throwIfAborted();
    throw providerError(endpoint.name, error);
  }
}

/** Removes our key from a text: providers quote the key that they refuse. */
function withoutKey(text: string, { apiKey }: Endpoint): Buffer {
  return Buffer.from(apiKey ? text.replaceAll(apiKey, '***') : text);
}
