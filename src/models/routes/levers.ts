import { asObject } from '../../util/json.js';
import { readMarks, replaceMarks, type MarkedSpan } from './lever-marks.js';

type Json = Record<string, unknown>;

/** A request with its marked spans replaced. */
export interface FillResult {
  /** The same object if the request has no marks. */
  request: Json & { messages: unknown[] };
  /** Original texts of the spans, in order, messages first; names may repeat. */
  spans: MarkedSpan[];
  /** Names of the replaced spans. */
  found: ReadonlySet<string>;
}

/**
 * Replaces marked spans (see lever-marks.ts) in message contents and tool descriptions; removes the
 * marks.
 */
export function fillLevers(request: Json & { messages: unknown[] }, texts: ReadonlyMap<string, string>): FillResult {
  const spans: MarkedSpan[] = [];
  const found = new Set<string>();
  const fill = (text: unknown): unknown => {
    if (typeof text !== 'string' || !text.includes('<lever ')) return text;
    spans.push(...readMarks(text));
    const filled = replaceMarks(text, texts);
    for (const name of filled.found) found.add(name);
    return filled.text;
  };
  const messages = each(request.messages, (message) =>
    at(message, 'content', (content) =>
      Array.isArray(content) ? each(content, (part) => at(part, 'text', fill)) : fill(content),
    ),
  );
  const withMessages = messages === request.messages ? request : { ...request, messages };
  const filled = at(withMessages, 'tools', (tools) =>
    Array.isArray(tools) ? each(tools, (tool) => at(tool, 'function', (its) => at(its, 'description', fill))) : tools,
  );
  return { request: filled as FillResult['request'], spans, found };
}

/** The object with a changed field; the same object if nothing changes. */
function at(value: unknown, field: string, change: (value: unknown) => unknown): unknown {
  const object = asObject(value);
  if (!object || !Object.hasOwn(object, field)) return value;
  const changed = change(object[field]);
  return changed === object[field] ? value : { ...object, [field]: changed };
}

/** The list with changed items; the same list if nothing changes. */
function each(items: unknown[], change: (item: unknown) => unknown): unknown[] {
  const changed = items.map(change);
  return changed.every((item, index) => item === items[index]) ? items : changed;
}
