import { appendFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { answers, type Behaviour, type ReceivedRollout, type RolloutBody } from './container-answers.js';
import { listen } from '../loopback.js';

export { answers, type Behaviour, type ReceivedRollout, type RolloutBody } from './container-answers.js';

/** One call of the ledger; times are epoch milliseconds, `out` null while it is in flight. */
export interface LedgerEntry {
  seed: number;
  rolloutId: string;
  attempt: number;
  in: number;
  out: number | null;
  /** Number of rollouts in flight on arrival, including this one. */
  concurrency: number;
  headers: ReceivedRollout['headers'];
  body: RolloutBody;
}

export interface FakeContainerOptions {
  /** Behaviour for a call; default: a reward of 1. */
  behave?: (call: ReceivedRollout) => Behaviour;
  /** Required key; calls without it get 401. */
  apiKey?: string;
  /** The messages of `/task_info`; absent: 404. */
  prompt?: { role: string; content: string; name?: string }[];
  health?: Behaviour;
  taskInfo?: Behaviour;
  /** Also logs a JSON line here at the start and end of each call. */
  ledgerFile?: string;
  port?: number;
}

/** The caller's container as a real HTTP server, with a ledger of the service's calls. */
export interface FakeContainer {
  url: string;
  ledger: LedgerEntry[];
  /** Calls of GET routes, as `/path`. */
  probes: { path: string; headers: IncomingMessage['headers'] }[];
  maxConcurrency(): number;
  /** The calls of a job's rollouts. */
  callsOf(jobId: string): LedgerEntry[];
  /** Changes the behaviour for later calls. */
  behave(choose: (call: ReceivedRollout) => Behaviour): void;
  close(): Promise<void>;
}

export async function startFakeContainer(options: FakeContainerOptions = {}): Promise<FakeContainer> {
  let choose = options.behave ?? (() => answers.reward(1));
  const ledger: LedgerEntry[] = [];
  const probes: FakeContainer['probes'] = [];
  let inFlight = 0;
  const note = (line: Record<string, unknown>) => {
    if (options.ledgerFile) appendFileSync(options.ledgerFile, `${JSON.stringify(line)}\n`);
  };

  async function rollout(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = JSON.parse(await text(request)) as RolloutBody;
    const seed = body.env.seed;
    const rolloutId = body.rollout_id;
    const attempt = ledger.filter((entry) => entry.rolloutId === rolloutId).length + 1;
    inFlight += 1;
    const { headers } = request;
    const entry: LedgerEntry = {
      seed,
      rolloutId,
      attempt,
      in: Date.now(),
      out: null,
      concurrency: inFlight,
      headers,
      body,
    };
    ledger.push(entry);
    note({ event: 'in', seed, rolloutId, attempt, at: entry.in, concurrency: inFlight });
    response.once('close', () => {
      inFlight -= 1;
      entry.out = Date.now();
      note({
        event: 'out',
        seed,
        rolloutId,
        attempt,
        at: entry.out,
        status: response.statusCode,
        finished: response.writableFinished,
      });
    });
    const call = { seed, rolloutId, attempt, headers, body };
    await choose(call)(call, response);
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '').split('?', 1)[0]!;
    if (request.method === 'GET') probes.push({ path, headers: request.headers });
    const none = {} as ReceivedRollout;
    if (options.apiKey && request.headers['x-api-key'] !== options.apiKey) {
      await answers.refuseKey(401)(none, response);
    } else if (request.method === 'POST' && path === '/rollout') {
      await rollout(request, response);
    } else if (path === '/health') {
      await (options.health ?? answers.status(200, '{"status":"ok"}'))(none, response);
    } else if (path === '/task_info' && (options.taskInfo || options.prompt)) {
      const info = answers.json(() => ({ initial_prompt: { messages: options.prompt } }));
      await (options.taskInfo ?? info)(none, response);
    } else {
      await answers.status(404, '{"detail":"Not Found"}')(none, response);
    }
  }

  const server = createServer((request, response) => {
    handle(request, response).catch((error: Error) => {
      if (!response.headersSent) response.writeHead(500);
      response.end(error.stack);
    });
  });
  const { url, close } = await listen(server, options.port);
  return {
    url,
    ledger,
    probes,
    maxConcurrency: () => Math.max(0, ...ledger.map((entry) => entry.concurrency)),
    callsOf: (jobId) => ledger.filter((entry) => entry.rolloutId.includes(jobId.slice(4))),
    behave: (next) => (choose = next),
    close,
  };
}
