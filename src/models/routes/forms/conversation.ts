import { contentOf, textOf, textPart, type ChatPart } from './fields.js';
import type { Json } from './form.js';

/** A tool call of an assistant. */
export interface ToolCall {
  id: string;
  name: string;
  arguments: string;
}

/**
 * Messages of a chat completion from the items of another API. What an assistant says and calls
 * without anything between is one message, as providers require results right after the calls.
 */
export class Conversation {
  readonly messages: Json[] = [];
  /** Pictures of results: providers read only texts there, so they follow all results. */
  private pictures: ChatPart[] = [];

  say(role: 'system' | 'developer' | 'user', parts: readonly ChatPart[]): void {
    this.showPictures();
    this.messages.push({ role, content: contentOf(parts) });
  }

  answer(text: string): void {
    this.showPictures();
    const last = this.calling();
    if (last) last['content'] = `${(last['content'] as string | null) ?? ''}${text}`;
    else this.messages.push({ role: 'assistant', content: text });
  }

  call({ id, name, arguments: args }: ToolCall): void {
    this.showPictures();
    const call = { id, type: 'function', function: { name, arguments: args } };
    const last = this.messages.at(-1);
    const calls = last?.['tool_calls'];
    if (Array.isArray(calls)) calls.push(call);
    else if (last?.['role'] === 'assistant') last['tool_calls'] = [call];
    else this.messages.push({ role: 'assistant', content: null, tool_calls: [call] });
  }

  result(id: string, parts: readonly ChatPart[]): void {
    const texts = parts.filter(({ type }) => type === 'text');
    const pictures = parts.filter(({ type }) => type !== 'text');
    const content = texts.length === 0 && pictures.length > 0 ? '(see the picture)' : textOf(texts);
    this.messages.push({ role: 'tool', tool_call_id: id, content });
    if (pictures.length > 0) this.pictures.push(textPart(`Of the result of ${id}:`));
    for (const picture of pictures) this.pictures.push(picture);
  }

  /** The messages, all said. */
  end(): Json[] {
    this.showPictures();
    return this.messages;
  }

  private showPictures(): void {
    const pictures = this.pictures;
    this.pictures = [];
    if (pictures.length > 0) this.messages.push({ role: 'user', content: pictures });
  }

  /** The last message, if it is an assistant's with calls. */
  private calling(): Json | null {
    const last = this.messages.at(-1);
    return last?.['role'] === 'assistant' && last['tool_calls'] ? last : null;
  }
}
