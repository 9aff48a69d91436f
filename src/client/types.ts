import type { operations, routes } from './api.js';

/** The operations of the OpenAPI document, by their ids. */
export type OperationId = keyof typeof routes;

type Parameters<Id extends OperationId> = operations[Id]['parameters'];
export type Path<Id extends OperationId> = NonNullable<Parameters<Id>['path']>;
export type Query<Id extends OperationId> = OrAbsent<NonNullable<Parameters<Id>['query']>>;
/** Values of optional parameters may be undefined, which leaves them out. */
type OrAbsent<T> = { [Name in keyof T]: object extends Pick<T, Name> ? T[Name] | undefined : T[Name] };

type JsonOf<Content> = Content extends { content: { 'application/json': infer Json } } ? Json : never;
/** The JSON body of an operation. */
export type Body<Id extends OperationId> = JsonOf<NonNullable<operations[Id]['requestBody']>>;

type Responses<Id extends OperationId> = operations[Id]['responses'];
/** The 200 of a create is that of its dry run. */
type Success<Id extends OperationId> = Responses<Id>[keyof Responses<Id> &
  (201 extends keyof Responses<Id> ? 201 | 202 : 200 | 202)];
/** The JSON of a success; undefined: an operation without an answer. */
export type Answer<Id extends OperationId> = [Success<Id>] extends [never] ? undefined : JsonOf<Success<Id>>;

/** Operations that answer JSON or nothing; the others are downloads. */
export type JsonOperation = { [Id in OperationId]: [Answer<Id>] extends [never] ? never : Id }[OperationId];
/** Operations that answer in pages with a cursor. */
export type ListOperation = {
  [Id in JsonOperation]: Answer<Id> extends { data: unknown[]; next_cursor: string | null } ? Id : never;
}[JsonOperation];
/** An item of a list. */
export type Item<Id extends ListOperation> = Answer<Id> extends { data: (infer Element)[] } ? Element : never;
/** Operations that stream the events of a job. */
export type EventsOperation = {
  [Id in OperationId]: Id extends `${string}Events` ? Id : never;
}[OperationId];

/** Options of each call. */
export interface CallOptions {
  /** Cancels the call; its promise rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Time limit of each attempt; of a stream, the longest silence. */
  timeoutMs?: number | undefined;
  /** A key of your own in place of the one that is made for each POST. */
  idempotencyKey?: string | undefined;
  headers?: Record<string, string> | undefined;
}

/** Options of an event stream. */
export interface EventOptions extends CallOptions {
  /** The `seq` of the last event that is known. Default: 0, for all events. */
  since?: number | undefined;
  /** Called whenever the stream is connected: at first, and after each break. */
  onOpen?: (() => void) | undefined;
  /** Called when the stream has broken, or cannot be opened again yet. */
  onBreak?: (() => void) | undefined;
  /** Tries in a row to open the stream again. Default: that of the client, and at least 12. */
  maxRetries?: number | undefined;
}

type Part<Name extends string, Value> = [Value] extends [never]
  ? { [name in Name]?: undefined }
  : object extends Value
    ? { [name in Name]?: Value | undefined }
    : { [name in Name]: Value };
type BodyPart<Id extends OperationId> = operations[Id] extends { requestBody: object }
  ? { body: Body<Id> }
  : Part<'body', Partial<Body<Id>>>;

/** What an operation takes: the parameters of its path and its query, and its body. */
export type Args<Id extends OperationId> = CallOptions &
  Part<'path', Path<Id>> &
  Part<'query', Query<Id>> &
  BodyPart<Id>;
/** `Args` as the last parameter, which may be left out where nothing is required. */
export type LastArgs<Id extends OperationId> = object extends Args<Id> ? [args?: Args<Id>] : [args: Args<Id>];
