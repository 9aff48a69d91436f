/** Lengths of prompts in tokens, estimated alike for every model. */
import type { Demo } from './demos.js';
import type { Message } from './message.js';

const utf8 = new TextEncoder();

/** A token as four bytes of UTF-8: close for English, and not too few elsewhere. */
export function estimatedTokens(...texts: readonly string[]): number {
  return texts.reduce((total, text) => total + Math.ceil(utf8.encode(text).length / 4), 0);
}

type Shown = Pick<Demo, 'input' | 'output'>;

export function promptTokens(messages: readonly Pick<Message, 'content'>[], demos: readonly Shown[]): number {
  return estimatedTokens(
    ...messages.map(({ content }) => content),
    ...demos.flatMap(({ input, output }) => [input, output]),
  );
}

/** The first demonstrations that fit beside the messages. */
export function fittingDemos<Own extends Shown>(
  messages: readonly Pick<Message, 'content'>[],
  demos: readonly Own[],
  most: number,
): Own[] {
  const tooMany = demos.findIndex((_, at) => promptTokens(messages, demos.slice(0, at + 1)) > most);
  return tooMany < 0 ? [...demos] : demos.slice(0, tooMany);
}
