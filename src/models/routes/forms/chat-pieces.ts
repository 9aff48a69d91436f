import { firstChoice, refusalOfMessage, textOfContent, thoughtsOfMessage } from '../../../core/answers/completion.js';
import { laterUsage, usageIn } from '../../client/answers/usage.js';
import { asObject } from '../../../util/json.js';
import type { Json } from './form.js';

/** What a chunk adds to the first answer of a completion. */
export interface ChatPieces {
  text: string;
  thoughts: string;
  refusal: string;
  logprobs: unknown[];
  calls: CallPiece[];
}

export interface CallPiece {
  index: number;
  id: string | null;
  name: string | null;
  arguments: string;
}

/** The head and the end of a completion, as far as chunks have told them. */
export class ChatFacts {
  id: string | null = null;
  created = 0;
  model = '';
  finish: string | null = null;
  /** The text at which the provider says that it stopped. */
  stop: string | null = null;
  usage: Json | null = null;

  /** `message`: what a chunk calls `delta`. */
  add(chunk: Json): ChatPieces {
    const { id, created, model } = chunk;
    if (typeof id === 'string' && id !== '') this.id ??= id;
    if (typeof created === 'number') this.created ||= Math.floor(created);
    if (typeof model === 'string' && model !== '') this.model = model;
    this.usage = laterUsage(this.usage, usageIn(chunk));
    const choice = firstOf(chunk);
    const { finish_reason: finish, stop_reason: stop, logprobs } = choice ?? {};
    if (typeof finish === 'string' && finish !== '') this.finish = finish;
    if (typeof stop === 'string') this.stop = stop;
    const message = asObject(choice?.['delta']) ?? asObject(choice?.['message']) ?? {};
    const tokens = asObject(logprobs)?.['content'];
    return {
      text: textOfContent(message['content']),
      thoughts: thoughtsOfMessage(message) ?? '',
      refusal: refusalOfMessage(message) ?? '',
      logprobs: Array.isArray(tokens) ? tokens : [],
      calls: callsOf(message['tool_calls']),
    };
  }
}

/** The choice that is answered with: the first by its index. */
function firstOf(chunk: Json): Json | null {
  const choice = firstChoice(chunk);
  const index = choice?.['index'] ?? 0;
  return index === 0 ? choice : null;
}

function callsOf(calls: unknown): CallPiece[] {
  const list: unknown[] = Array.isArray(calls) ? calls : [];
  return list.flatMap((item, at) => {
    const call = asObject(item);
    const fn = asObject(call?.['function']);
    if (!call || !fn) return [];
    const index = typeof call['index'] === 'number' ? call['index'] : at;
    return [{ index, id: word(call['id']), name: word(fn['name']), arguments: word(fn['arguments']) ?? '' }];
  });
}

function word(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
