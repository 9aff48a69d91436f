import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { candidateId } from '../../../src/core/jobs/ids.js';
import { generationComplete } from '../../../src/core/events/search.js';
import { appendEvents, lockJob } from '../../../src/jobs/store/events.js';
import { until } from '../../support/until.js';
import { createEvaluation, createSession, finish, httpOfFile, startHttp } from '../../platform/http/support.js';

const http = httpOfFile({ timing: { pollMs: 5_000, heartbeatMs: 300, stallMs: 500 } });
let base: string;
beforeAll(async () => {
  base = await http.listen();
});

const sessions = '/api/v1/online/sessions';

/** Publishes `count` events; `bytes` makes each that long. */
async function publish(jobId: string, count: number, bytes = 0): Promise<void> {
  await http.db.org('default', async (tx) => {
    const job = { orgId: 'default', jobId };
    await lockJob(tx, job);
    await appendEvents(
      tx,
      job,
      Array.from({ length: count }, () => {
        serial += 1;
        const event = generationComplete(
          jobId,
          { generation: serial, bestReward: 0.5, bestCandidate: 0 },
          { rolloutsCompleted: 1, costUsd: null },
        );
        return { ...event, message: event.message.padEnd(bytes, 'x') };
      }),
    );
  });
}
let serial = 0;

interface Reader {
  events: EventSourceMessage[];
  comments: string[];
  retry: number | null;
  headers: Headers;
  status: number;
  ended: Promise<void>;
  leave(): void;
}

async function read(path: string, headers: Record<string, string> = {}, at = base): Promise<Reader> {
  const abort = new AbortController();
  const response = await fetch(at + path, {
    headers: { authorization: `Bearer ${http.key}`, accept: 'text/event-stream', ...headers },
    signal: abort.signal,
  });
  const reader: Reader = {
    events: [],
    comments: [],
    retry: null,
    headers: response.headers,
    status: response.status,
    ended: Promise.resolve(),
    leave: () => abort.abort(),
  };
  const parser = createParser({
    onEvent: (event) => reader.events.push(event),
    onComment: (comment) => reader.comments.push(comment),
    onRetry: (ms) => (reader.retry = ms),
  });
  reader.ended = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) parser.feed(decoder.decode(chunk as Uint8Array, { stream: true }));
  })();
  reader.ended.catch(() => {});
  return reader;
}

const ids = ({ events }: Reader) => events.map(({ id }) => Number(id));
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);

