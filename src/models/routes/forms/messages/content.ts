import { Conversation } from '../conversation.js';
import { listAt, nameOf, objectAt, partsAt, textAt, textOf, textPart, type ChatPart, type Path } from '../fields.js';
import { refusedAt, type Json } from '../form.js';

/** The messages of a request: its system prompt first, where a prompt takes its place. */
export function messagesOf({ system, messages }: Json): Json[] {
  const said = new Conversation();
  const rules = system === undefined || system === null ? [] : partsAt(system, ['system'], partOf, textPart);
  // One text: it is replaced as a whole.
  if (rules.length > 0) said.say('system', [textPart(rules.map((part) => textOf([part])).join('\n\n'))]);
  const list = listAt(messages, ['messages']);
  if (list.length === 0) throw refusedAt(['messages'], 'messages must hold at least one message.');
  const before = said.messages.length;
  for (const [at, message] of list.entries()) add(said, objectAt(message, ['messages', at]), ['messages', at]);
  const all = said.end();
  if (all.length === before) throw refusedAt(['messages'], 'messages must hold more than thoughts.');
  return all;
}

function add(said: Conversation, { role, content }: Json, path: Path): void {
  const at = [...path, 'content'];
  if (role === 'system') return said.say(role, partsAt(content, at, partOf, textPart));
  if (role !== 'user' && role !== 'assistant') {
    throw refusedAt([...path, 'role'], `${nameOf(path)}.role must be user or assistant.`);
  }
  if (typeof content === 'string') return role === 'user' ? said.say(role, [textPart(content)]) : said.answer(content);
  const blocks = listAt(content, at).map((block, n) => [objectAt(block, [...at, n]), [...at, n]] as const);
  if (role === 'user') return addQuestion(said, blocks);
  for (const [block, where] of blocks) addAnswer(said, block, where);
  if (blocks.length === 0) said.answer('');
}

/** Results come before what the user says: they answer the calls of the message before. */
function addQuestion(said: Conversation, blocks: readonly (readonly [Json, Path])[]): void {
  const parts: ChatPart[] = [];
  for (const [block, path] of blocks) {
    if (block['type'] !== 'tool_result') {
      parts.push(...blockOf(block, path));
      continue;
    }
    const given = block['content'] ?? [];
    const result = partsAt(given, [...path, 'content'], blockOf, (text) => [textPart(text)]).flat();
    said.result(textAt(block['tool_use_id'], [...path, 'tool_use_id']), result);
  }
  if (parts.length > 0 || blocks.length === 0) said.say('user', parts);
}

function addAnswer(said: Conversation, block: Json, path: Path): void {
  const { type } = block;
  if (type === 'text') return said.answer(textAt(block['text'], [...path, 'text']));
  // A model that is asked anew thinks anew.
  if (type === 'thinking' || type === 'redacted_thinking') return;
  if (type !== 'tool_use') throw unknownBlock(path, type);
  said.call({
    id: textAt(block['id'], [...path, 'id']),
    name: textAt(block['name'], [...path, 'name']),
    arguments: JSON.stringify(objectAt(block['input'] ?? {}, [...path, 'input'])),
  });
}

function partOf(block: Json, path: Path): ChatPart {
  if (block['type'] === 'text') return textPart(textAt(block['text'], [...path, 'text']));
  throw refusedAt([...path, 'type'], `${nameOf(path)} must be a text block.`);
}

/** A block of a user or of a result in the form of chat completions. */
function blockOf(block: Json, path: Path): ChatPart[] {
  const { type } = block;
  if (type === 'text') return [partOf(block, path)];
  if (type === 'image') {
    const { type: kind, ...source } = objectAt(block['source'], [...path, 'source']);
    if (kind !== 'base64' && kind !== 'url') throw fileRefused(path);
    const url = kind === 'url' ? textAt(source['url'], [...path, 'source', 'url']) : dataUrl(source, path);
    return [{ type: 'image_url', image_url: { url } }];
  }
  if (type === 'document') return documentOf(block, path);
  throw unknownBlock(path, type);
}

function documentOf(block: Json, path: Path): ChatPart[] {
  const { type: kind, ...source } = objectAt(block['source'], [...path, 'source']);
  const { title } = block;
  if (kind === 'text') return [textPart(textAt(source['data'], [...path, 'source', 'data']))];
  if (kind === 'content') {
    return partsAt(source['content'], [...path, 'source', 'content'], blockOf, (text) => [textPart(text)]).flat();
  }
  if (kind !== 'base64') throw fileRefused(path);
  const filename = typeof title === 'string' && title !== '' ? title : 'document.pdf';
  return [{ type: 'file', file: { filename, file_data: dataUrl(source, path) } }];
}

function dataUrl({ media_type: type, data }: Json, path: Path): string {
  const at = [...path, 'source'];
  return `data:${textAt(type, [...at, 'media_type'])};base64,${textAt(data, [...at, 'data'])}`;
}

function fileRefused(path: Path) {
  const name = `${nameOf(path)}.source`;
  return refusedAt([...path, 'source'], `${name} must hold its data: files are not stored or fetched here.`);
}

function unknownBlock(path: Path, type: unknown) {
  return refusedAt(
    [...path, 'type'],
    `${nameOf(path)} has the type ${JSON.stringify(type ?? null)}, which no chat completion has; leave it out. ` +
      'Blocks are text, image, document, thinking, tool_use and tool_result.',
  );
}
