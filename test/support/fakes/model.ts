import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import type { Behaviour, ReceivedRollout } from './container-answers.js';
import { listen } from '../loopback.js';

/** A chat completion request as the fake model received it. */
export interface ModelRequest {
  body: Record<string, unknown> & { model: string; messages: { role: string; content: string }[]; stream?: boolean };
  headers: IncomingHttpHeaders;
  /** Number of the request, from 1. */
  n: number;
  /** Whether it was answered completely or aborted by the caller. */
  closed: boolean;
  /** Resolves at the end; true: it was answered completely. */
  ended: Promise<boolean>;
}

/** Answers a request for the list of models. */
type ListModels = (request: IncomingMessage, response: ServerResponse) => void;

/** Reply to a request; default: a text, with usage counted in words. */
export interface ModelReply {
  text?: string;
  /** Merged over the completion (and over each chunk of a stream). */
  fields?: Record<string, unknown>;
  usage?: Record<string, unknown> | null;
  /** Default: `stop`. */
  finish?: string;
  /** Sent instead of a completion, with `status`. */
  raw?: string | Buffer;
  status?: number;
  headers?: Record<string, string>;
  /** Breaks the connection after this many chunks of a stream, or before any answer for 0. */
  cutAfter?: number;
  /** Sent instead of everything after `cutAfter` chunks; absent: the connection breaks. */
  tail?: string;
  /** Awaited after the first chunk of a stream, or after `holdAfter` chunks. */
  hold?: Promise<unknown>;
  holdAfter?: number;
  /** Breaks the connection in the middle of a body without streaming. */
  cutBody?: boolean;
  /** Leaves out `data: [DONE]`. */
  noDone?: boolean;
  /** Bytes per write of a stream; default: one event per write. */
  sliceBytes?: number;
  /** Pause after each event of a stream, in milliseconds. */
  pauseMs?: number;
  /** Answers in place of a completion. */
  behave?: Behaviour;
}

export interface FakeModel {
  /** The base URL, with /v1. */
  url: string;
  requests: ModelRequest[];
  /** Number of completely sent streams and answers. */
  finished(): number;
  /** Answers `GET /v1/models`; null: as a provider without a list. */
  list(next: ListModels | null): void;
  reply(next: (request: ModelRequest) => ModelReply | Promise<ModelReply>): void;
  close(): Promise<void>;
}

/** An OpenAI-compatible model provider as a real HTTP server, with faults on demand. */
export async function startFakeModel(
  first: (request: ModelRequest) => ModelReply | Promise<ModelReply> = () => ({}),
): Promise<FakeModel> {
  let choose = first;
  let finished = 0;
  const requests: ModelRequest[] = [];
  let listed: ListModels | null = null;

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method === 'GET' && request.url === '/v1/models' && listed) return listed(request, response);
    if (request.method !== 'POST' || request.url !== '/v1/chat/completions') {
      response.writeHead(404).end('{"error":{"message":"no such route"}}');
      return;
    }
    const body = JSON.parse(await text(request)) as ModelRequest['body'];
    const ended = once(response, 'close').then(() => response.writableFinished);
    const received = { body, headers: request.headers, n: requests.length + 1, closed: false, ended };
    requests.push(received);
    response.once('close', () => (received.closed = true));
    response.once('finish', () => (finished += 1));
    const reply = await choose(received);
    if (reply.behave) await reply.behave({} as ReceivedRollout, response);
    else if (reply.cutAfter === 0 && reply.tail === undefined) response.socket?.resetAndDestroy();
    else if (reply.cutBody) {
      const body = JSON.stringify(completion(received, reply));
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
      response.write(body.slice(0, body.length / 2), () => response.socket?.resetAndDestroy());
    } else if (reply.raw !== undefined)
      response.writeHead(reply.status ?? 200, { 'content-type': 'application/json', ...reply.headers }).end(reply.raw);
    else if (body.stream) await stream(received, reply, response);
    else {
      const whole = JSON.stringify(completion(received, reply));
      response.writeHead(reply.status ?? 200, { 'content-type': 'application/json', ...reply.headers }).end(whole);
    }
  }

  const server = createServer((request, response) => {
    handle(request, response).catch((error: Error) => {
      if (response.headersSent) response.destroy(error);
      else response.writeHead(500).end(JSON.stringify({ error: { message: `the fake model failed: ${error.stack}` } }));
    });
  });
  const { url, close } = await listen(server);
  return {
    url: `${url}/v1`,
    requests,
    finished: () => finished,
    reply: (next) => (choose = next),
    list: (next) => (listed = next),
    close,
  };
}

