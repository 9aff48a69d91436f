import { ProviderError, type ModelAnswer } from './provider-answer.js';
import { errorAdvice, errorInside, errorJson, type AnswerError } from './answer-error.js';
import { doneData, StreamFold, streamOf } from './chat-stream.js';
import { steadyCompletion, steadyStream } from './steady-stream.js';
import { usageIn } from './usage.js';
import { sseBlocks, SseSplitter } from '../../../clients/net/sse.js';
import { boundDepth, parseBounded, parseObject } from '../../../clients/net/untrusted.js';
import { asObject, exceedsJsonLimits } from '../../../util/json.js';

type Json = Record<string, unknown>;

/** A provider's answer as our caller has to see it. */
export type OpenedAnswer =
  /** `billed`: an answer or usage that came with the error; null: none, which costs nothing. */
  | {
      kind: 'refused';
      status: number;
      text: string;
      billed: Json | null;
      retryAfter: string | null;
      shouldRetry: boolean | null;
    }
  /** `completion` null: the body is not a JSON object. `isOurs`: written anew, in UTF-8. */
  | { kind: 'whole'; bytes: Buffer; text: string; completion: Json | null; isOurs: boolean }
  | { kind: 'stream'; bytes: AsyncIterable<Uint8Array> };

/** The provider ended the stream with an error event. */
export class StreamedError extends Error {
  override readonly name = 'StreamedError';
  readonly status: number;
  constructor({ status, error }: AnswerError) {
    super(error.message);
    this.status = status;
  }
}

/**
 * The one place that says what an answer is: a refusal by its status or by an error in its body or
 * first event, and otherwise a stream where one was asked (`stream`) and a whole answer where none
 * was, whatever the provider sent. Rejects as `ModelAnswer.read` and with a StreamedError.
 */
export async function openAnswer(
  answer: ModelAnswer,
  stream: boolean,
  onBytes?: (bytes: number) => void,
): Promise<OpenedAnswer> {
  if (answer.status >= 300) {
    const text = (await answer.read(onBytes)).toString();
    return { kind: 'refused', status: answer.status, text, billed: null, ...adviceOf(answer, text) };
  }
  if (!isMediaType(answer.contentType, 'text/event-stream')) {
    const given = await answer.read(onBytes);
    const text = decoded(given, answer.contentType);
    const bytes = text === null ? given : Buffer.from(text);
    const said = text ?? given.toString();
    const isEvents = /^\s*(?:data|event|id|retry)?:/.test(said);
    const events = isEvents ? bytes : eventsOfList(said);
    if (events) return ofEvents(answer, steadyStream(once(events)), stream);
    return ofBody(answer, { bytes, text: said, isOurs: text !== null }, stream);
  }
  return ofEvents(answer, answer.stream(onBytes), stream);
}

/** Whether a content type is this one; media types have no case, and parameters. */
export function isMediaType(contentType: string | null, type: string): boolean {
  return contentType?.split(';')[0]!.trim().toLowerCase() === type;
}

