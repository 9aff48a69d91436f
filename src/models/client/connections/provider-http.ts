import { Readable } from 'node:stream';
import { request, type Dispatcher } from 'undici';
import { Redactor } from '../../../clients/net/redact.js';
import { retryAdvice } from '../../../clients/net/retry-advice.js';
import { firstValue } from '../../../clients/net/untrusted.js';
import type { KeyHeader } from '../addresses/presets.js';
import { inflated, unknownEncoding } from '../../../clients/net/inflate.js';
import { modelAnswer } from '../answers/model-answer.js';
import { ProviderError, providerError, type ModelAnswer } from '../answers/provider-answer.js';

/** Address and key of an OpenAI-compatible provider. */
export interface Endpoint {
  name: string;
  url: string;
  apiKey: string | null;
  keyHeader: KeyHeader;
}

/** A request of a model; `json` null: a GET; `maxBytes`: of its inflated answer. */
export interface EndpointRequest {
  json: string | null;
  stream: boolean;
  maxBytes: number;
}

/** Sends a request; see `Providers.send`. */
export async function askEndpoint(
  endpoint: Endpoint,
  { json, stream, maxBytes }: EndpointRequest,
  dispatcher: Dispatcher,
  signal: AbortSignal,
): Promise<ModelAnswer> {
  const redactor = new Redactor([endpoint.apiKey]);
  try {
    const answer = await request(endpoint.url, {
      dispatcher,
      method: json === null ? 'GET' : 'POST',
      headers: {
        ...(json !== null && { 'content-type': 'application/json' }),
        accept: stream ? 'text/event-stream' : 'application/json',
        'accept-encoding': 'identity',
        'user-agent': 'ratchet',
        ...keyHeaders(endpoint),
      },
      body: json,
      signal,
    });
    const header = (name: string) => {
      const value = firstValue(answer.headers[name]);
      return value === null ? null : redactor.text(value);
    };
    const head = {
      status: answer.statusCode,
      contentType: header('content-type'),
      ...retryAdvice(answer.headers, Date.now(), (text) => redactor.text(text)),
    };
    const encoding = header('content-encoding');
    const unknown = unknownEncoding(encoding);
    if (unknown === null) return modelAnswer(head, inflated(answer.body, encoding, maxBytes), redactor);
    await answer.body.dump();
    const fault = `content-encoding ${JSON.stringify(unknown)}, which was not asked for`;
    if (head.status >= 300) return modelAnswer(head, Readable.from([Buffer.from(fault)]));
    throw new ProviderError('upstream_answer_invalid', `The provider "${endpoint.name}" sent ${fault}.`);
  } catch (error) {
    signal.throwIfAborted();
    throw providerError(endpoint.name, error);
  }
}

function keyHeaders({ apiKey, keyHeader }: Endpoint): Record<string, string> {
  if (!apiKey) return {};
  return keyHeader === 'api-key' ? { 'api-key': apiKey } : { authorization: `Bearer ${apiKey}` };
}
