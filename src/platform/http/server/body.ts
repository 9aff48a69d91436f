import { setImmediate as nextTurn } from 'node:timers/promises';
import { exceedsJsonLimits, jsonLimits } from '../../../util/json.js';
import { inexactNumbers, inexactProblem, pathOfNumber } from '../../../util/exact-json.js';
import type { App } from '../deps.js';
import { ApiError, pointerOf, refuse, type FieldError } from './errors.js';

const deepest = 64;
/** Items of a list and fields of an object that is validated, which costs for each of them. */
const maxWidth = 20_000;

/**
 * Parses JSON bodies. Refuses invalid JSON (400) and too many values (413); refuses with a pointer
 * (422) the key `__proto__`, NUL and lone surrogates (Postgres cannot store them), infinite
 * numbers and those that a double would change, deep nesting and very wide objects.
 */
export function registerBodyParser(app: App): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, ({ routeOptions }, given, done) => {
    const text = given as string;
    const width = routeOptions.config.access === 'inference' ? Infinity : maxWidth;
    if (text.length >= large) return void readLarge(text, width).then((body) => done(null, body), done);
    try {
      done(null, checkBody(parseBody(text, width), width));
    } catch (error) {
      done(error as Error);
    }
  });
}

/** A body of this length is read in several turns of the event loop. */
const large = 100_000;

async function readLarge(text: string, width: number): Promise<unknown> {
  const body = parseBody(text, width);
  await nextTurn();
  checkBody(body, width);
  await nextTurn();
  return body;
}

function parseBody(text: string, width: number): unknown {
  if (text === '') return undefined;
  if (exceedsJsonLimits(text)) {
    const [values, names] = [jsonLimits.values, jsonLimits.names].map((most) => most.toLocaleString('en'));
    const detail = `The body has more than ${values} values or ${names} different names; send less at a time.`;
    throw new ApiError(413, 'body_too_large', detail);
  }
  try {
    const body: unknown = JSON.parse(text);
    // Calls of models go on as they are.
    const [inexact] = width === Infinity ? [] : inexactNumbers(text);
    if (inexact)
      throw refuse.invalid([{ pointer: pointerOf(pathOfNumber(text, inexact)), message: inexactProblem(inexact) }]);
    return body;
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
    throw new ApiError(400, 'malformed_json', `The body is not valid JSON: ${(cause as Error).message.slice(0, 200)}`, {
      cause,
    });
  }
}

function checkBody(body: unknown, width: number): unknown {
  const fault = faultOf(body, width);
  if (fault) throw refuse.invalid([fault]);
  return body;
}

/** Why a value is not accepted. */
interface Fault {
  path: string[];
  message: string;
}

/** The first value that is not accepted, by its pointer; null: none. */
export function faultOf(value: unknown, width = Infinity): FieldError | null {
  const fault = findFault(value, 0, width);
  return fault && { pointer: pointerOf(fault.path), message: fault.message };
}

/** Called for each value of a body: allocates nothing but the names of an object. */
function findFault(value: unknown, depth: number, width: number): Fault | null {
  if (typeof value === 'string') return textFault(value);
  if (typeof value === 'number') return Number.isFinite(value) ? null : fault('must be a finite number');
  if (typeof value !== 'object' || value === null) return null;
  if (depth === deepest) return fault(`is nested more than ${deepest} levels deep`);
  const names = Array.isArray(value) ? null : Object.keys(value);
  const { length } = names ?? (value as unknown[]);
  if (length > width) return fault(`has more than ${width.toLocaleString('en')} ${names ? 'fields' : 'items'}`);
  for (let at = 0; at < length; at += 1) {
    const name = names ? names[at]! : at;
    const inner = (value as Record<string | number, unknown>)[name];
    const found = (names && nameFault(names[at]!)) ?? findFault(inner, depth + 1, width);
    if (found) return { path: [String(name), ...found.path], message: found.message };
  }
  return null;
}

function nameFault(name: string): Fault | null {
  return name === '__proto__' ? fault('is not accepted as a name') : textFault(name);
}

function textFault(text: string): Fault | null {
  if (text.includes('\0')) return fault('must not contain the character NUL');
  return text.isWellFormed() ? null : fault('must be valid Unicode, without lone surrogates');
}

const fault = (message: string): Fault => ({ path: [], message });