/** A body in another encoding than UTF-8, or with a mark, as text; null: its bytes are the text. */
function decoded(bytes: Buffer, contentType: string | null): string | null {
  const label = /;\s*charset="?([^\s;"]+)/i.exec(contentType ?? '')?.[1] ?? 'utf-8';
  if (/^utf-?8$/i.test(label)) return bytes[0] === 0xef && bytes[1] === 0xbb ? bytes.toString().slice(1) : null;
  try {
    return new TextDecoder(label).decode(bytes);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** The events of a list of chunks, in brackets or one a line; null: the body is no such list. */
function eventsOfList(text: string): Buffer | null {
  const isLines = /^\s*\{[^\n]*\}[^\S\n]*\n\s*\{/.test(text);
  if (!isLines && !/^\s*\[\s*\{/.test(text)) return null;
  const list = isLines ? text.split('\n').filter((line) => line.trim() !== '') : jsonList(text);
  const events = list.map((item) => `data: ${item}\n\n`).join('');
  return /"choices"/.test(list[0] ?? '') ? Buffer.from(events) : null;
}

function jsonList(text: string): string[] {
  if (exceedsJsonLimits(text)) return [];
  try {
    const value = boundDepth(JSON.parse(text));
    return Array.isArray(value) ? value.map((item) => JSON.stringify(item)) : [];
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}

interface Body {
  bytes: Buffer;
  text: string;
  isOurs: boolean;
}

function ofBody(answer: ModelAnswer, body: Body, stream: boolean): OpenedAnswer {
  const given = parseObject(body.text);
  const completion = asObject(boundDepth(given));
  const told = completion ?? errorJson(body.text);
  const fault = told && errorInside(told);
  if (fault) return refusal(fault, answer, completion);
  const choices = completion?.['choices'];
  const isAnswer = completion !== null && Array.isArray(choices) && choices.length > 0;
  const isSteady = !isAnswer || steadyCompletion(completion);
  if (stream && isAnswer) return { kind: 'stream', bytes: streamOf(completion, true) };
  if (isSteady) return { kind: 'whole', ...body, completion: given };
  return ours(completion);
}

async function ofEvents(answer: ModelAnswer, bytes: AsyncIterable<Uint8Array>, stream: boolean): Promise<OpenedAnswer> {
  const iterator = bytes[Symbol.asyncIterator]();
  const first = await iterator.next();
  const begun = first.done ? null : Buffer.from(first.value);
  const opening = begun && firstOf(begun);
  if (opening?.fault) {
    await iterator.return?.();
    return refusal(opening.fault, answer, opening.chunk);
  }
  // A JSON body under the type of a stream has no event.
  if (begun && opening === null && parseObject(begun.toString())) {
    return ofBody(answer, { bytes: begun, text: begun.toString(), isOurs: false }, stream);
  }
  const all = resumed(begun, iterator);
  if (stream) return { kind: 'stream', bytes: all };
  try {
    return ours(await foldStream(all));
  } catch (error) {
    if (!(error instanceof StreamedError)) throw error;
    const { status, message } = error;
    return refusal({ status, error: { message } }, answer, {});
  }
}

function ours(completion: Json | null): OpenedAnswer {
  const text = JSON.stringify(completion);
  return { kind: 'whole', bytes: Buffer.from(text), text, completion, isOurs: true };
}

/** The first event with data; null: none yet. */
function firstOf(bytes: Buffer): { chunk: Json | null; fault: AnswerError | null } | null {
  const first = new SseSplitter().push(bytes).find(({ data }) => data !== null);
  if (!first) return null;
  // A steady stream tells every fault by this field; other events are parsed by their reader.
  const chunk = first.data!.includes('"error"') ? parseBounded(first.data!) : null;
  return { chunk, fault: chunk && errorInside(chunk) };
}

type Advice = Pick<ModelAnswer, 'retryAfter' | 'shouldRetry'>;

function refusal({ status, error }: AnswerError, answer: Advice, body: Json | null): OpenedAnswer {
  const choices = body?.['choices'];
  const isBilled = usageIn(body) !== null || (Array.isArray(choices) && choices.length > 0) || isEmpty(body);
  const text = JSON.stringify({ error });
  return { kind: 'refused', status, text, billed: isBilled ? body : null, ...adviceOf(answer, text) };
}

/** The advice in the headers, and where they have none in the body. */
function adviceOf({ retryAfter, shouldRetry = null }: Advice, text: string) {
  return { retryAfter: retryAfter ?? errorAdvice(text, Date.now()), shouldRetry };
}

/** Whether the body is `{}`, as of a stream that ended with an error: its cost is unknown. */
function isEmpty(body: Json | null): boolean {
  return body !== null && Object.keys(body).length === 0;
}

/**
 * A stream whose first event has come: a refusal if that is an error. `openAnswer` waits for the
 * first bytes alone, which may be a comment. Rejects if the stream ends without an event.
 */
export async function begunStream(
  { bytes }: Extract<OpenedAnswer, { kind: 'stream' }>,
  provider: string,
): Promise<OpenedAnswer> {
  const iterator = bytes[Symbol.asyncIterator]();
  let begun = Buffer.alloc(0);
  for (;;) {
    const next = await iterator.next();
    if (next.done) {
      const message = `The provider "${provider}" ended its stream without an answer.`;
      throw new ProviderError('upstream_answer_invalid', message);
    }
    begun = Buffer.concat([begun, next.value]);
    const opening = firstOf(begun);
    if (!opening) continue;
    if (!opening.fault) return { kind: 'stream', bytes: resumed(begun, iterator) };
    await iterator.return?.();
    return refusal(opening.fault, { retryAfter: null, shouldRetry: null }, opening.chunk);
  }
}

async function* once(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes;
}

async function* resumed(first: Buffer | null, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    if (first) yield first;
    for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}

/**
 * The completion of a steady stream; `onChunk` gets each chunk before it is folded. Rejects with a
 * StreamedError, or with another error when the stream breaks off.
 */
export async function foldStream(
  bytes: AsyncIterable<Uint8Array>,
  onChunk: (chunk: Json) => void = () => undefined,
): Promise<Json | null> {
  const fold = new StreamFold();
  let isDone = false;
  for await (const { data, complete } of sseBlocks(bytes)) {
    // Drain the rest after [DONE], so that the connection can be reused.
    if (data === null || isDone) continue;
    isDone = data === doneData;
    const chunk = complete ? parseBounded(data) : null;
    if (chunk === null) continue;
    const fault = errorInside(chunk);
    if (fault) throw new StreamedError(fault);
    onChunk(chunk);
    fold.add(chunk);
  }
  if (!isDone && !fold.isWhole()) throw new Error('the stream ended early');
  return fold.completion();
}
