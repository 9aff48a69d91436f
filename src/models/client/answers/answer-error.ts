import { retryAdvice } from '../../../clients/net/retry-advice.js';
import { boundDepth, field } from '../../../clients/net/untrusted.js';
import { asObject, exceedsJsonLimits } from '../../../util/json.js';
import { codesOf, errorOfMiniMax, statusOfCodes } from './error-codes.js';

type Json = Record<string, unknown>;

/** An error in OpenAI's shape. */
export type ErrorBody = Json & { message: string };

/** An error in place of an answer, with the status that it stands for. */
export interface AnswerError {
  status: number;
  error: ErrorBody;
}

/** The status of an error that names none. */
const upstreamFault = 502;

/**
 * The error in a body or chunk whose HTTP status is 200: under one of the names of providers, in a
 * choice, or in a body without choices that says that it is a failure; null: there is none.
 */
export function errorInside(body: Json): AnswerError | null {
  const choices: unknown[] = Array.isArray(body['choices']) ? body['choices'] : [];
  if (isError(body['error'])) return withStatus(body);
  const inChoice = choices.map((choice) => field(choice, 'error')).find(isError);
  if (inChoice !== undefined) return withStatus({ error: inChoice });
  if (choices.some((choice) => field(choice, 'finish_reason') === 'error')) {
    return withStatus({ error: 'finish_reason is error' });
  }
  return choices.length === 0 && isFailure(body) ? withStatus(body) : null;
}

/** The error in an event of type `error`: an object in any form, or plain text. */
export function errorOfEvent(data: string, body: Json | null): AnswerError {
  return (body && errorInside(body)) ?? withStatus(body ?? { error: data });
}

/** The error in the body of a refusal, in any form of JSON; null: the body has no words. */
export function errorOfBody(text: string): ErrorBody | null {
  const body = errorJson(text);
  const { own, message } = body ? partsOf(body) : { own: null, message: null };
  return body && message !== null ? inOneShape(body, own, message) : null;
}

/** Words of Azure, Groq and OpenAI. */
const inWords =
  /\b(?:try again|retry) (?:in|after) (\d+(?:\.\d+)?(?:(?:ms|[hms])[\dhms.]{0,20}[hms])?(?:ms|[hms])?)(?![\w.]{0,20}\d| ?(?:min|hour|day))/i;

/**
 * The wait that an error body tells, as a `Retry-After` header has it: Google's `retryDelay`, the
 * headers that OpenRouter passes on, a field, or the words; null: none.
 */
export function errorAdvice(text: string, now: number): string | null {
  const body = errorJson(text);
  const own = body && partsOf(body).own;
  const details = (Array.isArray(own?.['details']) ? (own['details'] as unknown[]) : []).map(asObject);
  const headers = asObject(field(own?.['metadata'], 'headers')) ?? {};
  const given: Record<string, unknown> = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const delays = [
    ...details.map((detail) => detail?.['retryDelay']),
    ...['retry_after', 'retry_after_seconds', 'retryAfter'].flatMap((name) => [own?.[name], body?.[name]]),
  ];
  given['retry-after'] ??= delays.find((delay) => delay != null) ?? inWords.exec(text.slice(0, 4_096))?.[1];
  return retryAdvice(given, now).retryAfter;
}

/** The object of an error body; Google wraps it in a list. */
export function errorJson(text: string): Json | null {
  if (text === '' || exceedsJsonLimits(text)) return null;
  try {
    const body: unknown = JSON.parse(text);
    return asObject(boundDepth(asObject(Array.isArray(body) ? body[0] : body)));
  } catch (cause) {
    if (cause instanceof SyntaxError) return null;
    throw cause;
  }
}

/** Where providers put an error or a list of errors, beside `error`. */
const places = ['error', 'errors', 'detail', 'fault', 'exception'];

/** Where they put its words: OpenAI, FastAPI, Baidu, AWS, Apigee. */
const wordy = ['message', 'msg', 'error_message', 'error_msg', 'errorMessage', 'Message'];
const lessWordy = [...wordy, 'faultstring', 'detail', 'error', 'title'];

/** The part of a body that is the error, the body itself if none is, and its words. */
function partsOf(body: Json): { own: Json; message: string | null } {
  const place = places.find((name) => isError(body[name]));
  const given = place === undefined ? (errorOfMiniMax(body['base_resp']) ?? body) : body[place];
  const first: unknown = Array.isArray(given) ? given[0] : given;
  const own = asObject(first) ?? {};
  const around = first === true || first === body ? wordsIn(body) : null;
  const words = typeof first === 'string' ? first : wordsIn(own);
  return { own, message: words ?? around ?? (given === body ? null : JSON.stringify(given)) };
}

function wordsIn(error: Json): string | null {
  const text = lessWordy.map((name) => error[name]).find((value) => typeof value === 'string' && value.trim() !== '');
  return typeof text === 'string' ? text : null;
}

function withStatus(body: Json): AnswerError {
  const { own, message } = partsOf(body);
  const error = inOneShape(body, own, message ?? JSON.stringify(body));
  const status = statusIn(own) ?? statusIn(body) ?? statusOfCodes(codesOf(body, own)) ?? upstreamFault;
  return { status, error };
}

function inOneShape(body: Json, own: Json, message: string): ErrorBody {
  const isFlat = own === body;
  const code = own['code'] ?? body['code'] ?? body['error_code'] ?? null;
  const types = [own['type'], body['error_type'], isFlat ? null : body['type']];
  const type = types.find((word) => typeof word === 'string' && word !== '' && word !== 'error') ?? 'upstream_error';
  return { ...(isFlat ? {} : own), message, type, code, param: own['param'] ?? null };
}

/** Whether a value in the place of an error is one: not empty, and not a code of success alone. */
function isError(value: unknown): boolean {
  const object = asObject(value);
  if (object) return Object.values(object).some((part) => !isNothing(part));
  if (Array.isArray(value)) return value.length > 0 && value.some((part) => part !== null);
  return value === true || (typeof value === 'string' && value.trim() !== '');
}

const isNothing = (value: unknown): boolean => [null, undefined, '', 0, '0', false].includes(value as null);

/** Whether a body without choices and `error` says that it is a failure. */
function isFailure(body: Json): boolean {
  if (places.some((name) => isError(body[name])) || errorOfMiniMax(body['base_resp'])) return true;
  const hasWords = wordy.some((name) => typeof body[name] === 'string' && body[name] !== '');
  const isNamed = ['error', 'failed', 'fail', 'failure'].some(
    (word) => body['type'] === word || body['object'] === word || body['status'] === word,
  );
  const hasCode = [body['code'], body['error_code']].some((code) => !isNothing(code));
  return hasWords && (isNamed || hasCode || body['success'] === false || statusIn(body) !== null);
}

/** The status that an error names, as a number or a text. */
function statusIn(error: Json): number | null {
  for (const name of ['status', 'code', 'status_code', 'statusCode', 'http_status']) {
    const value = error[name];
    const status = typeof value === 'string' && /^\s*\d{3}(\.0+)?\s*$/.test(value) ? Number(value) : value;
    if (typeof status === 'number' && Number.isInteger(status) && status >= 400 && status < 600) return status;
  }
  return null;
}
