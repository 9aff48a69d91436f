import type { Event } from './api.js';
import { Connection, type Call, type RatchetOptions } from './connection.js';
import { RatchetError } from './errors.js';
import { followEvents } from './events.js';
import type { Answer, CallOptions, EventOptions, EventsOperation, Item, JsonOperation } from './types.js';
import type { LastArgs, ListOperation, OperationId, Path, Query } from './types.js';

/** Enough for a restart of the service: about a minute and a half. */
const streamRetries = 12;
const json = { accept: 'application/json' };

/** The operations of the service, called by their ids. */
export class Operations {
  private readonly connection: Connection;

  constructor(options: RatchetOptions = {}) {
    this.connection = new Connection(options);
  }

  /** Calls an operation and returns its JSON. */
  request<Id extends JsonOperation>(id: Id, ...[args]: LastArgs<Id>): Promise<Answer<Id>> {
    return this.connection.send(id, args ?? {}, jsonOf<Answer<Id>>, json);
  }

  /** Calls an operation and returns its response; the body is not read yet. */
  download<Id extends OperationId>(id: Id, ...[args]: LastArgs<Id>): Promise<Response> {
    return this.connection.send(id, args ?? {}, (response) => response);
  }

  /** The items of a list, page by page. */
  async *list<Id extends ListOperation>(id: Id, ...[args]: LastArgs<Id>): AsyncGenerator<Item<Id>, void> {
    const { query, ...others }: Call = args ?? {};
    let cursor: string | null = null;
    do {
      const paged = { ...others, query: cursor === null ? query : { ...query, cursor } };
      const page: Page<Item<Id>> = await this.connection.send(id, paged, jsonOf<Page<Item<Id>>>, json);
      yield* page.data;
      cursor = page.next_cursor;
    } while (cursor !== null);
  }

  /** The events of a job after `since`, up to its end, across broken connections. */
  events<Id extends EventsOperation>(id: Id, args: EventOptions & { path: Path<Id> }): AsyncGenerator<Event, void> {
    const { since = 0, onOpen, onBreak, maxRetries, ...others } = args;
    const call = { ...others, onBreak, maxRetries: maxRetries ?? Math.max(this.connection.maxRetries, streamRetries) };
    const open = async (after: number) => {
      const headers = { accept: 'text/event-stream', 'last-event-id': String(after) };
      const response = await this.connection.send(id, call, (each) => each, headers);
      onOpen?.();
      return response;
    };
    const silenceMs = call.timeoutMs ?? this.connection.timeoutMs;
    return followEvents(open, { since, silenceMs, onBreak, signal: call.signal });
  }

  /** The address of the service. */
  get baseUrl(): string {
    return this.connection.url;
  }

  /** The prompt of a deployment with its ETag; null: it is the one with `etag`. */
  async readPrompt(
    ref: string,
    etag: string | undefined,
    limits: Pick<Call, 'maxRetries' | 'timeoutMs'>,
  ): Promise<{ etag: string; prompt: Answer<'getDeploymentPrompt'> } | null> {
    const call = { ...limits, path: { deployment_id: ref }, ...(etag && { headers: { 'if-none-match': etag } }) };
    const read = async (response: Response) => {
      return {
        etag: response.headers.get('etag') ?? '',
        prompt: await jsonOf<Answer<'getDeploymentPrompt'>>(response),
      };
    };
    return this.connection.send('getDeploymentPrompt', call, read, json).catch((error: unknown) => {
      if (etag && error instanceof RatchetError && error.status === 304) return null;
      throw error;
    });
  }

  /** Uploads a file. The same content twice is one data set, so it needs no Idempotency-Key. */
  upload(
    content: NonNullable<Call['content']>,
    options: CallOptions & { query?: Query<'uploadDataset'> },
  ): Promise<Answer<'uploadDataset'>> {
    return this.connection.send('uploadDataset', { ...options, content }, jsonOf<Answer<'uploadDataset'>>, json);
  }
}

/** All items of a list, which is read to its end. */
export async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}

interface Page<Element> {
  data: Element[];
  next_cursor: string | null;
}

async function jsonOf<T>(response: Response): Promise<T> {
  return (response.status === 204 ? undefined : await response.json()) as T;
}
