/** An id of our own in the JSON of a provider's answer; all other bytes stay. */
const quote = 0x22;
const backslash = 0x5c;
const space = 0x20;
const [openObject, closeObject, openList, closeList] = [0x7b, 0x7d, 0x5b, 0x5d];
const [colon, comma] = [0x3a, 0x2c];

/** The JSON text of an object with this `id`, in place of its own or as its first field. */
export function withId(json: string, id: string): string {
  const own = valueOf(json, '"id"');
  const value = JSON.stringify(id);
  if (own) return json.slice(0, own.start) + value + json.slice(own.end);
  const start = json.indexOf('{') + 1;
  const isEmpty = json.charCodeAt(afterSpace(json, start)) === closeObject;
  return `${json.slice(0, start)}"id":${value}${isEmpty ? '' : ','}${json.slice(start)}`;
}

/** Where the value of a field of the outermost object begins and ends; null: it has none. */
function valueOf(json: string, name: string): { start: number; end: number } | null {
  let depth = 0;
  for (let at = 0; at < json.length;) {
    const code = json.charCodeAt(at);
    if (code !== quote) {
      if (code === openObject || code === openList) depth += 1;
      else if (code === closeObject || code === closeList) depth -= 1;
      at += 1;
      continue;
    }
    const end = afterString(json, at);
    const next = afterSpace(json, end);
    if (depth === 1 && json.charCodeAt(next) === colon && json.slice(at, end) === name) {
      const start = afterSpace(json, next + 1);
      return { start, end: afterValue(json, start) };
    }
    at = end;
  }
  return null;
}

function afterSpace(json: string, from: number): number {
  let at = from;
  while (json.charCodeAt(at) <= space) at += 1;
  return at;
}

function afterString(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); end !== -1; end = json.indexOf('"', end + 1)) {
    let escapes = 0;
    while (json.charCodeAt(end - 1 - escapes) === backslash) escapes += 1;
    if (escapes % 2 === 0) return end + 1;
  }
  return json.length;
}

function afterValue(json: string, start: number): number {
  let depth = 0;
  for (let at = start; at < json.length;) {
    const code = json.charCodeAt(at);
    if (code === quote) {
      at = afterString(json, at);
      if (depth === 0) return at;
      continue;
    }
    const isEnd = code === closeObject || code === closeList;
    // A number or a literal ends before what follows it.
    if (depth === 0 && (isEnd || code === comma || code <= space)) return at;
    if (code === openObject || code === openList) depth += 1;
    at += 1;
    if (isEnd && (depth -= 1) === 0) return at;
  }
  return json.length;
}
