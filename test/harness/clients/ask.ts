import { createParser, type EventSourceMessage } from 'eventsource-parser';
import type { ReceivedRollout } from '../../support/fakes/container-answers.js';

/**
 * Result of a model call: `status` 0 for a broken connection, `text` null without a whole answer.
 */
export interface Heard {
  status: number;
  text: string | null;
}

/** Time limit of a call. */
const waitMs = 10_000;

/**
 * Calls the model through the rollout's `inference_url`, streaming or not. `isRetry`: the
 * answer to the same call did not arrive.
 */
export async function askModel(
  call: ReceivedRollout,
  user: string,
  { stream, isRetry, through }: { stream: boolean; isRetry: boolean; through?: string | undefined },
): Promise<Heard> {
  const { inference_url: base, inference_api_key: key, model } = call.body.policy.config;
  const url = through ? through + new URL(base).pathname : base;
  const body = { model, messages: [{ role: 'user', content: user }], stream };
  const { status, text } = await ask(url, key, body, { 'x-ratchet-retry': String(isRetry) });
  return { status, text };
}

/** Requests a completion at a base URL; `headers` null: no answer arrived. */
export async function ask(
  base: string,
  key: string,
  body: object,
  more: Record<string, string> = {},
): Promise<Heard & { headers: Headers | null }> {
  let status = 0;
  let headers: Headers | null = null;
  try {
    const answer = await fetch(`${base}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, ...more },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(waitMs),
    });
    ({ status, headers } = answer);
    const said = await answer.text();
    if (!answer.ok) return { status, text: null, headers };
    const isStream = headers.get('content-type')?.startsWith('text/event-stream');
    return { status, text: isStream ? streamedText(said) : textOf(said), headers };
  } catch (error) {
    // Expected: the service or the connection died.
    if (['TypeError', 'TimeoutError'].includes((error as Error).name)) return { status: 0, text: null, headers };
    throw error;
  }
}

interface Completion {
  choices?: { message?: { content?: string }; delta?: { content?: string } }[];
}

/** The text of a complete completion; empty for an answer of another form. */
function textOf(said: string): string {
  const { choices } = JSON.parse(said) as Completion;
  return (Array.isArray(choices) && choices[0]?.message?.content) || '';
}

/** The text of a complete stream. */
function streamedText(said: string): string | null {
  const events: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (event) => events.push(event) });
  parser.feed(said);
  if (events.at(-1)?.data !== '[DONE]') return null;
  return events
    .slice(0, -1)
    .map(({ data }) => (JSON.parse(data) as Completion).choices?.[0]?.delta?.content ?? '')
    .join('');
}
