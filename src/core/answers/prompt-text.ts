/**
 * Reads the text that a model wrote for a prompt. Invariants: thoughts, drafts, titles and
 * wrappings (fences, quotation marks, JSON, tags) that the parent does not have are no part of it;
 * a wrapping that cannot be taken off is refused in words for the second try; a text without a
 * fence is taken only where nothing but the text stands there.
 */
import { isObject } from '../../util/json.js';
import { blocksOf } from './blocks.js';
import { wholeJson } from './json.js';
import { splitThoughts } from './thoughts.js';
import { withoutTitle } from './titles.js';

export type ReadText = { ok: true; text: string } | { ok: false; reason: string };

export function readPromptText(answer: string, parent: string): ReadText {
  const split = splitThoughts(answer);
  if (split.thoughts !== null && split.answer.trim() === '')
    return refuse('the answer has thoughts only, and no new instruction behind them');
  const found = lastBlock(unquoted(fieldOfSignature(split.answer)));
  const read = found.ok ? unwrap(found.text.trim(), parent.trim()) : found;
  const problem = read.ok ? noText(read.text) : null;
  return problem === null ? read : refuse(problem);
}

/** Why words that stand where the text belongs are no text; null: they are one. */
function noText(text: string): string | null {
  if (text !== '' && !/[\p{L}\p{N}]/u.test(text)) return 'the new instruction has no words';
  if (/^[<[{(]{1,2}[^\n<>]{0,100}\b(?:instruction|prompt|text|here)\b[^\n<>]{0,100}[>\])}]{1,2}$/i.test(text))
    return 'the new instruction only names the place of its text: write the text itself';
  if (
    /^(?:i['’]m sorry|i am sorry|sorry\b|i (?:can(?:not|['’]t)|won['’]t|am unable to) (?:help|assist|comply|do|provide|fulfill))/i.test(
      text,
    )
  )
    return 'the new instruction is a refusal';
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const isDiff =
    lines.every((line) => /^[-+@]/.test(line)) &&
    ['-', '+'].every((mark) => lines.some((line) => line.startsWith(mark)));
  return isDiff ? 'the new instruction is a list of changes: write the whole text' : null;
}

