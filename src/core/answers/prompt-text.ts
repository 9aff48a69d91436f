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

export type ReadText = { ok: true; text: string } | { ok: false; reason: string };

export function readPromptText(answer: string, parent: string): ReadText {
  const split = splitThoughts(answer);
  if (split.thoughts !== null && split.answer.trim() === '')
    return refuse('the answer has thoughts only, and no new instruction behind them');
  const found = lastBlock(split.answer);
  return found.ok ? unwrap(found.text.trim(), parent.trim()) : found;
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
  const found = quoted(text) ?? tagged(text) ?? fenced(text);
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
  ['«', '»'],
  ['„', '“'],
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

const tagNames =
  '(?:(?:new|improved|revised|updated|final|system)[_-]?)?(?:prompt|instructions?)|answer|output|response|result';

function tagged(text: string): string | null {
  const match = new RegExp(String.raw`^<(${tagNames})>([\s\S]*)<\/\1>$`, 'i').exec(text);
  return match && !match[2]!.includes(`</${match[1]!}>`) ? match[2]! : null;
}

function fenced(text: string): string | null {
  const [only] = blocksOf(text);
  const isWhole = only?.isClosed && only.start === 0 && only.end === text.length;
  return isWhole && ['', 'markdown', 'md', 'text', 'txt', 'prompt', 'plaintext'].includes(only.tag) ? only.text : null;
}

const kinds = String.raw`(?:new|improved|revised|updated|final|optimized|better|rewritten|refined|enhanced|shorter|proposed|suggested)`;
const nouns = String.raw`(?:system |user )?(?:prompts?|instructions?|versions?|text)`;
const titleForms = [
  // "Here's the new instruction for the assistant:", "Below is my improved prompt:"
  String.raw`(?:sure[,!.]?\s+|okay[,!.]?\s+|certainly[,!.]?\s+|of course[,!.]?\s+)?(?:here(?:'s|’s| is| are)|below is|this is)\b[^\n]{0,160}:`,
  // "New prompt:", "# Improved Prompt", "**The revised instruction:**"
  String.raw`(?:(?:the|my|your)\s+)?(?:${kinds}[ -]+)+(?:(?:assistant|task)\s+)?${nouns}(?:\s+(?:for|to)\s[^\n:]{1,80})?\s*:?`,
  String.raw`(?:system prompt|prompt|instructions?)\s*:`,
];
const wholeTitle = new RegExp(
  String.raw`^(?:#{1,6}\s+|[*_]{1,3})?(?:${titleForms.join('|')})\s*[*_]{0,3}:?\s*(?:\n|$)`,
  'i',
);
const inlineTitle = new RegExp(
  String.raw`^[*_]{0,3}(?:the\s+)?(?:${kinds}\s+)+${nouns}\s*(?::\s*[*_]{0,3}|[*_]{1,3}\s*:)\s*(?=\S)`,
  'i',
);

/** A text without the title above it, and the rule below that. */
function withoutTitle(text: string): { title: boolean; rest: string } {
  const match = wholeTitle.exec(text) ?? inlineTitle.exec(text);
  if (!match) return { title: false, rest: text };
  return {
    title: true,
    rest: text
      .slice(match[0].length)
      .replace(/^\s*(?:-{3,}|\*{3,})\s*\n/, '')
      .trim(),
  };
}

function refuse(reason: string): { ok: false; reason: string } {
  return { ok: false, reason };
}
