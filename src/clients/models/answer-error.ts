import { field } from '../net/untrusted.js';
import { asObject } from '../../util/json.js';

type Json = Record<string, unknown>;

/** An error in place of an answer, with the status that it stands for, in OpenAI's shape. */
export interface AnswerError {
  status: number;
  error: Json & { message: string };
}

/** The status of an error that names none. */
const upstreamFault = 502;

/**
 * The error in a body or chunk whose HTTP status is 200: `error` as an object or a text, that of a
 * choice, or a body without choices that tells a fault in another form; null: there is none.
 */
export function errorInside(body: Json): AnswerError | null {
  const choices: unknown[] = Array.isArray(body['choices']) ? body['choices'] : [];
  const inChoice = choices.map((choice) => field(choice, 'error')).find(isError);
  if (isError(body['error'])) return named(body['error'], body);
  if (inChoice !== undefined) return named(inChoice, {});
  if (choices.some((choice) => field(choice, 'finish_reason') === 'error')) return named('finish_reason is error', {});
  return choices.length === 0 ? bareError(body) : null;
}

/** The error in an event of type `error`: an object in any form, or plain text. */
export function errorOfEvent(data: string, body: Json | null): AnswerError {
  return (body && (errorInside(body) ?? named(body, {}))) ?? named(data, {});
}

function isError(value: unknown): boolean {
  const object = asObject(value);
  if (object) return Object.values(object).some((part) => part !== null && part !== '');
  return value === true || (typeof value === 'string' && value.trim() !== '') || Array.isArray(value);
}

/** A fault without `error`: FastAPI's `detail`, or a message beside a code. */
function bareError(body: Json): AnswerError | null {
  if (isError(body['detail']) || isError(body['errors'])) return named(body['detail'] ?? body['errors'], body);
  const text = body['message'] ?? body['msg'] ?? body['error_message'];
  const isFault = statusIn(body) !== null || body['type'] === 'error' || body['object'] === 'error';
  return typeof text === 'string' && text !== '' && (isFault || field(body, 'code') != null) ? named(body, {}) : null;
}

function named(given: unknown, around: Json): AnswerError {
  const own = asObject(given) ?? {};
  const text = own['message'] ?? own['msg'] ?? own['error_message'] ?? own['detail'] ?? around['message'];
  const message = typeof given === 'string' ? given : typeof text === 'string' ? text : JSON.stringify(given);
  const code = own['code'] ?? around['code'] ?? null;
  const type = typeof own['type'] === 'string' ? own['type'] : 'upstream_error';
  return {
    status: statusIn(own) ?? statusIn(around) ?? upstreamFault,
    error: { ...own, message, type, code, param: own['param'] ?? null },
  };
}

/** The status that an error names, as a number or a text. */
function statusIn(error: Json): number | null {
  for (const name of ['code', 'status', 'status_code']) {
    const value = error[name];
    const status = typeof value === 'string' && /^\s*\d{3}\s*$/.test(value) ? Number(value) : value;
    if (typeof status === 'number' && Number.isInteger(status) && status >= 400 && status < 600) return status;
  }
  return null;
}
