/** The forms of the inference API other than chat completions. */
export type FormName = 'responses' | 'messages';

/** The form of an error: a problem document, or that of the API that was called. */
export type ErrorForm = 'problem' | 'openai' | 'anthropic';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The form of an inference route's requests and answers; absent: chat completions. */
    form?: FormName;
  }
}

/** The end of the path of a model call. */
const ends = 'chat/completions|responses|messages';
const callPath = new RegExp(`/(?:${ends})(?:\\?|$)`);
const inferencePath = new RegExp(`^/(?:v1|api/gepa)/|^/api/harbor/deployments/[^/?]*(?:/v1)?/(?:${ends})(?:\\?|$)`);
const messagePath = /\/messages(?:\/[^?]*)?(?:\?|$)/;

/** Whether a path is that of a model call. */
export function isCallPath(url: string): boolean {
  return callPath.test(url);
}

/** The form of errors below a path, known or not. */
export function errorFormOf(url: string): ErrorForm {
  if (!inferencePath.test(url)) return 'problem';
  return messagePath.test(url) ? 'anthropic' : 'openai';
}

const anthropicTypes: Record<number, string> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
};

/** An error in the form of Anthropic's API, with the code and the other fields beside. */
export function anthropicError(status: number, error: Record<string, unknown>) {
  const type = anthropicTypes[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error');
  return { type: 'error', error: { ...error, type } };
}
