import { Agent, request } from 'undici';
import { now } from '../clock.js';
import { openLoop } from '../open-loop.js';

/** A kind of call under load; `body` differs by call where the service would share answers. */
export interface Asked {
  url(index: number): string;
  headers: Record<string, string>;
  body(index: number): string;
}

/** Answers of a load, and milliseconds from sending an admitted call to its last byte. */
export interface Answers {
  /** Calls per second that were due. */
  offered: number;
  admitted: number[];
  /** 429 or 503 with `retry-after`. */
  refused: number;
  /** Any other answer or a broken connection, by what it was. */
  failed: Record<string, number>;
  /** Calls that found no free connection of the load's own. */
  unsent: number;
}

/** Connections of a load; a call that is due while all wait for an answer is not sent. */
const connections = 1_000;
const patienceMs = 60_000;

export function createLoadCaller() {
  const dispatcher = new Agent({ pipelining: 1, connect: { timeout: patienceMs } });
  let index = 0;

  async function call(asked: Asked, answers: Answers): Promise<void> {
    const sentAt = now();
    const { url, headers } = asked;
    index += 1;
    try {
      const {
        statusCode,
        headers: given,
        body,
      } = await request(url(index), {
        dispatcher,
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: asked.body(index),
        signal: AbortSignal.timeout(patienceMs),
      });
      const text = await body.text();
      const isRefusal = (statusCode === 429 || statusCode === 503) && given['retry-after'] !== undefined;
      if (statusCode < 300) answers.admitted.push(now() - sentAt);
      else if (isRefusal) answers.refused += 1;
      else count(answers, `${statusCode} ${text.slice(0, 200)}`);
    } catch (error) {
      count(answers, String((error as NodeJS.ErrnoException).code ?? (error as Error).message));
    }
  }

  return {
    /** As many calls at once for so many seconds: the rate that the service can carry. */
    async closed(asked: Asked, atOnce: number, seconds: number): Promise<Answers> {
      const answers = none();
      const deadline = now() + seconds * 1_000;
      const loop = async () => {
        while (now() < deadline) await call(asked, answers);
      };
      await Promise.all(Array.from({ length: atOnce }, loop));
      return answers;
    },

    /** Calls at a constant rate. `early` has the answers to the calls of the first seconds. */
    async open(asked: Asked, perSecond: number, seconds: number, earlySeconds = 0) {
      const early = { ...none(), offered: perSecond };
      const answers = { ...none(), offered: perSecond };
      const from = now() + earlySeconds * 1_000;
      let inFlight = 0;
      await openLoop(perSecond, earlySeconds + seconds, async () => {
        const own = now() < from ? early : answers;
        if (inFlight >= connections) return void (own.unsent += 1);
        inFlight += 1;
        await call(asked, own);
        inFlight -= 1;
      });
      return { ...answers, early };
    },
    close: () => dispatcher.destroy(),
  };
}

export type LoadCaller = ReturnType<typeof createLoadCaller>;

const none = (): Answers => ({ offered: 0, admitted: [], refused: 0, failed: {}, unsent: 0 });

function count({ failed }: Answers, what: string): void {
  failed[what] = (failed[what] ?? 0) + 1;
}
