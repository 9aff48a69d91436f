/** Demonstrations: answered examples between a candidate's instruction and the question. */
import { mean } from '../math/rewards.js';
import { componentNames } from './components.js';
import type { Message } from './message.js';

/** A demonstration from rollout `ordinal` of its session. */
export interface Demo {
  /**
   * The first marked component of the calls that show it, in the prompt's order; null: all calls of
   * a prompt whose components are whole messages.
   */
  component: string | null;
  /** The demonstration's instance; null if its call named none. */
  seed: number | null;
  ordinal: number;
  input: string;
  output: string;
}

/** The most demonstrations of a prompt. */
export const maxDemos = 100;
/** A prompt may have this many demonstrations of any length. */
export const fewDemos = 16;
/** It may have more while all of them together have at most this many tokens. */
const tokensOfMany = 4_000;

/**
 * The number of demonstrations that fit into a prompt. `lengths`: tokens of the known ones, in the
 * order in which they are shown; others count as the mean. `most`: the limit of all tokens.
 */
export function roomForDemos(lengths: readonly number[], most = Infinity): number {
  const each = mean(lengths) ?? 0;
  let tokens = 0;
  for (let count = 0; count < maxDemos; count += 1) {
    tokens += lengths[count] ?? each;
    if (tokens > most || (count >= fewDemos && tokens > tokensOfMany)) return count;
  }
  return maxDemos;
}

export function demoMessages({ input, output }: Demo): [Message, Message] {
  return [
    { role: 'user', content: input },
    { role: 'assistant', content: output },
  ];
}

/** Without demonstrations of the same instance: they would reveal its answer. */
export function demosForSeed(demos: readonly Demo[], seed: number | null): Demo[] {
  return demos.filter((demo) => seed === null || demo.seed !== seed);
}

/** The demonstrations for a call with these marked components. */
export function demosForCall(
  demos: readonly Demo[],
  messages: readonly Message[] | null,
  marked: ReadonlySet<string>,
): Demo[] {
  const first = componentNames(messages ?? []).find((name) => marked.has(name));
  return demos.filter(({ component }) => component === null || component === first);
}

/** A message of a prompt; `demo`: it belongs to a demonstration. */
export interface PromptPart {
  message: Message;
  demo: boolean;
}

/**
 * Inserts demonstrations after the leading system messages, or after their component's message;
 * omits those of unknown components.
 */
export function placeDemos(messages: readonly Message[], demos: readonly Demo[]): PromptPart[] {
  const names = componentNames(messages);
  const conversation = messages.findIndex(({ role }) => role !== 'system');
  const leading = conversation === -1 ? messages.length : conversation;
  const pairs = (component: string | null) =>
    demos
      .filter((demo) => demo.component === component)
      .flatMap(demoMessages)
      .map((message) => ({ message, demo: true }));
  const parts = messages.flatMap((message, index) => [
    { message, demo: false },
    ...pairs(names[index]!),
    ...(index + 1 === leading ? pairs(null) : []),
  ]);
  return leading === 0 ? [...pairs(null), ...parts] : parts;
}

export function renderPrompt(messages: readonly Message[], demos: readonly Demo[]): Message[] {
  return placeDemos(messages, demos).map(({ message }) => message);
}