describe('the stream', () => {
  test('replays from 1, continues live, and ends after the terminal event', async () => {
    const id = await createSession(http);
    await publish(id, 250);
    const reader = await read(`${sessions}/${id}/events`);
    expect(reader.status).toBe(200);
    expect(reader.headers.get('content-type')).toMatch(/^text\/event-stream/);
    expect(reader.headers.get('cache-control')).toBe('no-store, no-transform');
    expect(reader.headers.get('x-accel-buffering')).toBe('no');
    expect(reader.headers.get('x-request-id')).toBeTruthy();
    await until('the replay is there', () => reader.events.length === 250);
    expect(reader.retry).toBe(2000);
    await publish(id, 1);
    // Before the poll of 5 s: by notification.
    await until('the live event is there', () => reader.events.length === 251, 3);
    await http.db.org('default', (tx) => finish(tx, { orgId: 'default', jobId: id }, 'completed'));
    await reader.ended;
    expect(ids(reader)).toEqual(range(1, 252));
    const [first, last] = [reader.events[0]!, reader.events.at(-1)!];
    expect(last.event).toBe('job_complete');
    const data = JSON.parse(first.data);
    expect(first.event).toBe('generation_complete');
    const fields = {
      generation: data.generation,
      best_reward: 0.5,
      best_reward_interval: null,
      best_candidate_id: candidateId(id, 0),
      rollouts_completed: 1,
      estimated_reward: null,
      estimated_reward_interval: null,
      cost_usd: null,
    };
    expect(data).toEqual({
      type: 'generation_complete',
      seq: 1,
      ts: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      session_id: id,
      job_id: id,
      message: expect.any(String),
      data: fields,
      ...fields,
    });
  });

  test('resumes after Last-Event-ID or ?after=, and a reconnect from the end is 204', async () => {
    const id = await createSession(http);
    await publish(id, 5);
    await http.db.org('default', (tx) => finish(tx, { orgId: 'default', jobId: id }, 'failed'));
    const all = await read(`${sessions}/${id}/events`);
    await all.ended;
    const last = all.events.length;
    expect(ids(all)).toEqual(range(1, last));
    expect(all.events.at(-1)!.event).toBe('job_failed');
    const byHeader = await read(`${sessions}/${id}/events`, { 'last-event-id': '3' });
    await byHeader.ended;
    expect(ids(byHeader)).toEqual(range(4, last));
    const byQuery = await read(`${sessions}/${id}/events?after=${last - 1}`);
    await byQuery.ended;
    expect(ids(byQuery)).toEqual([last]);
    for (const after of [last, last + 5]) {
      const end = await read(`${sessions}/${id}/events`, { 'last-event-id': String(after) });
      expect([end.status, end.headers.get('content-type')]).toEqual([204, null]);
    }
  });

  test('loses and repeats nothing when cut and resumed at every event', async () => {
    const id = await createSession(http);
    await publish(id, 12);
    const seen: number[] = [];
    while (seen.length < 12) {
      const reader = await read(
        `${sessions}/${id}/events`,
        seen.length ? { 'last-event-id': String(seen.at(-1)) } : {},
      );
      await until('an event is there', () => reader.events.length > 0);
      reader.leave();
      seen.push(ids(reader)[0]!);
    }
    expect(seen).toEqual(range(1, 12));
  });

  test('sends comments to keep a silent stream alive', async () => {
    const id = await createSession(http);
    const reader = await read(`${sessions}/${id}/events`);
    await until('two comments have come', () => reader.comments.length >= 2, 5);
    reader.leave();
  });

  test('uses the path and names of an evaluation', async () => {
    const id = await createEvaluation(http);
    await http.db.org('default', (tx) => finish(tx, { orgId: 'default', jobId: id }, 'completed'));
    for (const path of ['events/stream', 'events']) {
      const reader = await read(`/api/v1/offline/jobs/${id}/${path}`);
      await reader.ended;
      expect(reader.events.map(({ event }) => event)).toEqual(['eval.policy.job.completed']);
      expect(JSON.parse(reader.events[0]!.data)).toMatchObject({ job_id: id, seq: 1 });
      expect(JSON.parse(reader.events[0]!.data).session_id).toBeUndefined();
    }
  });

  test('refuses an invalid id with 422', async () => {
    const id = await createSession(http);
    for (const bad of ['abc', '-1', '1.5']) {
      const answer = await http.call('GET', `${sessions}/${id}/events`, undefined, { 'last-event-id': bad });
      expect(answer.status).toBe(422);
    }
  });

  test('ends at shutdown, and the reader can resume at another API', async () => {
    const other = await startHttp();
    const url = await other.listen();
    const id = await createSession(other);
    const response = await fetch(`${url}${sessions}/${id}/events`, {
      headers: { authorization: `Bearer ${other.key}` },
    });
    const text = response.text();
    other.shutdown.abort();
    expect(await text).toMatch(/^retry: 2000\n(?!\n)/);
    await other.close();
  });
});

describe('a reader that stops reading', () => {
  test('is dropped, and nothing more is read for it', async () => {
    const id = await createSession(http);
    for (let i = 0; i < 30; i += 1) await publish(id, 10, 100_000);
    let reads = 0;
    const { db } = http.deps;
    const watched = await startHttp({
      db: {
        ...db,
        orgBatch: (orgId, statements) => {
          reads += statements.length;
          return db.orgBatch(orgId, statements);
        },
      },
      secretKey: http.deps.secretKey,
      timing: { pollMs: 5_000, heartbeatMs: 300, stallMs: 500 },
    });
    const accepted = once(watched.app.server, 'connection') as Promise<[Socket]>;
    const socket = connect(Number(new URL(await watched.listen()).port), '127.0.0.1');
    const [served] = await accepted;
    socket.on('error', () => {});
    socket.write(
      `GET ${sessions}/${id}/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${http.key}\r\nAccept: text/event-stream\r\n\r\n`,
    );
    await until('the stream has begun', () => reads > 0);
    await until('the server has dropped it', () => served.destroyed, 10);
    // 30 MB are available and a page is 10 MB; the reader took next to nothing.
    expect(reads).toBe(1);
    socket.destroy();
    await watched.close();
  });
});

