/**
 * Sets a model's thoughts apart from its answer. Invariants: what follows the last thought is the
 * answer, unchanged; a text without thoughts is its own answer; an answer has no more thoughts to
 * set apart. A tag inside a fence, a quotation or inline code is a mention, not a thought.
 */

export interface SplitText {
  /** null: none. */
  thoughts: string | null;
  answer: string;
}

/** The tags of models and servers: opening, closing. */
const pairs: readonly (readonly [string, string])[] = [
  [
    String.raw`<(?:antml:)?(?:think(?:ing)?|thoughts?|reasoning|seed:think|antthinking)(?:\s[^<>\n]{0,200})?>`,
    String.raw`<\/(?:antml:)?(?:think(?:ing)?|thoughts?|reasoning|seed:think|antthinking)\s*>`,
  ],
  [String.raw`\[THINK\]`, String.raw`\[\/THINK\]`],
  ['◁think▷', '◁/think▷'],
  [String.raw`<\|START_THINKING\|>`, String.raw`<\|END_THINKING\|>`],
  [String.raw`<\|begin_of_thought\|>`, String.raw`<\|end_of_thought\|>`],
  [String.raw`<\|channel>thought\b`, String.raw`<channel\|>`],
];

/** Marks around the answers of the models that mark their thoughts so. */
const answerMarks = /^\s*<\|(?:begin_of_solution|START_RESPONSE)\|>|<\|(?:end_of_solution|END_RESPONSE)\|>\s*$/g;

/** Thoughts set apart, and tags looked at for the end of one: time stays linear in the text. */
const maxThoughts = 1_000;
const maxTags = 1_000;

/** Marks of the end of a turn, which servers with another template leave in the text. */
const endMarks =
  /(?:\s*(?:<\|(?:im_end|eot_id|eom_id|endoftext|end_of_text|end_of_turn|end|return)\|>|<end_of_turn>|<eos>|<｜end▁of▁sentence｜>))+\s*$/;

/** Empty thoughts: the text has marks of channels, but no thought. */
export function splitThoughts(given: string): SplitText {
  const text = given.includes('>') ? given.slice(0, endOfTurn(given)) : given;
  const channels = splitChannels(text);
  const parts: string[] = channels?.thoughts == null ? [] : [channels.thoughts];
  let answer = channels?.answer ?? text;
  for (let count = 0; count < maxThoughts; count += 1) {
    const end = endOfThought(answer);
    if (end === null) break;
    parts.push(answer.slice(0, end));
    answer = answer.slice(end);
  }
  if (parts.length === 0) return { thoughts: channels ? '' : null, answer };
  const marked = parts.join('').includes('<|') ? answer.replaceAll(answerMarks, '') : answer;
  return { thoughts: parts.join('\n').trim(), answer: marked.trim() };
}

function endOfTurn(text: string): number {
  // Only the end is looked at: time stays linear.
  const from = Math.max(0, text.length - 200);
  const found = text.slice(from).search(endMarks);
  return found < 0 ? text.length : from + found;
}

/** The end of the text's leading thought, whose opening tag may be missing; null: none leads. */
function endOfThought(text: string): number | null {
  for (const [opening, closing] of pairs) {
    const leading = new RegExp(String.raw`^\s*${opening}`, 'i').exec(text);
    if (leading) return endOfOpened(text, leading[0].length, opening, closing);
  }
  for (const [opening, closing] of pairs) {
    const end = endOfUnopened(text, opening, closing);
    if (end !== null) return end;
  }
  return null;
}

/** Thoughts may quote their own tags; without a closing tag all of the text is thought. */
function endOfOpened(text: string, start: number, opening: string, closing: string): number {
  let depth = 1;
  let last: number | null = null;
  let seen = 0;
  for (const match of text.slice(start).matchAll(new RegExp(`(${opening})|${closing}`, 'gi'))) {
    if ((seen += 1) > maxTags) break;
    const at = start + match.index;
    if (isMention(text, at, match[0].length)) continue;
    depth += match[1] === undefined ? -1 : 1;
    if (match[1] === undefined) last = at + match[0].length;
    if (depth === 0) return last!;
  }
  return last ?? text.length;
}

function endOfUnopened(text: string, opening: string, closing: string): number | null {
  let seen = 0;
  for (const { 0: tag, index } of text.matchAll(new RegExp(closing, 'gi'))) {
    if ((seen += 1) > maxTags) return null;
    // A pair on one line is spoken of.
    const line = text.slice(text.lastIndexOf('\n', index) + 1, index);
    if (new RegExp(opening, 'i').test(line)) continue;
    if (!isMention(text, index, tag.length)) return index + tag.length;
  }
  return null;
}

/** Whether a tag stands in quotation marks, in inline code, or in a fence that is closed behind. */
function isMention(text: string, at: number, length: number): boolean {
  const [before, after] = [text.slice(Math.max(0, at - 4), at), text.slice(at + length, at + length + 4)];
  if (/["'“‘]$/.test(before) && /^["'”’.,]/.test(after)) return true;
  // Three backticks are a fence.
  if (/(?:^|[^`])`{1,2}$/.test(before) && /^`{1,2}(?:[^`]|$)/.test(after)) return true;
  return isInFence(text.slice(0, at)) && isInFence(text.slice(at + length));
}

function isInFence(text: string): boolean {
  return (text.match(/^[ \t]*(?:`{3,}|~{3,})/gm) ?? []).length % 2 === 1;
}

const control = /<\|(?:start|end|return|call|channel|message|constrain)\|>/;

/** The channels of gpt-oss (harmony): `final` is the answer. Null: a text without channels. */
function splitChannels(text: string): SplitText | null {
  // Servers that drop special tokens leave the names of the channels alone.
  const bare = /^\s*analysis(?=\S)([\s\S]*?)assistantfinal([\s\S]*)$/.exec(text);
  if (bare) return { thoughts: bare[1]!.trim(), answer: bare[2]!.trim() };
  const first = /^\s*(?:<\|start\|>\s*assistant\s*)?(?=<\|channel\|>)/.test(text)
    ? 0
    : text.search(/<\|(?:end|start)\|>[\s\S]{0,40}<\|channel\|>\s*(?:analysis|commentary|final)\b/);
  if (first < 0) return null;
  const parts = text.split(/<\|channel\|>/);
  const thoughts = [stripControl(parts[0]!)];
  let answer = '';
  for (const part of parts.slice(1)) {
    const [head, ...rest] = part.split('<|message|>');
    const body = (rest.join('<|message|>') || head!.replace(/^\s*(?:final|analysis|commentary)\b/, '')).split(
      /<\|(?:end|return|call|start)\|>/,
    )[0]!;
    if (/^\s*final\b/.test(head!)) answer = body;
    else thoughts.push(body);
  }
  const kept = thoughts.map((part) => part.trim()).filter((part) => part !== '');
  return { thoughts: kept.join('\n') || null, answer: answer.trim() };
}

function stripControl(text: string): string {
  return text
    .split(new RegExp(control, 'g'))
    .join(' ')
    .replace(/\bassistant\s*$/, '');
}
