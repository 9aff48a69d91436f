/**
 * Reads the text that a model wrote for a prompt. Invariants: thoughts, drafts, titles and
 * wrappings (fences, quotation marks, JSON, tags) that the parent does not have are no part of it;
 * a wrapping that cannot be taken off is refused in words for the second try; a text without a
 * fence is taken only where nothing but the text stands there.
 */
import { blocksOf } from './blocks.js';
import { wholeJson } from './json.js';
import { withoutJson } from './json-wrapping.js';
import { refuse, type ReadText } from './read-text.js';
import { withoutEchoes, withoutRemarks } from './remarks.js';
import { splitThoughts } from './thoughts.js';
import { withoutTitle } from './titles.js';
import { inWrapping, lineQuoted, tagged, textTags } from './wrappings.js';

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

function unquoted(answer: string): string {
  return lineQuoted(answer) ?? answer;
}

/** Blocks of these languages show how a text is used. */
const code = new Set(
  'python py javascript js typescript ts bash sh shell console java c cpp go rust sql html css diff'.split(' '),
);

function lastBlock(answer: string): ReadText {
  // Fences inside of them belong to the text.
  if (wholeJson(answer) !== null || tagged(answer.trim()) !== null) return { ok: true, text: answer };
  const blocks = blocksOf(answer);
  const last = blocks.findLast(({ tag }) => !code.has(tag)) ?? blocks.at(-1);
  if (!last) return answer.includes('```') ? inlineBlock(answer) : plainText(answer);
  if (!last.isClosed || blocks.at(-1)?.isClosed === false) return refuse(unclosed);
  const plain = blocks.length === 1 && isOutput(last.text) ? plainText(answer) : null;
  return plain?.ok ? plain : { ok: true, text: last.text };
}

/** Whether a block shows a form of output, and no text: the prompt stands around it. */
function isOutput(block: string): boolean {
  return wholeJson(block) !== null && withoutJson(block.trim(), '')?.ok !== true;
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
  const { title, rest: below } = withoutTitle(answer.trim());
  const { rest } = withoutTitle(below);
  const wrapped = wholeJson(rest) !== null || inWrapping(rest) !== null;
  const words = rest.match(/\S+/g)?.length ?? 0;
  // Words behind a title are the text itself, as long as no second title follows.
  if (wrapped || (title && !talk.test(rest))) return { ok: true, text: rest };
  return words < minPlainWords || talk.test(rest) ? refuse(noFence) : { ok: true, text: rest };
}

const maxWrappings = 12;

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
  const inJson = withoutJson(text, parent);
  if (inJson !== null) return inJson;
  const found = inWrapping(text);
  if (found !== null && inWrapping(parent) === null) return { ok: true, text: found };
  const { title, rest } = withoutTitle(text);
  if (title && rest !== '' && !withoutTitle(parent).title) return { ok: true, text: rest };
  const own = withoutRemarks(withoutEchoes(text, parent), parent);
  return own === text ? null : { ok: true, text: own };
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
