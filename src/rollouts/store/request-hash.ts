import { createHash } from 'node:crypto';
import { canonicalJson } from '../../util/json.js';

/** Fields of a request that do not change the model's answer. */
const withoutEffect = new Set([
  'stream',
  'stream_options',
  'user',
  'metadata',
  'store',
  'service_tier',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_retention',
]);

/** SHA-256 of all that determines a model's answer, independent of the order of fields. */
export function requestHash(provider: string, request: Record<string, unknown>): Buffer {
  const fields = Object.entries(request).filter(([name]) => !withoutEffect.has(name));
  return createHash('sha256')
    .update(canonicalJson([provider, Object.fromEntries(fields)]))
    .digest();
}
