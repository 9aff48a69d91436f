/**
 * A prompt's statements, one per line among other text; a later one on the same key wins. Keys:
 * `parcels` (a topic's word), `register`, `register parcels` (an exception).
 */
export type Register = 'formal' | 'plain';

/** A parsed prompt: other lines, and statements by key. */
export interface Prompt {
  other: string[];
  stated: Map<string, string>;
}

/** Key of the default register. */
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

/** The text of a prompt, with its statements last. */
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
