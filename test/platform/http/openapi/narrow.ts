import { urlForm } from '../../../../src/contracts/rules.js';
import { isObject } from '../../../../src/util/json.js';

/** The container of the examples. */
const shownContainer = 'http://127.0.0.1:8900';

/** Media types that schemathesis cannot write, not even as an example. */
const unwritten = ['application/jsonl', 'application/x-ndjson'];

/** Generated keys repeat: an answer to one says nothing of the request. */
const leftOut = 'idempotency-key';

interface Here {
  url: string;
  provider: string;
}

/** The OpenAPI document with URLs and providers that exist here: a run calls nothing else. */
export function narrow(document: unknown, { url, provider }: Here): object {
  const isLeftOut = (item: unknown) => isObject(item) && 'in' in item && item['name'] === leftOut;
  const walk = (value: unknown, name = ''): unknown => {
    if (Array.isArray(value)) return value.filter((item) => !isLeftOut(item)).map((item) => walk(item));
    if (value === shownContainer) return url;
    if (value === 'local' && name.endsWith('provider')) return provider;
    if (!isObject(value)) return value;
    if (value['pattern'] === urlForm['pattern']) return { type: 'string', enum: [url] };
    if (name === 'provider' && value['type'] === 'string') return { type: 'string', enum: [provider] };
    if (unwritten.includes(name)) return walk({ schema: value['schema'] });
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, walk(inner, key)]));
  };
  return walk(document) as object;
}
