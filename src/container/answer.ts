/** A response; `body` is serialized early, so that a failure shows at its source. */
export interface Answer {
  status: number;
  body: string;
  retryAfter?: string | null;
}

export function json(status: number, body: Record<string, unknown>): Answer {
  return { status, body: JSON.stringify(body) };
}

export function problem(status: number, detail: string): Answer {
  return json(status, { detail, error: { message: detail } });
}
