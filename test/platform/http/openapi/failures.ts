/** Failures of the service beside the examples that operations share. */
import type { TestService } from '../../../support/service.js';
import type { Document } from './recorder.js';

const sessions = '/api/v1/online/sessions';
const session = '/api/gepa/v1/ses_00000000000000000000000000000001';
const proxy = `${session}/chat/completions`;
const messages = `${session}/messages`;

/** A request for each failure that a test can cause at once. */
const requests: Record<string, { method: string; path: string; body?: string; headers?: Record<string, string> }> = {
  Problem400: { method: 'POST', path: sessions, body: '{' },
  Problem401: { method: 'GET', path: sessions, headers: { authorization: 'Bearer none' } },
  Problem404: { method: 'GET', path: `${sessions}/ses_00000000000000000000000000000001` },
  Problem413: { method: 'POST', path: sessions, body: ' '.repeat(2 ** 20 + 1) },
  Problem415: { method: 'POST', path: sessions, body: 'x', headers: { 'content-type': 'text/plain' } },
  Problem422: { method: 'GET', path: `${sessions}?limit=0` },
  OpenAiError400: { method: 'POST', path: proxy, body: '{' },
  OpenAiError404: { method: 'POST', path: proxy, body: '{"messages":[{"role":"user","content":"x"}]}' },
  AnthropicError400: { method: 'POST', path: messages, body: '{' },
  AnthropicError404: { method: 'POST', path: messages, body: '{"messages":[{"role":"user","content":"x"}]}' },
};

/** Status, code and names of fields of each failure. */
export async function failures({ url, apiKey }: TestService): Promise<Record<string, unknown>> {
  const entries = Object.entries(requests).map(async ([name, { method, path, body = null, headers }]) => {
    const response = await fetch(url + path, {
      method,
      body,
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', ...headers },
    });
    return [name, described(response.status, (await response.json()) as Failure)] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

/** The same of the examples. */
export function shownFailures({ components: { examples } }: Document): Record<string, unknown> {
  const entries = Object.keys(requests).map((name) => {
    return [name, described(Number(name.slice(-3)), examples[name]!.value as Failure)] as const;
  });
  return Object.fromEntries(entries);
}

interface Failure {
  error: { code: string };
}

const described = (status: number, body: Failure) => ({
  status,
  code: body.error.code,
  fields: Object.keys(body).sort(),
});