/** Without a quantifier: a match of megabytes may overflow the stack of the regular expression. */
const words = (value: unknown) => String(value ?? '').match(/(?<!\S)\S/g)?.length ?? 0;

function textOf({ body, n }: ModelRequest, reply: ModelReply): string {
  return reply.text ?? `answer ${n} to: ${body.messages.at(-1)?.content ?? ''}`;
}

function usageOf(request: ModelRequest, reply: ModelReply): Record<string, unknown> | null {
  if (reply.usage !== undefined) return reply.usage;
  const prompt = request.body.messages.reduce((sum, message) => sum + words(message.content), 0);
  const answer = words(textOf(request, reply));
  return { prompt_tokens: prompt, completion_tokens: answer, total_tokens: prompt + answer };
}

function head({ body, n }: ModelRequest, object: string) {
  return { id: `chatcmpl-${n}`, object, created: 1_700_000_000, model: body.model, system_fingerprint: 'fp_fake' };
}

function completion(request: ModelRequest, reply: ModelReply) {
  const message = { role: 'assistant', content: textOf(request, reply), refusal: null };
  const usage = usageOf(request, reply);
  return {
    ...head(request, 'chat.completion'),
    choices: [{ index: 0, message, logprobs: null, finish_reason: reply.finish ?? 'stop' }],
    ...(usage && { usage }),
    ...reply.fields,
  };
}

async function stream(request: ModelRequest, reply: ModelReply, response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', ...reply.headers });
  const pieces = textOf(request, reply)
    .trimStart()
    .split(/(?<=\s)(?=\S)/)
    .filter(Boolean);
  const base = { ...head(request, 'chat.completion.chunk'), ...reply.fields };
  const choice = (delta: Record<string, unknown>, finish: string | null) => ({
    ...base,
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
  });
  const includeUsage = (request.body['stream_options'] as { include_usage?: boolean } | undefined)?.include_usage;
  const usage = usageOf(request, reply);
  const chunks: unknown[] = [
    choice({ role: 'assistant', content: '' }, null),
    ...pieces.map((piece) => choice({ content: piece }, null)),
    choice({}, reply.finish ?? 'stop'),
    ...(includeUsage && usage ? [{ ...base, choices: [], usage }] : []),
  ];
  const events = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`);
  if (!reply.noDone) events.push('data: [DONE]\n\n');
  for (const [i, event] of events.entries()) {
    if (i === reply.cutAfter) {
      if (reply.tail === undefined) response.socket?.resetAndDestroy();
      else response.end(reply.tail);
      return;
    }
    if (i === (reply.holdAfter ?? 1)) await reply.hold;
    await writeAll(response, event, reply.sliceBytes);
    if (reply.pauseMs) await delay(reply.pauseMs);
  }
  response.end();
}

async function writeAll(response: ServerResponse, event: string, sliceBytes?: number): Promise<void> {
  const bytes = Buffer.from(event);
  const step = sliceBytes ?? bytes.length;
  for (let at = 0; at < bytes.length; at += step) {
    response.write(bytes.subarray(at, at + step));
    // Each write becomes a separate chunk.
    await new Promise((go) => setImmediate(go));
  }
}
