import type { App } from '../deps.js';
import { ApiError, pointerOf, refuse, type FieldError } from './errors.js';

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
  const fault = faultOf(body);
  if (fault) throw refuse.invalid([fault]);
  return body;
}

/** The first value that cannot be stored, by its pointer; null: none. */
export function faultOf(value: unknown): FieldError | null {
  return findFault(value, []);
}

/** `path` is one shared array: each level pushes and pops its name. */
function findFault(value: unknown, path: string[]): FieldError | null {
  if (typeof value === 'string') return textFault(value, path);
  if (typeof value === 'number' && !Number.isFinite(value)) return fault(path, 'must be a finite number');
  if (typeof value !== 'object' || value === null) return null;
  if (path.length >= deepest) return fault(path.slice(0, 8), `is nested more than ${deepest} levels deep`);
  for (const [key, inner] of Object.entries(value)) {
    path.push(key);
    const found =
      key === '__proto__' ? fault(path, 'is not accepted as a name') : (textFault(key, path) ?? findFault(inner, path));
    if (found) return found;
    path.pop();
  }
  return null;
}

function textFault(text: string, path: string[]): FieldError | null {
  if (text.includes('\0')) return fault(path, 'must not contain the character NUL');
  return halfPair.test(text) ? fault(path, 'must be valid Unicode, without lone surrogates') : null;
}

function fault(path: string[], message: string): FieldError {
  return { pointer: pointerOf(path), message };
}
