import { asObject } from '../../clients/net/untrusted.js';
import { readMarks, replaceMarks, type MarkedSpan } from './lever-marks.js';

type Json = Record<string, unknown>;

/** A request whose marked spans have been filled in. */
export interface Filled {
  /** The very request where it has no marks. */
  request: Json & { messages: unknown[] };
  /** What its spans said before, in order, messages first; a name may come more than once. */
  spans: MarkedSpan[];
  /** The names of those that were replaced. */
  found: ReadonlySet<string>;
}

/**
 * Puts texts where a chat request marks them (see lever-marks.ts), in the contents of its messages and the descriptions of its
 * tools, and takes the marks out.
 */
export function fillLevers(request: Json & { messages: unknown[] }, texts: ReadonlyMap<string, string>): Filled {
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
  return { request: filled as Filled['request'], spans, found };
}

/** The object with another value in a field; the object itself where that is no other, or it is none. */
function at(value: unknown, field: string, change: (value: unknown) => unknown): unknown {
  const object = asObject(value);
  if (!object || !Object.hasOwn(object, field)) return value;
  const changed = change(object[field]);
  return changed === object[field] ? value : { ...object, [field]: changed };
}

/** The list with other items; the list itself where none is another. */
function each(items: unknown[], change: (item: unknown) => unknown): unknown[] {
  const changed = items.map(change);
  return changed.every((item, index) => item === items[index]) ? items : changed;
}