/** The last field of an answer in DSPy's form; other texts unchanged. */
function fieldOfSignature(answer: string): string {
  const fields = answer.split(/^\[\[ ## \w+ ## \]\][ \t]*$/m).slice(1);
  return fields.findLast((field) => field.trim() !== '') ?? answer;
}

/** A text without the marks of a quotation before all of its lines. */
function unquoted(text: string): string {
  const lines = text.trim().split('\n');
  const isQuoted =
    /^>\s*(?:`{3,}|~~~)/.test(lines[0]!) && lines.every((line) => line.startsWith('>') || line.trim() === '');
  return isQuoted ? lines.map((line) => line.replace(/^>\s?/, '')).join('\n') : text;
}

/** Blocks of these languages show how a text is used. */
const code = new Set(
  'python py javascript js typescript ts bash sh shell console java c cpp go rust sql html css diff'.split(' '),
);

function lastBlock(answer: string): ReadText {
  const blocks = blocksOf(answer);
  const last = blocks.findLast(({ tag }) => !code.has(tag)) ?? blocks.at(-1);
  if (!last) return answer.includes('```') ? inlineBlock(answer) : plainText(answer);
  if (!last.isClosed || blocks.at(-1)?.isClosed === false) return refuse(unclosed);
  return { ok: true, text: last.text };
}

const unclosed = 'the ``` fence around the new instruction is not closed: the answer may have been cut off';
const noFence = 'the answer has no ``` fence around the new instruction';

function inlineBlock(answer: string): ReadText {
  const parts = answer.split(/`{3,}/);
  return parts.length % 2 === 1 ? { ok: true, text: parts.at(-2)! } : refuse(unclosed);
}

/** How models speak of a text instead of writing it. */
const talk =
  /^(?:(?:i|i'm|i’m|i'd|i've|i’ve|i'll|we|let me|let's|sure|okay|ok|certainly|of course|absolutely|sorry|unfortunately|thanks?|based on|looking at|after|since|to improve|the (?:new|old|current|original|revised|improved|assistant|feedback|instructions?|prompt|answers?|examples?)|this (?:new|revised|improved|prompt|instruction)|hmm|wait|well|so|no|not|as an ai)\b|>|\?)/i;
const minPlainWords = 3;

function plainText(answer: string): ReadText {
  const section = lastSection(answer);
  if (section !== null) return { ok: true, text: section };
  const { title, rest } = withoutTitle(answer.trim());
  const wrapped = wholeJson(rest) !== null || quoted(rest) !== null || tagged(rest) !== null;
  const words = rest.match(/\S+/g)?.length ?? 0;
  // Words behind a title are the text itself, as long as no second title follows.
  if (wrapped || (title && !talk.test(rest))) return { ok: true, text: rest };
  return words < minPlainWords || talk.test(rest) ? refuse(noFence) : { ok: true, text: rest };
}

const maxWrappings = 6;

function unwrap(first: string, parent: string): ReadText {
  let text = first;
  for (let depth = 0; depth < maxWrappings; depth += 1) {
    const inner = unwrapOnce(text, parent);
    if (inner === null) return { ok: true, text };
    if (!inner.ok) return inner;
    text = inner.text.trim();
  }
  return { ok: true, text };
}

/** Null: nothing is wrapped around the text that is not around its parent. */
function unwrapOnce(text: string, parent: string): ReadText | null {
  if (text === '' || text === parent) return null;
  const isJson = wholeJson(text);
  if (isJson) return wholeJson(parent) ? null : fromJson(isJson.value, text);
  if (/^\{\s*(["'])[\w -]+\1\s*:[\s\S]*\}$/.test(text) && !parent.startsWith('{')) return refuse(jsonGiven);
  const found = quoted(text) ?? tagged(text) ?? fenced(text) ?? assigned(text);
  if (found !== null && !isWrapped(parent)) return { ok: true, text: found };
  const { title, rest } = withoutTitle(text);
  return title && rest !== '' && !withoutTitle(parent).title ? { ok: true, text: rest } : null;
}

function isWrapped(text: string): boolean {
  return quoted(text) !== null || tagged(text) !== null || fenced(text) !== null;
}

const jsonGiven = 'the new instruction is JSON: give its text itself, without names, quotation marks and braces';
const textNames =
  /^(?:(?:new|improved|revised|updated|optimized|final|better|proposed|system)_?)*(?:prompt|instructions?|text|content|template|system|message)$/i;

/** The one text of a JSON value. */
function fromJson(value: unknown, text: string): ReadText | null {
  if (typeof value === 'string') return { ok: true, text: value };
  if (typeof value !== 'object' || value === null) return null;
  // `{}` and `[1]` are refused as well, `{name}` is no JSON.
  if (Array.isArray(value))
    return value.length === 1 ? (fromJson(value[0], text) ?? refuse(jsonGiven)) : refuse(several(value));
  if (!isObject(value)) return null;
  const messages = value['messages'];
  if (Array.isArray(messages)) return fromJson(messages, text);
  const fields = Object.entries(value).filter(([name]) => !('role' in value && name === 'role'));
  const only = fields.length === 1 ? fields : fields.filter(([name]) => textNames.test(name));
  const [, inner] = only[0] ?? [];
  if (only.length !== 1 || inner === undefined) return refuse(jsonGiven);
  return typeof inner === 'number' || typeof inner === 'boolean'
    ? refuse(jsonGiven)
    : (fromJson(inner, text) ?? refuse(jsonGiven));
}

function several(list: readonly unknown[]): string {
  const isChat = list.some((item) => isObject(item) && 'role' in item);
  return isChat
    ? 'the new instruction is a list of messages: give the text of the one message that is to be rewritten'
    : jsonGiven;
}

const quotes: readonly (readonly [string, string])[] = [
  ['"""', '"""'],
  ["'''", "'''"],
  ['"', '"'],
  ['“', '”'],
  ['‘', '’'],
  ['«', '»'],
  ['„', '“'],
  ['„', '”'],
  ['「', '」'],
  ["'", "'"],
  ['`', '`'],
];

function quoted(text: string): string | null {
  for (const [open, close] of quotes) {
    if (text.length <= open.length + close.length || !text.startsWith(open) || !text.endsWith(close)) continue;
    const inner = text.slice(open.length, -close.length);
    const isApostrophe = open === "'" && /\w'\w/.test(inner);
    if (isApostrophe || !(inner.includes(open) || inner.includes(close))) return inner;
  }
  return null;
}

const textTags = String.raw`(?:(?:new|improved|revised|updated|final|optimized|better|rewritten|proposed|system)[_-]?)*(?:prompt|instructions?)`;
const tagNames = `${textTags}|answer|output|response|result|text`;
const wholeTag = new RegExp(String.raw`^<(${tagNames})(?:\s[^<>]*)?>([\s\S]*)<\/\1>$`, 'i');

function tagged(text: string): string | null {
  const match = wholeTag.exec(text);
  return match && !match[2]!.includes(`</${match[1]!}>`) ? match[2]! : null;
}

const maxSections = 20;

/** The last section of an answer: one named as a text, or the last of nothing but sections. */
function lastSection(answer: string): string | null {
  const named = [...answer.matchAll(new RegExp(String.raw`^<(${textTags})(?:\s[^<>]*)?>$([\s\S]*?)^<\/\1>`, 'gim'))];
  if (named.length > 0) return named.at(-1)![2]!;
  let rest = answer.trim();
  let last: string | null = null;
  for (let count = 0; rest !== ''; count += 1) {
    const name = /^<(\w[\w-]*)(?:\s[^<>]*)?>/.exec(rest)?.[1];
    const end = name === undefined ? -1 : rest.indexOf(`</${name}>`);
    if (end < 0 || count === maxSections) return null;
    last = rest.slice(0, end + name!.length + 3);
    rest = rest.slice(last.length).trim();
  }
  return last === null ? null : tagged(last);
}

/** The text of an assignment, as in Python. */
function assigned(text: string): string | null {
  return /^\w+\s*=\s*[fr]?("{3}|'{3}|["'])([\s\S]+)\1$/.exec(text)?.[2] ?? null;
}

function fenced(text: string): string | null {
  const [only] = blocksOf(text);
  const isWhole = only?.isClosed && only.start === 0 && only.end === text.length;
  return isWhole && ['', 'markdown', 'md', 'text', 'txt', 'prompt', 'plaintext'].includes(only.tag) ? only.text : null;
}

function refuse(reason: string): { ok: false; reason: string } {
  return { ok: false, reason };
}
