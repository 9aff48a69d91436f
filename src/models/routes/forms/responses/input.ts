import { Conversation } from '../conversation.js';
import { nameOf, objectAt, partsAt, textAt, textOf, textPart, type ChatPart, type Path } from '../fields.js';
import { refusedAt, type Json } from '../form.js';

/** The messages of a request: its instructions first, where a prompt takes their place. */
export function messagesOf({ instructions, input }: Json): Json[] {
  const said = new Conversation();
  if (typeof instructions === 'string') said.say('system', [textPart(instructions)]);
  else if (instructions !== undefined && instructions !== null) {
    throw refusedAt(['instructions'], 'instructions must be a string; send a list of messages as input.');
  }
  const before = said.messages.length;
  if (typeof input === 'string') said.say('user', [textPart(input)]);
  else if (Array.isArray(input)) {
    for (const [at, item] of input.entries()) add(said, objectAt(item, ['input', at]), ['input', at]);
  } else throw refusedAt(['input'], 'input must be a string or a list of items.');
  const messages = said.end();
  if (messages.length === before) throw refusedAt(['input'], 'input must hold at least one message.');
  return messages;
}

function add(said: Conversation, item: Json, path: Path): void {
  const type = item['type'] ?? (item['role'] === undefined ? undefined : 'message');
  if (type === 'message') return addMessage(said, item, path);
  if (type === 'function_call') {
    return said.call({
      id: textAt(item['call_id'], [...path, 'call_id']),
      name: textAt(item['name'], [...path, 'name']),
      arguments: textAt(item['arguments'], [...path, 'arguments']),
    });
  }
  if (type === 'function_call_output') {
    const output = partsAt(item['output'], [...path, 'output'], partOf, textPart);
    return said.result(textAt(item['call_id'], [...path, 'call_id']), output);
  }
  // A model that is asked anew thinks anew.
  if (type === 'reasoning') return;
  const name = nameOf(path);
  if (type === 'item_reference') {
    throw refusedAt(
      path,
      `${name} refers to an item of an earlier response, and responses are not stored: send the item itself, as ` +
        'clients do with store: false.',
    );
  }
  throw refusedAt(
    [...path, 'type'],
    `${name} has the type ${JSON.stringify(type ?? null)}, which no chat completion has; leave it out. ` +
      'Items are message, function_call, function_call_output and reasoning.',
  );
}

function addMessage(said: Conversation, { role, content }: Json, path: Path): void {
  const parts = partsAt(content, [...path, 'content'], partOf, textPart);
  if (role === 'assistant') return said.answer(textOf(parts));
  if (role === 'user' || role === 'system' || role === 'developer') return said.say(role, parts);
  throw refusedAt([...path, 'role'], `${nameOf(path)}.role must be user, assistant, system or developer.`);
}

/** A part of a content in the form of chat completions. */
function partOf(part: Json, path: Path): ChatPart {
  const { type } = part;
  const name = nameOf(path);
  if (type === 'input_text' || type === 'output_text' || type === 'text') {
    return textPart(textAt(part['text'], [...path, 'text']));
  }
  if (type === 'refusal') return textPart(textAt(part['refusal'], [...path, 'refusal']));
  if (type === 'input_image') {
    const { image_url: url, detail } = part;
    if (typeof url !== 'string') {
      throw refusedAt(
        [...path, 'image_url'],
        `${name}.image_url must be a URL or a data URL: files are not stored here.`,
      );
    }
    return { type: 'image_url', image_url: { url, ...(typeof detail === 'string' && { detail }) } };
  }
  if (type === 'input_file') {
    const { file_data: data, filename } = part;
    if (typeof data !== 'string') {
      throw refusedAt(
        [...path, 'file_data'],
        `${name}.file_data must hold the file: files are not stored or fetched here.`,
      );
    }
    return { type: 'file', file: { file_data: data, ...(typeof filename === 'string' && { filename }) } };
  }
  if (type === 'input_audio') return { type, input_audio: part['input_audio'] };
  throw refusedAt(
    [...path, 'type'],
    `${name} has the type ${JSON.stringify(type ?? null)}; parts are input_text, input_image, input_file, input_audio, ` +
      'output_text and refusal.',
  );
}
