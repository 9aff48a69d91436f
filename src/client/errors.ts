import type { Problem } from './api.js';

/** A field's error; `pointer` is a JSON pointer into body, query or headers. */
export type FieldError = NonNullable<Problem['errors']>[number];

interface Details {
  status?: number;
  code: string;
  fieldErrors?: FieldError[];
  requestId?: string | null;
  headers?: Headers;
  problem?: Partial<Problem>;
  cause?: unknown;
}

/** A call that failed: the service refused it, or did not answer. */
export class RatchetError extends Error {
  override readonly name = 'RatchetError';
  /** The HTTP status; null: no answer came. */
  readonly status: number | null;
  /**
   * Of the problem; else `unreachable`, `timeout`, `invalid_answer`, `invalid_header` or
   * `invalid_url`.
   */
  readonly code: string;
  /** The faulty fields of a 422. */
  readonly fieldErrors: readonly FieldError[];
  /** Quote it when you report a fault of the service. */
  readonly requestId: string | null;
  /** Seconds until another try may succeed, if the service said so. */
  readonly retryAfter: number | null;
  /** The headers of the answer, such as `RateLimit`. */
  readonly headers: Headers | null;
  /** The whole problem document, with members such as `current_status`. */
  readonly problem: Partial<Problem>;

  constructor(message: string, { status, code, fieldErrors, requestId, headers, problem, cause }: Details) {
    super(message, { cause });
    this.status = status ?? null;
    this.code = code;
    this.fieldErrors = fieldErrors ?? [];
    this.requestId = requestId ?? null;
    this.headers = headers ?? null;
    this.retryAfter = secondsOf(headers?.get('retry-after') ?? null);
    this.problem = problem ?? {};
  }
}

/** The seconds of a `retry-after` header, which holds seconds or a date. */
function secondsOf(header: string | null): number | null {
  if (header === null || header.trim() === '') return null;
  const seconds = Number(header);
  const left = Number.isNaN(seconds) ? (Date.parse(header) - Date.now()) / 1_000 : seconds;
  return Number.isNaN(left) ? null : Math.max(0, left);
}

/** The longest quotation of an answer that is no problem document. */
const quoted = 200;

/** Reads the failure of an answer; inference paths answer OpenAI's `error` alone. */
export async function errorOf(call: string, response: Response): Promise<RatchetError> {
  const text = await response.text();
  const problem = parse(text);
  const { status, headers } = response;
  const details = { status, headers, problem, fieldErrors: problem.errors ?? [] };
  const requestId = problem.request_id ?? headers.get('x-request-id');
  const said = problem.detail ?? problem.error?.message ?? text.trim().slice(0, quoted);
  // The detail names the first fields.
  const named = ({ pointer, message }: FieldError) =>
    said.includes(`${pointer.slice(1).replaceAll('/', '.')}: ${message.replace(/\.$/, '')}`);
  const unnamed = details.fieldErrors.filter((error) => !named(error));
  const lines = unnamed.map(({ pointer, message }) => `\n  ${pointer} ${message}`);
  const code = problem.code ?? problem.error?.code ?? 'unknown';
  return new RatchetError(`${call}: ${status} ${said || code}${lines.join('')}`, { ...details, code, requestId });
}

function parse(text: string): Partial<Problem> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    // An answer of something between: its text is quoted.
    return {};
  }
}
