import { createParser, type EventSourceMessage } from 'eventsource-parser';
import type { ReceivedRollout } from '../support/fake-answers.js';

/** How a model call ended for the container: `status` 0 where the connection broke, `text` null without a whole answer. */
export interface Heard {
  status: number;
  text: string | null;
}

/** How long a container waits for its model. */
const waitMs = 10_000;

/** Asks the model through the `inference_url` of the rollout, as containers do, streaming or not. */
export async function askModel(call: ReceivedRollout, user: string, stream: boolean): Promise<Heard> {
  const { inference_url: base, inference_api_key: key, model } = call.body.policy.config;
  let status = 0;
  try {
    const answer = await fetch(`${base}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: user }], stream }),
      signal: AbortSignal.timeout(waitMs),
    });
    ({ status } = answer);
    const said = await answer.text();
    if (!answer.ok) return { status, text: null };
    return {
      status,
      text: answer.headers.get('content-type')?.startsWith('text/event-stream') ? told(said) : textOf(said),
    };
  } catch (error) {
    // The service or the connection has died: that is what this is about.
    if (['TypeError', 'TimeoutError'].includes((error as Error).name)) return { status: 0, text: null };
    throw error;
  }
}

interface Completion {
  choices?: { message?: { content?: string }; delta?: { content?: string } }[];
}

/** The text of a whole completion; one of another form is an answer too, of no text. */
function textOf(said: string): string {
  const { choices } = JSON.parse(said) as Completion;
  return (Array.isArray(choices) && choices[0]?.message?.content) || '';
}

/** The text of a stream that came to its end. */
function told(said: string): string | null {
  const events: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (event) => events.push(event) });
  parser.feed(said);
  if (events.at(-1)?.data !== '[DONE]') return null;
  return events
    .slice(0, -1)
    .map(({ data }) => (JSON.parse(data) as Completion).choices?.[0]?.delta?.content ?? '')
    .join('');
}
