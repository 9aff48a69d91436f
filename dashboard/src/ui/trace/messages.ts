/** Messages of chat completions, as parts that a page shows. */

export type Part =
  | { kind: 'text' | 'refusal' | 'reasoning'; text: string }
  | { kind: 'tool_call'; name: string; text: string }
  | { kind: 'media'; name: string; text: string };

export interface Message {
  role: string;
  /** The name of the author, or the tool call that the message answers. */
  name: string | null;
  parts: Part[];
}

export interface AnswerOf {
  messages: Message[];
  finishReasons: string[];
  /** What a provider said instead of an answer. */
  error: string | null;
}

type Fields = Record<string, unknown>;

const fieldsOf = (value: unknown): Fields => (typeof value === 'object' && value !== null ? (value as Fields) : {});
const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);
export const jsonOf = (value: unknown): string => JSON.stringify(value, null, 2) ?? String(value);

/** The messages of a request; without any, an empty list. */
export function messagesOf(request: unknown): Message[] {
  return listOf(fieldsOf(request)['messages']).map(messageOf);
}

/** The fields of a request beside its messages and its model. */
export function settingsOf(request: unknown): Fields {
  const { messages: _messages, model: _model, ...rest } = fieldsOf(request);
  return rest;
}

/** The messages of an answer, one for each choice. */
export function answerOf(response: unknown): AnswerOf {
  const { choices, error } = fieldsOf(response);
  const given = listOf(choices).map(fieldsOf);
  return {
    messages: given.map(({ message }) => messageOf(message)),
    finishReasons: given.flatMap(({ finish_reason }) => textOf(finish_reason) ?? []),
    error:
      error === undefined || error === null
        ? null
        : (textOf(error) ?? textOf(fieldsOf(error)['message']) ?? jsonOf(error)),
  };
}

function messageOf(value: unknown): Message {
  const message = fieldsOf(value);
  const { role, name, content, refusal, reasoning_content, tool_calls, function_call, tool_call_id } = message;
  return {
    role: textOf(role) ?? 'assistant',
    name: textOf(name) ?? textOf(tool_call_id),
    parts: [
      ...textPart('reasoning', reasoning_content),
      ...(Array.isArray(content) ? content.map(contentPart) : textPart('text', content)),
      ...textPart('refusal', refusal),
      ...listOf(tool_calls).map((call) => toolCall(fieldsOf(call)['function'] ?? call)),
      ...(function_call ? [toolCall(function_call)] : []),
    ],
  };
}

function textPart(kind: 'text' | 'refusal' | 'reasoning', value: unknown): Part[] {
  const text = textOf(value);
  return text === null ? [] : [{ kind, text }];
}

function contentPart(value: unknown): Part {
  const part = fieldsOf(value);
  const type = textOf(part['type']) ?? 'part';
  const text = textOf(part['text']) ?? textOf(value);
  if (text !== null) return { kind: 'text', text };
  if (type === 'refusal') return { kind: 'refusal', text: String(part['refusal']) };
  const url = textOf(fieldsOf(part['image_url'])['url']);
  return { kind: 'media', name: type.replace(/_url$/, ''), text: url ?? jsonOf(value) };
}

function toolCall(value: unknown): Part {
  const { name, arguments: given } = fieldsOf(value);
  return { kind: 'tool_call', name: textOf(name) ?? 'tool', text: prettyJson(given) };
}

/** JSON in lines; other text as it is. */
export function prettyJson(value: unknown): string {
  if (typeof value !== 'string') return jsonOf(value);
  try {
    return jsonOf(JSON.parse(value));
  } catch {
    return value;
  }
}
