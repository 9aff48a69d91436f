import type { ModelAnswer } from './answers/provider-answer.js';
import type { ModelClient } from './providers.js';
import { openAnswer, type OpenedAnswer } from './answers/read-answer.js';
import type { Question } from '../../core/question.js';
import { asObject } from '../../util/json.js';
import { learn, otherName, type Lesson } from './quirks/lessons.js';
import { lessonsOf } from './quirks/refused-fields.js';
import { formOf, type Form } from './quirks/request-forms.js';

type Json = Record<string, unknown>;

/** A chat completion request to a provider. */
export interface ProviderRequest {
  provider: string;
  body: Json;
  /** Its JSON, if there is one already. */
  readonly json?: string;
  /** What it asks, as data, for a provider that reads no prose. */
  readonly question?: Question;
  /** The fields of our caller, which keep their meaning. Default: the service asks itself. */
  callers?: ReadonlySet<string>;
  /** Optional fields that the service adds: left out after a refusal that names no field. */
  added?: readonly Lesson[];
}

export interface ProviderReply extends Pick<ModelAnswer, 'status' | 'contentType' | 'retryAfter' | 'shouldRetry'> {
  opened: OpenedAnswer;
  /** Fields of the request that the model refused and did not get. */
  left: string[];
}

/** Statuses of a request with a field that the provider does not know. */
const ofForm = new Set([400, 404, 422]);
const nobody: ReadonlySet<string> = new Set();

/**
 * Asks in the form that the model takes: a refusal that names a field is a lesson, the request goes
 * out again in another form, and what was then accepted is remembered for address and model.
 * Streams are asked for their usage. Rejects as `ModelClient.send` and `openAnswer`.
 */
export async function askProvider(
  client: ModelClient,
  { provider, body, json, question, callers = nobody, added = [] }: ProviderRequest,
  signal: AbortSignal,
  onBytes?: (bytes: number) => void,
): Promise<ProviderReply> {
  const stream = body['stream'] === true;
  const known = client.lessonsOf(provider, String(body['model']));
  const lessons = new Set(known.refused);
  const tried: Lesson[] = [];
  const forms = () => formOf(body, lessons, callers);
  const send = async (form: Form): Promise<ProviderReply & { asksUsage: boolean }> => {
    const usage = lessons.has('stream_options') ? null : withUsage(form.body, form.body === body ? json : undefined);
    const written = usage ?? (form.body === body && json !== undefined ? { body, json } : { body: form.body });
    const answer = await client.send(provider, written.body, signal, {
      ...('json' in written && { json: written.json }),
      ...(question && { question }),
    });
    const opened = await openAnswer(answer, stream, onBytes);
    const left = form.left.filter((name) => !(added as readonly string[]).includes(name));
    return { ...headOf(answer), opened, left, asksUsage: usage !== null };
  };
  let form = forms();
  let first: ProviderReply | null = null;
  // Ends, as each refusal before the last has taught another of few lessons.
  for (;;) {
    const reply = await send(form);
    const ours = [...added.filter((name) => form.body[name] !== undefined), ...(reply.asksUsage ? usageOnly : [])];
    if (reply.opened.kind !== 'refused') {
      known.keep(
        tried.filter((lesson) => lessons.has(lesson)),
        ours,
      );
      return reply;
    }
    const sent = reply.asksUsage ? { ...form.body, stream_options: {} } : form.body;
    const named = lessonsOf(reply.opened, sent);
    const isUnnamed = named.length === 0 && ofForm.has(reply.opened.status);
    const taught = isUnnamed ? ours.filter((name) => !known.taken.has(name)) : named;
    // Where a model refuses both names of a limit, neither is sent again.
    const next = taught.filter((lesson) => ![lesson, otherName.get(lesson)].some((one) => tried.includes(one!)));
    for (const lesson of next) learn(lessons, lesson);
    tried.push(...next);
    const changed = forms();
    const isChanged =
      changed.applied.join() !== form.applied.join() || (reply.asksUsage && next.includes('stream_options'));
    // An answer that was paid for is not asked for again.
    if (!isChanged || reply.opened.billed !== null) {
      return first && named.length + Number(isUnnamed) > 0 ? first : reply;
    }
    first ??= reply;
    form = changed;
  }
}

const usageOnly: readonly Lesson[] = ['stream_options'];

function headOf({ status, contentType, retryAfter, shouldRetry = null }: ModelAnswer) {
  return { status, contentType, retryAfter, shouldRetry };
}

/** A streamed request with usage asked; null: no stream, or the caller said whether to ask. */
function withUsage(body: Json, json: string | undefined): { body: Json; json: string } | null {
  const given = body['stream_options'];
  const options = asObject(given);
  if (body['stream'] !== true || typeof options?.['include_usage'] === 'boolean') return null;
  const asking = { ...body, stream_options: { ...options, include_usage: true } };
  if (json === undefined || Object.hasOwn(body, 'stream_options'))
    return { body: asking, json: JSON.stringify(asking) };
  // Not written anew: a request can have megabytes.
  return { body: asking, json: `${json.slice(0, -1)},"stream_options":{"include_usage":true}}` };
}
