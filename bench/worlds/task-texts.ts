/**
 * Texts of worlds with a task model: inputs, answers and demonstrations, also in the frame of
 * DSPy's ChatAdapter (`[[ ## answer ## ]]`).
 */
export interface ChatMessage {
  role: string;
  content: string;
}

/** An input with an answer. */
export interface Demonstration {
  input: string;
  output: string;
}

/** An instruction and its demonstrations, before an input. */
export function promptMessages(instruction: string, demos: readonly Demonstration[]): ChatMessage[] {
  const shown = demos.flatMap(({ input, output }) => [
    { role: 'user', content: input },
    { role: 'assistant', content: output },
  ]);
  return [{ role: 'system', content: instruction }, ...shown];
}

/** An input; its number makes it unique. */
export function writeInput(topics: readonly string[], seed: number): string {
  return `A customer writes about ${topics.join(' and ')}. [${seed}]`;
}

/** The first input in a text; null: none. */
export function inputIn(text: string): { text: string; topics: string[] } | null {
  const [found, topics] = /A customer writes about (.+?)\. \[\d+\]/.exec(text) ?? [];
  return found === undefined ? null : { text: found, topics: topics!.split(' and ') };
}

/** An answer: a word on each topic. */
export function writeAnswer(words: readonly (readonly [topic: string, word: string])[]): string {
  return words.map(([topic, word]) => `On ${topic}: ${word}.`).join(' ');
}

/** Word by topic in a text with answers; a later one wins. */
export function readAnswer(text: string): Map<string, string> {
  return new Map([...text.matchAll(/\bOn (\S+): ([a-z]+-\d+)\./g)].map(([, topic, word]) => [topic!, word!]));
}

/** Words by topic in the answers among messages. */
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

/** ChatAdapter's fields at the end of the last message; empty: not its format. */
function fieldsAsked(messages: readonly ChatMessage[]): string[] {
  const [request] = /Respond with the corresponding output fields, [^\n]*$/.exec(lastContent(messages)) ?? [];
  const names = [...(request ?? '').matchAll(/\[\[ ## (\w+) ## \]\]/g)].map(([, name]) => name!);
  return names.filter((name) => name !== 'completed');
}

/** An answer in the requested format: ChatAdapter's fields, or plain text. */
export function reply(messages: readonly ChatMessage[], text: (field: string | null) => string): string {
  const fields = fieldsAsked(messages);
  if (fields.length === 0) return text(null);
  return [...fields.map((name) => `[[ ## ${name} ## ]]\n${text(name)}\n`), '[[ ## completed ## ]]'].join('\n');
}

/** The content of a ChatAdapter field in the last message, or empty. */
export function chatField(messages: readonly ChatMessage[], name: string): string {
  const [, value = ''] = lastContent(messages).split(`[[ ## ${name} ## ]]\n`);
  return value.split(/^\[\[ ## \w+ ## \]\]$|^Respond with the corresponding/m)[0]!.trim();
}

function lastContent(messages: readonly ChatMessage[]): string {
  return messages.at(-1)?.content ?? '';
}