describe('many readers of a job', () => {
  test('share one query for each notification', async () => {
    const id = await createSession(http);
    await publish(id, 3);
    let looks = 0;
    const { db, notifications } = http.deps;
    const quiet = 60_000;
    const watched = await startHttp({
      db: {
        ...db,
        orgBatch: (orgId, statements) => {
          looks += statements.length;
          return db.orgBatch(orgId, statements);
        },
      },
      notifications,
      secretKey: http.deps.secretKey,
      timing: { pollMs: quiet, heartbeatMs: quiet, stallMs: 500 },
    });
    const url = await watched.listen();
    const readers = await Promise.all(Array.from({ length: 5 }, () => read(`${sessions}/${id}/events`, {}, url)));
    await until('all have what there was', () => readers.every(({ events }) => events.length === 3));
    looks = 0;
    for (const seen of [5, 6, 7]) {
      await publish(id, seen === 5 ? 2 : 1);
      await until('all have what came', () => readers.every(({ events }) => events.length === seen));
    }
    expect(looks).toBe(3);
    for (const reader of readers) {
      expect(ids(reader)).toEqual([1, 2, 3, 4, 5, 6, 7]);
      reader.leave();
    }
    await watched.close();
  });

  test('each get all events from their own position', async () => {
    const id = await createSession(http);
    const early = await read(`${sessions}/${id}/events`);
    await publish(id, 150);
    const late = await read(`${sessions}/${id}/events`, { 'last-event-id': '140' });
    await publish(id, 150);
    await until('both have the last', () => [early, late].every(({ events }) => events.at(-1)?.id === '300'));
    expect(ids(early)).toEqual(Array.from({ length: 300 }, (_, n) => n + 1));
    expect(ids(late)).toEqual(Array.from({ length: 160 }, (_, n) => n + 141));
    early.leave();
    late.leave();
  });
});

describe('as JSON', () => {
  test('by Accept, page by page', async () => {
    const id = await createSession(http);
    await publish(id, 5);
    const accept = { accept: 'application/json' };
    const first = await http.call('GET', `${sessions}/${id}/events?limit=3`, undefined, accept);
    expect(first.body.events.map((event: { seq: number }) => event.seq)).toEqual([1, 2, 3]);
    expect([first.body.next_seq, first.body.has_more]).toEqual([3, true]);
    const second = await http.call(
      'GET',
      `${sessions}/${id}/events?limit=3&since_seq=${first.body.next_seq}`,
      undefined,
      accept,
    );
    expect(second.body.events.map((event: { seq: number }) => event.seq)).toEqual([4, 5]);
    expect([second.body.next_seq, second.body.has_more]).toEqual([5, false]);
    const none = await http.call('GET', `${sessions}/${id}/events?since_seq=5`, undefined, accept);
    expect(none.body).toEqual({ events: [], next_seq: 5, has_more: false });
  });

  test('for the existing client: by since_seq and limit, with Accept */*', async () => {
    const id = await createSession(http);
    await publish(id, 1);
    const { body } = await http.call('GET', `${sessions}/${id}/events?since_seq=0&limit=10`, undefined, {
      accept: '*/*',
    });
    expect(body.events[0]).toMatchObject({ seq: 1, type: 'generation_complete', session_id: id, best_reward: 0.5 });
    expect(body.events[0].data).toMatchObject({ best_reward: 0.5 });
  });

  test('an Accept with a stream takes precedence over the paging fields', async () => {
    const id = await createSession(http);
    await publish(id, 3);
    const reader = await read(`${sessions}/${id}/events?since_seq=1&limit=1`);
    await until('the rest is there', () => reader.events.length === 2);
    reader.leave();
    expect(ids(reader)).toEqual([2, 3]);
  });

  test.each(['limit=0', 'limit=1001', 'since_seq=-1', 'since_seq=x', 'offset=1'])('%s is 422', async (query) => {
    const answer = await http.call('GET', `${sessions}/${await createSession(http)}/events?${query}`);
    expect(answer.status).toBe(422);
    expect(answer.body.error.param).toBe(query.split('=')[0]);
  });
});
