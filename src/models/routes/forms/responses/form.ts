import { tokensIn } from '../../../client/answers/usage.js';
import { asObject } from '../../../../util/json.js';
import { ChatFacts } from '../chat-pieces.js';
import { sseEvents, type AnswerForm, type FormEvent, type FormStream, type Json, type StreamFailure } from '../form.js';
import { ResponseOutput } from './output.js';

/** The form of the answer to a request of OpenAI's Responses API. */
export function responseForm(request: Json): AnswerForm {
  return {
    mandatory: [],
    whole(completion, id) {
      const answer = new Answer(request, id);
      answer.add(completion);
      return answer.end().response;
    },
    stream: (id) => streamed(new Answer(request, id)),
    error: (_status, error) => ({ error }),
  };
}

function streamed(answer: Answer): FormStream {
  return {
    add: (chunk) => sseEvents(answer.add(chunk)),
    idle: () => ': \n\n',
    end: () => sseEvents(answer.end().events),
    fail: (failure) => sseEvents(answer.fail(failure)),
  };
}

/** Why a completion is no whole answer, by its finish reason. */
const cuts: Record<string, string> = { length: 'max_output_tokens', content_filter: 'content_filter' };

/** A response while its completion comes. */
class Answer {
  private readonly request: Json;
  private readonly ownId: string | null;
  private readonly facts = new ChatFacts();
  private output: ResponseOutput | null = null;
  private sent = 0;

  constructor(request: Json, id: string | null) {
    this.request = request;
    this.ownId = id;
  }

  add(chunk: Json): FormEvent[] {
    const pieces = this.facts.add(chunk);
    const begun = this.begin();
    return [...begun, ...this.numbered(this.output!.add(pieces))];
  }

  end(): { events: FormEvent[]; response: Json } {
    const begun = this.begin();
    const reason = cuts[this.facts.finish ?? ''];
    const items = this.output!.end(reason !== undefined);
    const status = reason === undefined ? 'completed' : 'incomplete';
    const response = this.response(status, reason === undefined ? 'complete' : 'incomplete', {
      incomplete_details: reason === undefined ? null : { reason },
    });
    return { events: [...begun, ...this.numbered([...items, { type: `response.${status}`, response }])], response };
  }

  fail({ code, message }: StreamFailure): FormEvent[] {
    const begun = this.begin();
    const response = this.response('failed', 'incomplete', { error: { code, message } });
    // By its `error` clients raise; the flat fields are those that OpenAI documents.
    const fields = { code, message, param: null };
    const error = { type: 'error', ...fields, error: { type: 'server_error', ...fields } };
    return [...begun, ...this.numbered([error, { type: 'response.failed', response }])];
  }

  private get id(): string {
    return this.ownId ?? this.facts.id ?? 'resp_0';
  }

  private begin(): FormEvent[] {
    if (this.output) return [];
    this.output = new ResponseOutput(this.id);
    const response = this.response('in_progress', null, {});
    return this.numbered([
      { type: 'response.created', response },
      { type: 'response.in_progress', response },
    ]);
  }

  private numbered(events: FormEvent[]): FormEvent[] {
    return events.map((event) => ({ ...event, sequence_number: this.sent++ }));
  }

  private response(status: string, end: 'complete' | 'incomplete' | null, fields: Json): Json {
    const { created, model, usage } = this.facts;
    return {
      id: this.id,
      object: 'response',
      created_at: created,
      status,
      background: false,
      error: null,
      incomplete_details: null,
      model,
      output: this.output!.itemsAt(end),
      ...echoOf(this.request),
      previous_response_id: null,
      store: false,
      truncation: 'disabled',
      usage: end === null ? null : usageOf(usage),
      ...fields,
    };
  }
}

/** What a response repeats of its request. */
function echoOf(request: Json): Json {
  const { text, reasoning } = request;
  return {
    instructions: request['instructions'] ?? null,
    max_output_tokens: request['max_output_tokens'] ?? null,
    max_tool_calls: request['max_tool_calls'] ?? null,
    metadata: request['metadata'] ?? {},
    parallel_tool_calls: request['parallel_tool_calls'] ?? true,
    reasoning: { effort: null, summary: null, ...asObject(reasoning) },
    temperature: request['temperature'] ?? null,
    text: { format: { type: 'text' }, ...asObject(text) },
    tool_choice: request['tool_choice'] ?? 'auto',
    tools: request['tools'] ?? [],
    top_p: request['top_p'] ?? null,
    user: request['user'] ?? null,
  };
}

/** The tokens of a response; null: unknown. */
function usageOf(usage: Json | null): Json | null {
  const { prompt, completion, cacheRead } = tokensIn(usage);
  if (prompt === null || completion === null) return null;
  const { completion_tokens_details: details } = usage ?? {};
  const thought = asObject(details)?.['reasoning_tokens'];
  return {
    input_tokens: prompt,
    input_tokens_details: { cached_tokens: cacheRead },
    output_tokens: completion,
    output_tokens_details: { reasoning_tokens: typeof thought === 'number' ? thought : 0 },
    total_tokens: prompt + completion,
  };
}
