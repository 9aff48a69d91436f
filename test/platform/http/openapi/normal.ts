/** Examples that each recording repeats: stable ids, times and durations, short lists and texts. */
import { isObject } from '../../../../src/util/json.js';
import { parseStream, writeStream } from './event-streams.js';
import type { Example } from './recorder.js';

/** Addresses of a recording, and what stands for them. */
export type Addresses = Readonly<Record<string, string>>;

const firstTime = Date.parse('2026-01-05T09:00:00Z');
const time = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)/g;
/** Parts of ids, and uuids. The id of a data set is the hash of its rows: it stays. */
const id = /(?<=\b(?!ds_)[a-z]{2,8}_)(?:[0-9a-f]{64}|[0-9a-f]{32})|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g;
const keyId = /(?<=\b(?:key|rk)_)[0-9A-Za-z]{8}(?=_|\b)/g;
const secrets: readonly (readonly [RegExp, string])[] = [
  [/(?<=\brk_[0-9A-Za-z]{8}_)[0-9A-Za-z]{32,}/g, 'the-rest-is-secret'],
  [/(?<=\bwhsec_)[\w+/=]+/g, 'the-rest-is-secret'],
];
const completion = /chatcmpl-[A-Za-z0-9_-]+/g;
const cursor = Buffer.from('after 1').toString('base64url');
/** Paths of fields in milliseconds. */
const duration = /(^|[._])ms($|[._])/;
const shownDuration = 120;
const digits = 6;
/** Items of a list that are shown: of objects and events, of other values. */
const listed = 2;
const listedValues = 8;
const longestText = 300;

export function normalized(recorded: Record<string, Example>, addresses: Addresses): Record<string, Example> {
  const times = [...new Set(JSON.stringify(recorded).match(time))].map((text) => Date.parse(text)).sort();
  const ids = new Map<string, string>();
  const numberedId = (found: string): string => {
    if (!ids.has(found)) ids.set(found, numbered(found, ids.size + 1));
    return ids.get(found)!;
  };
  const replaced = (text: string): string => {
    for (const [found, shown] of Object.entries(addresses)) text = text.replaceAll(found, shown);
    for (const [found, shown] of secrets) text = text.replaceAll(found, shown);
    return text
      .replaceAll(completion, 'chatcmpl-1')
      .replaceAll(time, (found) => new Date(firstTime + times.indexOf(Date.parse(found)) * 1_000).toISOString())
      .replaceAll(id, numberedId)
      .replaceAll(keyId, numberedId);
  };

  const request = (value: unknown) => mapJson(value, replaced, (part) => part);
  const answer = (value: unknown) =>
    mapJson(
      value,
      (text, path) => (path.endsWith('next_cursor') ? cursor : shortened(replaced(text))),
      (part, path) => (Array.isArray(part) ? cut(part) : rounded(part, path)),
    );
  const example = ({ parameters = {}, request: bodies, responses }: Example): Example => ({
    ...(Object.keys(parameters).length > 0 && { parameters: request(parameters) as Record<string, string> }),
    ...(bodies && { request: request(bodies) as Example['request'] & object }),
    responses: mapAnswers(responses, (value, type) =>
      type === 'text/event-stream' ? writeStream(parseStream(value as string, listed).map(answer)) : answer(value),
    ),
  });
  return Object.fromEntries(Object.entries(recorded).map(([operationId, each]) => [operationId, example(each)]));
}

export function mapAnswers(
  responses: Example['responses'],
  map: (value: unknown, type: string) => unknown,
): Example['responses'] {
  const ofStatus = (answers: Record<string, unknown>) =>
    Object.fromEntries(Object.entries(answers).map(([type, value]) => [type, map(value, type)]));
  return Object.fromEntries(Object.entries(responses).map(([status, answers]) => [status, ofStatus(answers)]));
}

/** Changes texts, and names of fields like them; `change` sees all other values first. */
function mapJson(
  value: unknown,
  text: (value: string, path: string) => string,
  change: (value: unknown, path: string) => unknown,
  path = '',
): unknown {
  if (typeof value === 'string') return text(value, path);
  const changed = change(value, path);
  if (Array.isArray(changed)) return changed.map((item) => mapJson(item, text, change, path));
  if (!isObject(changed)) return changed;
  return Object.fromEntries(
    Object.entries(changed).map(([name, part]) => [text(name, ''), mapJson(part, text, change, `${path}.${name}`)]),
  );
}

const cut = (list: unknown[]) => list.slice(0, list.some(isObject) ? listed : listedValues);

function rounded(value: unknown, path: string): unknown {
  if (typeof value !== 'number') return value;
  return duration.test(path) ? shownDuration : Number(value.toPrecision(digits));
}

const shortened = (text: string) => (text.length > longestText ? `${text.slice(0, longestText)} …` : text);

/** A number with the length of the original, and its dashes. */
function numbered(original: string, number: number): string {
  const shown = [...number.toString(16).padStart(original.replaceAll('-', '').length, '0')];
  return original.replaceAll(/[^-]/g, () => shown.shift()!);
}
