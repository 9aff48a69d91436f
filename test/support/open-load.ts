import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

/** A POST of the load; `mark` is unique and in its body. */
export interface LoadCall {
  url: string;
  key: string;
  body(mark: string): object;
}

/** What a caller got; `status` 0: no answer began. */
export interface LoadAnswer {
  call: LoadCall;
  mark: string;
  status: number;
  retryAfter: string | null;
  /** null: the answer broke off. */
  text: string | null;
}

/** Sends the calls in turn at a constant rate, whatever the answers, until it is stopped. */
export function startOpenLoad(calls: readonly LoadCall[], perSecond: number) {
  const answers: LoadAnswer[] = [];
  const pending = new Set<Promise<void>>();
  let isOver = false;

  async function sendOne(call: LoadCall): Promise<void> {
    const mark = randomUUID();
    const answer: LoadAnswer = { call, mark, status: 0, retryAfter: null, text: null };
    try {
      const response = await send(call, mark);
      answer.status = response.status;
      answer.retryAfter = response.headers.get('retry-after');
      answer.text = await response.text();
    } catch (error) {
      if ((error as Error).name !== 'TypeError') throw error;
    }
    answers.push(answer);
  }

  async function sendAll(): Promise<void> {
    for (let n = 0; !isOver; n += 1) {
      const sent = sendOne(calls[n % calls.length]!);
      pending.add(sent);
      void sent.finally(() => pending.delete(sent));
      await delay(1_000 / perSecond);
    }
    await Promise.all(pending);
  }
  const sending = sendAll();
  sending.catch(() => undefined);
  return {
    answers,
    stop: () => {
      isOver = true;
      return sending;
    },
  };
}

/** Sends a call under its mark; repeated, it is the same request. */
export function send({ url, key, body }: LoadCall, mark: string): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}`, 'idempotency-key': mark },
    body: JSON.stringify(body(mark)),
  });
}
