import { anthropicError } from '../../../../platform/http/error-forms.js';
import { tokensIn } from '../../../client/answers/usage.js';
import { ChatFacts } from '../chat-pieces.js';
import { sseEvents, type AnswerForm, type FormEvent, type FormStream, type Json, type StreamFailure } from '../form.js';
import { MessageBlocks } from './blocks.js';

/** What the answer depends on. */
interface Asked {
  showsThoughts: boolean;
  /** The caller's stop sequences. */
  stops: readonly string[];
}

/** The form of the answer to a request of Anthropic's Messages API. */
export function messageForm(asked: Asked): AnswerForm {
  return {
    mandatory: ['max_completion_tokens'],
    whole(completion, id) {
      const answer = new Answer(asked, id);
      answer.add(completion);
      return answer.whole();
    },
    stream: (id) => streamed(new Answer(asked, id)),
    error: (status, error) => anthropicError(status, error),
  };
}

function streamed(answer: Answer): FormStream {
  return {
    add: (chunk) => sseEvents(answer.add(chunk)),
    idle: () => sseEvents([{ type: 'ping' }]),
    end: () => sseEvents(answer.end()),
    fail: ({ status, code, message }: StreamFailure) => sseEvents([anthropicError(status, { code, message })]),
  };
}

const stopReasons: Record<string, string> = {
  length: 'max_tokens',
  content_filter: 'refusal',
  tool_calls: 'tool_use',
  function_call: 'tool_use',
};

/** A message while its completion comes. */
class Answer {
  private readonly asked: Asked;
  private readonly ownId: string | null;
  private readonly facts = new ChatFacts();
  private readonly blocks: MessageBlocks;
  private hasBegun = false;
  private hasRefused = false;

  constructor(asked: Asked, id: string | null) {
    this.asked = asked;
    this.ownId = id;
    this.blocks = new MessageBlocks(asked.showsThoughts);
  }

  add(chunk: Json): FormEvent[] {
    const pieces = this.facts.add(chunk);
    this.hasRefused ||= pieces.refusal !== '';
    return [...this.begin(), ...this.blocks.add(pieces)];
  }

  end(): FormEvent[] {
    const last = [...this.begin(), ...this.blocks.end()];
    const usage = usageOf(this.facts.usage);
    return [...last, { type: 'message_delta', delta: this.ending(), usage }, { type: 'message_stop' }];
  }

  whole(): Json {
    this.blocks.end();
    return { ...this.head(), content: this.blocks.content(), ...this.ending(), usage: usageOf(this.facts.usage) };
  }

  private begin(): FormEvent[] {
    if (this.hasBegun) return [];
    this.hasBegun = true;
    // The tokens follow with the end.
    return [{ type: 'message_start', message: { ...this.head(), usage: usageOf(null) } }];
  }

  private head(): Json {
    const { id, model } = this.facts;
    return {
      id: this.ownId ?? id ?? 'msg_0',
      type: 'message',
      role: 'assistant',
      model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
    };
  }

  private ending(): Json {
    const { finish, stop } = this.facts;
    if (this.hasRefused) return { stop_reason: 'refusal', stop_sequence: null };
    if (finish === 'stop' && stop !== null && this.asked.stops.includes(stop)) {
      return { stop_reason: 'stop_sequence', stop_sequence: stop };
    }
    const reason = stopReasons[finish ?? ''] ?? 'end_turn';
    // Some providers end tool calls with `stop`.
    return { stop_reason: reason === 'end_turn' && this.blocks.callsTools ? 'tool_use' : reason, stop_sequence: null };
  }
}

/** The tokens of a message, where those of the cache stand apart; unknown ones are 0 there. */
function usageOf(usage: Json | null): Json {
  const { prompt, completion, cacheRead, cacheWrite } = tokensIn(usage);
  return {
    input_tokens: Math.max(0, (prompt ?? 0) - cacheRead - cacheWrite),
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cacheRead,
    output_tokens: completion ?? 0,
  };
}
