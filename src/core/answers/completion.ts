/** Chat completions in OpenAI's form, whole or folded from a stream, and the parts of a message. */
import { asObject } from '../../util/json.js';
import type { EndedAnswer } from './ending.js';
import { splitThoughts } from './thoughts.js';

type Json = Readonly<Record<string, unknown>>;

/** The first choice of a completion or chunk; null: none. */
export function firstChoice(completion: unknown): Record<string, unknown> | null {
  const choices = asObject(completion)?.['choices'];
  return Array.isArray(choices) ? asObject(choices[0]) : null;
}

/** The answer of the first choice with its message; null: there is no message. */
export function answerIn(completion: unknown): (EndedAnswer & { message: Record<string, unknown> }) | null {
  const choice = firstChoice(completion);
  const message = asObject(choice?.['message']);
  if (!message) return null;
  const finish = choice?.['finish_reason'];
  return {
    message,
    text: textOfContent(message['content']),
    thoughts: thoughtsOfMessage(message),
    refusal: refusalOfMessage(message),
    finishReason: typeof finish === 'string' ? finish : null,
  };
}

/** The same answer with the thoughts in its text apart. */
export function withoutThoughts<A extends EndedAnswer>(answer: A): A {
  const { answer: text, thoughts } = splitThoughts(answer.text);
  return { ...answer, text, thoughts: answer.thoughts ?? thoughts };
}

/** The kinds of content parts that hold thoughts. */
const thinkingParts = new Set(['thinking', 'reasoning', 'redacted_thinking', 'reasoning_text', 'thought']);

/** Text of a message or delta; '' without content (a model that spent all tokens on thinking). */
export function textOfContent(content: unknown): string {
  if (!Array.isArray(content)) return typeof content === 'string' ? content : '';
  const parts = content.map(asObject).filter((part) => !thinkingParts.has(String(part?.['type'])));
  return textsOf(parts.map((part) => part?.['text']));
}

/** The thoughts that a message or delta holds beside its text; null: none. */
export function thoughtsOfMessage(message: Json): string | null {
  const { reasoning_content: content, reasoning, content: parts } = message;
  const named = [content, reasoning].find((value) => typeof value === 'string' && value !== '');
  if (named !== undefined) return named as string;
  if (!Array.isArray(parts)) return null;
  const thinking = parts.map(asObject).filter((part) => thinkingParts.has(String(part?.['type'])));
  return (
    textsOf(thinking.map((part) => part?.['thinking'] ?? part?.['reasoning'] ?? part?.['text']).flatMap(partTexts)) ||
    null
  );
}

function partTexts(value: unknown): unknown[] {
  return Array.isArray(value) ? value.map((part: unknown) => asObject(part)?.['text']) : [value];
}

/** The words of a refusal beside the text of a message or delta; null: none. */
export function refusalOfMessage({ refusal, content }: Json): string | null {
  if (typeof refusal === 'string' && refusal !== '') return refusal;
  if (!Array.isArray(content)) return null;
  return textsOf(content.map((part: unknown) => asObject(part)?.['refusal'])) || null;
}

function textsOf(values: readonly unknown[]): string {
  return values.filter((value) => typeof value === 'string').join('');
}
