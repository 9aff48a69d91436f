import { JsonText } from '../../platform/db/json.js';
import { field, parseObject } from '../../clients/net/untrusted.js';
import { tracedAnswer } from '../client/traced-call.js';
import type { ForwardedCall } from './call.js';
import type { CallResult } from './record.js';

/** Counts and traces a call to a model. */
export function observe(
  { client, provider, upstream }: Pick<ForwardedCall, 'client' | 'provider' | 'upstream'>,
  result: CallResult,
  purpose: string,
): void {
  const { httpStatus: status, latencyMs, response } = result;
  client.observer.modelCall({
    ...result,
    provider,
    model: upstream.model,
    purpose,
    status,
    code: status < 300 ? null : codeIn(response),
    seconds: latencyMs / 1_000,
  });
  client.trace?.({
    provider,
    purpose,
    request: upstream.body,
    startedAt: Date.now() - latencyMs,
    cost: result,
    error: status >= 300 ? String(status) : null,
    answer: tracedAnswer(response instanceof JsonText ? parseObject(response.text) : response),
  });
}

function codeIn(response: unknown): string | null {
  const code = field(field(response, 'error'), 'code');
  return typeof code === 'string' ? code : null;
}
