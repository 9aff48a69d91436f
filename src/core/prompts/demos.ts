/** Demonstrations: answered examples that a candidate shows its model between the instruction and the question. */
import { componentNames } from './components.js';
import type { Message } from '../jobs/spec.js';

/** One demonstration, taken from the rollout `ordinal` of its session. */
export interface Demo {
  /**
   * Whose calls are shown it: those of which this is the first marked component, in the prompt's order; null: all calls, of a
   * prompt whose components are whole messages.
   */
  component: string | null;
  /** The instance that it is of; null: its call named none. */
  seed: number | null;
  ordinal: number;
  input: string;
  output: string;
}

/** A demonstration as it stands among a call's messages. */
export function demoMessages({ input, output }: Demo): [Message, Message] {
  return [
    { role: 'user', content: input },
    { role: 'assistant', content: output },
  ];
}

/**
 * Those that a rollout of this seed is shown: all but the ones of its own instance, whose answer they give away. Without a seed
 * all of them.
 */
export function demosForSeed(demos: readonly Demo[], seed: number | null): Demo[] {
  return demos.filter((demo) => seed === null || demo.seed !== seed);
}

/** The demonstrations of a call that has these components in its marked spans. */
export function demosForCall(
  demos: readonly Demo[],
  messages: readonly Message[] | null,
  marked: ReadonlySet<string>,
): Demo[] {
  const first = componentNames(messages ?? []).find((name) => marked.has(name));
  return demos.filter(({ component }) => component === null || component === first);
}

/** A message of a prompt, and whether it is half of a demonstration. */
export interface PromptPart {
  message: Message;
  demo: boolean;
}

/**
 * A prompt's messages with its demonstrations among them, in their order: after the leading system messages, or after the message of
 * the component that they are of. One of a component that the prompt has not is left out.
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

/** A prompt as its model sees it, with its demonstrations; see `placeDemos`. */
export function renderPrompt(messages: readonly Message[], demos: readonly Demo[]): Message[] {
  return placeDemos(messages, demos).map(({ message }) => message);
}
