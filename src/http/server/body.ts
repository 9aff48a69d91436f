import type { App } from '../deps.js';
import { ApiError, pointerOf, refuse } from './errors.js';

const deepest = 64;
const halfPair = /\p{Surrogate}/u;

/**
 * Parses JSON bodies. Refuses invalid JSON (400); refuses with a pointer (422) the key `__proto__`,
 * NUL and lone surrogates (Postgres cannot store them), infinite numbers and deep nesting.
 */
export function registerBodyParser(app: App): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, text, done) => {
    try {
      done(null, parseBody(text as string));
    } catch (error) {
      done(error as Error);
    }
  });
}

function parseBody(text: string): unknown {
  if (text === '') return undefined;
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch (cause) {
    throw new ApiError(400, 'malformed_json', `The body is not valid JSON: ${(cause as Error).message.slice(0, 200)}`, {
      cause,
    });
  }
  checkValue(body, []);
  return body;
}

/** `path` is one shared array: each level pushes and pops its name. */
function checkValue(value: unknown, path: string[]): void {
  if (typeof value === 'string') checkText(value, path);
  else if (typeof value === 'number' && !Number.isFinite(value)) fault(path, 'must be a finite number');
  else if (typeof value === 'object' && value !== null) {
    if (path.length >= deepest) fault(path.slice(0, 8), `is nested more than ${deepest} levels deep`);
    for (const [key, inner] of Object.entries(value)) {
      path.push(key);
      if (key === '__proto__') fault(path, 'is not accepted as a name');
      checkText(key, path);
      checkValue(inner, path);
      path.pop();
    }
  }
}

function checkText(text: string, path: string[]): void {
  if (text.includes('\0')) fault(path, 'must not contain the character NUL');
  if (halfPair.test(text)) fault(path, 'must be valid Unicode, without lone surrogates');
}

function fault(path: string[], message: string): never {
  throw refuse.invalid([{ pointer: pointerOf(path), message }]);
}
