/**
 * A prompt inside JSON: as the one text of an object, a message, a call of a tool, or JSON whose
 * quotation marks are not escaped. A value with several texts is refused.
 */
import { isObject } from '../../util/json.js';
import { wholeJson } from './json.js';
import { refuse, type ReadText } from './read-text.js';

const jsonGiven = 'the new instruction is JSON: give its text itself, without names, quotation marks and braces';
const textNames =
  /^(?:(?:new|improved|revised|updated|optimized|final|better|proposed|system)_?)*(?:prompt|instructions?|text|content|template|system|message)$/i;
/** Words of a text below any other name; fewer are a form of output. */
const minWords = 3;

/** Null: the text is no JSON, or the form of an output. */
export function withoutJson(text: string, parent: string): ReadText | null {
  const json = wholeJson(text);
  if (json) return wholeJson(parent) ? null : textIn(json.value);
  if (!text.startsWith('{') || parent.startsWith('{') || !closesAtItsEnd(text)) return null;
  if (!/^\{\s*(["'])[\w -]+\1\s*:/.test(text)) return null;
  return unescapedField(text) ?? refuse(jsonGiven);
}

/** The one text of a JSON value. */
function textIn(value: unknown, name = ''): ReadText | null {
  if (typeof value === 'string') return { ok: true, text: value };
  // `{}` and `[1]` are refused as well, `{name}` is no JSON.
  if (Array.isArray(value)) return textOfList(value, name);
  if (!isObject(value)) return null;
  const messages = value['messages'];
  if (Array.isArray(messages)) return textIn(messages);
  const call = value['arguments'] ?? value['parameters'];
  if ('name' in value && isObject(call)) return textIn(call);
  const fields = Object.entries(value).filter(([field]) => !('role' in value && field === 'role'));
  const only = fields.length === 1 ? fields : fields.filter(([field]) => textNames.test(field));
  const [field, inner] = only[0] ?? [];
  if (only.length !== 1 || field === undefined || !isTextOf(field, inner)) return refuse(jsonGiven);
  return textIn(inner, field) ?? refuse(jsonGiven);
}

function isTextOf(name: string, value: unknown): boolean {
  if (typeof value !== 'string') return typeof value === 'object' && value !== null;
  return textNames.test(name) || (value.match(/\S+/g)?.length ?? 0) >= minWords;
}

/** Lines, below the name of a text; else the one item. */
function textOfList(list: readonly unknown[], name: string): ReadText {
  if (list.length === 1) return textIn(list[0]) ?? refuse(jsonGiven);
  if (textNames.test(name) && list.length > 0 && list.every((item) => typeof item === 'string'))
    return { ok: true, text: list.join('\n') };
  return refuse(
    list.some((item) => isObject(item) && 'role' in item)
      ? 'the new instruction is a list of messages: give the text of the one message that is to be rewritten'
      : jsonGiven,
  );
}

const field = /^\{\s*(["'])([\w -]+)\1\s*:\s*("{3}|'{3}|["'])([\s\S]*)\3\s*(?:,\s*)?\}$/;
const nextField = /["']\s*,\s*["'][\w -]+["']\s*:/;
const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '', '"': '"', "'": "'", '\\': '\\', '/': '/' };

/** The text of an object with one field, whose inner quotation marks are not escaped. */
function unescapedField(text: string): ReadText | null {
  const [, , name = '', , inner = ''] = field.exec(text) ?? [];
  if (name === '' || nextField.test(inner) || !isTextOf(name, inner)) return null;
  return { ok: true, text: inner.replaceAll(/\\([ntr"'\\/])/g, (_, one: string) => escapes[one]!) };
}

/** Whether the first bracket closes at the end: words behind it make it a part of a prompt. */
function closesAtItsEnd(text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '{') depth += 1;
    else if (text[at] === '}' && (depth -= 1) === 0) return at === text.length - 1;
  }
  return false;
}
