/**
 * The texts of worlds in which a model is called: inputs, answers, demonstrations; and the frame that DSPy's ChatAdapter puts
 * around them (`[[ ## answer ## ]]`), which is read and answered in kind.
 */
export interface ChatMessage {
  role: string;
  content: string;
}

/** An input with an answer to it. */
export interface Demonstration {
  input: string;
  output: string;
}

/** An instruction and its demonstrations, as they stand before an input. */
export function promptOf(instruction: string, demos: readonly Demonstration[]): ChatMessage[] {
  const shown = demos.flatMap(({ input, output }) => [
    { role: 'user', content: input },
    { role: 'assistant', content: output },
  ]);
  return [{ role: 'system', content: instruction }, ...shown];
}

/** An input; its number makes each another one. */
export function writeInput(topics: readonly string[], seed: number): string {
  return `A customer writes about ${topics.join(' and ')}. [${seed}]`;
}

/** The first input in a text, whatever stands around it; null: there is none. */
export function inputIn(text: string): { text: string; topics: string[] } | null {
  const [found, topics] = /A customer writes about (.+?)\. \[\d+\]/.exec(text) ?? [];
  return found === undefined ? null : { text: found, topics: topics!.split(' and ') };
}

/** An answer: a word on each topic. */
export function writeAnswer(words: readonly (readonly [topic: string, word: string])[]): string {
  return words.map(([topic, word]) => `On ${topic}: ${word}.`).join(' ');
}

/** Topic to word, of an answer or of a text with answers in it; of two words on a topic the later one. */
export function readAnswer(text: string): Map<string, string> {
  return new Map([...text.matchAll(/\bOn (\S+): ([a-z]+-\d+)\./g)].map(([, topic, word]) => [topic!, word!]));
}

/** What the answers among messages show on the topics of the inputs that they answer. */
export function demonstrated(messages: readonly ChatMessage[]): Map<string, string> {
  const shown = new Map<string, string>();
  for (const [at, { role, content }] of messages.entries()) {
    const before = messages[at - 1];
    if (role !== 'assistant' || before?.role !== 'user') continue;
    const topics = inputIn(before.content)?.topics ?? [];
    for (const [topic, word] of readAnswer(content)) if (topics.includes(topic)) shown.set(topic, word);
  }
  return shown;
}

/** The fields that ChatAdapter asks for at the end of the last message; none: it did not ask. */
function fieldsAsked(messages: readonly ChatMessage[]): string[] {
  const [asked] = /Respond with the corresponding output fields, [^\n]*$/.exec(lastOf(messages)) ?? [];
  const names = [...(asked ?? '').matchAll(/\[\[ ## (\w+) ## \]\]/g)].map(([, name]) => name!);
  return names.filter((name) => name !== 'completed');
}

/** An answer in the form that was asked for: each of ChatAdapter's fields, or the text alone. */
export function reply(messages: readonly ChatMessage[], text: (field: string | null) => string): string {
  const fields = fieldsAsked(messages);
  if (fields.length === 0) return text(null);
  return [...fields.map((name) => `[[ ## ${name} ## ]]\n${text(name)}\n`), '[[ ## completed ## ]]'].join('\n');
}

/** What the last message has in one of ChatAdapter's fields; empty where it is not there. */
export function fieldOf(messages: readonly ChatMessage[], name: string): string {
  const [, value = ''] = lastOf(messages).split(`[[ ## ${name} ## ]]\n`);
  return value.split(/^\[\[ ## \w+ ## \]\]$|^Respond with the corresponding/m)[0]!.trim();
}

function lastOf(messages: readonly ChatMessage[]): string {
  return messages.at(-1)?.content ?? '';
}
