/**
 * How a prompt states what it has learned: a line each, among lines that mean nothing to a world. Of two lines on the same
 * thing the later one counts. A statement's key is `parcels` (the word on parcels), `register` (for all messages) or
 * `register parcels` (the exception for parcels).
 */
export type Register = 'formal' | 'plain';

/** A prompt, read: lines that state nothing, and what the others state, by key. */
export interface Prompt {
  other: string[];
  stated: Map<string, string>;
}

/** The key of the register for every message that no exception is about. */
export const everyRegister = 'register';

export function registerOn(topic: string): string {
  return `register ${topic}`;
}

export function readPrompt(text: string): Prompt {
  const prompt: Prompt = { other: [], stated: new Map() };
  for (const line of text.split('\n')) {
    const [key, value] = readLine(line) ?? [];
    if (key === undefined) prompt.other.push(line);
    else prompt.stated.set(key, value!);
  }
  return prompt;
}

/** The text of a prompt, its statements last. */
export function writePrompt(other: readonly string[], stated: ReadonlyMap<string, string>): string {
  return [...other, ...[...stated].map(([key, value]) => writeLine(key, value))].join('\n');
}

function readLine(line: string): readonly [key: string, value: string] | null {
  const [, topic, word] = /^- On (\S+): say "([^"]+)"\.$/.exec(line) ?? [];
  if (topic !== undefined) return [topic, word!];
  const [, exception, register] = /^- (?:On (\S+): r|R)egister:? (formal|plain)\.$/.exec(line) ?? [];
  if (register === undefined) return null;
  return [exception === undefined ? everyRegister : registerOn(exception), register];
}

function writeLine(key: string, value: string): string {
  if (key === everyRegister) return `- Register: ${value}.`;
  const [, exception] = /^register (.+)$/.exec(key) ?? [];
  return exception === undefined ? `- On ${key}: say "${value}".` : `- On ${exception}: register ${value}.`;
}
