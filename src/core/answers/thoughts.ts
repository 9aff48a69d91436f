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
const tagForms: readonly (readonly [string, string])[] = [
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

interface Pair {
  opening: RegExp;
  /** Opening behind white space, where it is looked at. */
  leading: RegExp;
  closing: RegExp;
  /** Opening ones as group 1. */
  both: RegExp;
}

const pairs = tagForms.map(([opening, closing]): Pair => {
  return {
    opening: new RegExp(opening, 'i'),
    leading: new RegExp(String.raw`\s*${opening}`, 'iy'),
    closing: new RegExp(closing, 'gi'),
    both: new RegExp(`(${opening})|${closing}`, 'gi'),
  };
});
const closingTag = new RegExp(tagForms.map(([, closing]) => closing).join('|'), 'i');

/** Marks around the answers of the models that mark their thoughts so. */
const answerMarks = /^\s*<\|(?:begin_of_solution|START_RESPONSE)\|>|<\|(?:end_of_solution|END_RESPONSE)\|>\s*$/g;

/** Thoughts set apart, and tags looked at for the end of one: time stays linear in the text. */
const maxThoughts = 1_000;
const maxTags = 1_000;

/** Marks of the end of a turn, which servers with another template leave in the text. */
const endMarks =
  // eslint-disable-next-line regexp/no-super-linear-move -- looks at `markChars` characters
  /(?:\s*(?:<\|(?:im_end|eot_id|eom_id|endoftext|end_of_text|end_of_turn|end|return)\|>|<end_of_turn>|<eos>|<｜end▁of▁sentence｜>))+\s*$/;
/** Characters at the end that are looked at for marks at once: time stays linear in the text. */
const markChars = 200;

/** What stands behind tags may have channels, and the other way round. */
const maxRounds = 20;

/** Empty thoughts: the text has marks of channels, but no thought. */
export function splitThoughts(text: string): SplitText {
  let split = splitOnce(text);
  for (let round = 1; round < maxRounds && split.thoughts !== null; round += 1) {
    const { thoughts, answer } = splitOnce(split.answer);
    if (thoughts === null) return { thoughts: split.thoughts, answer };
    split = { thoughts: `${split.thoughts}\n${thoughts}`.trim(), answer };
  }
  return split;
}

function splitOnce(given: string): SplitText {
  const text = withoutEndMarks(given);
  const channels = splitChannels(text);
  const parts: string[] = channels?.thoughts == null ? [] : [channels.thoughts];
  const answer = channels?.answer ?? text;
  const reader = tagReader(answer);
  let start = 0;
  for (let count = 0; count < maxThoughts; count += 1) {
    const end = endOfThought(reader, start);
    if (end === null) break;
    parts.push(answer.slice(start, end));
    start = end;
  }
  if (parts.length === 0) return { thoughts: channels ? '' : null, answer };
  const rest = answer.slice(start);
  const marked = parts.join('').includes('<|') ? rest.replaceAll(answerMarks, '') : rest;
  return { thoughts: parts.join('\n').trim(), answer: marked.trim() };
}

function withoutEndMarks(text: string): string {
  let end = text.length;
  while (end > 0) {
    const from = Math.max(0, end - markChars);
    const found = text.slice(from, end).search(endMarks);
    if (found < 0) break;
    end = from + found;
  }
  return text.slice(0, end);
}

/** A text whose tags are looked at from a place on: what stands before is no part of it. */
interface TagReader {
  text: string;
  /** Pairs without a closing tag behind a place that was looked at. */
  unclosed: Set<Pair>;
  isMention(from: number, at: number, end: number): boolean;
}

function tagReader(text: string): TagReader {
  return { text, unclosed: new Set(), isMention: mentionsIn(text) };
}

function matchesFrom(pattern: RegExp, text: string, start: number) {
  pattern.lastIndex = start;
  return text.matchAll(pattern);
}

/** The pair whose opening tag leads, and the end of that; null: none. */
function leadingTag(text: string, start: number): { pair: Pair; end: number } | null {
  for (const pair of pairs) {
    pair.leading.lastIndex = start;
    if (pair.leading.test(text)) return { pair, end: pair.leading.lastIndex };
  }
  return null;
}

/** The end of the thought that leads, whose opening tag may be missing; null: none leads. */
function endOfThought(reader: TagReader, start: number): number | null {
  const led = leadingTag(reader.text, start);
  if (led) return endOfOpened(reader, start, led).end;
  for (const pair of pairs) {
    const end = endOfUnopened(reader, start, pair);
    if (end !== null) return end;
  }
  return null;
}

/** Thoughts may quote their own tags; without a closing tag all of the text is thought. */
function endOfOpened(
  { text, isMention }: TagReader,
  start: number,
  led: { pair: Pair; end: number },
): { end: number; isSure: boolean } {
  let depth = 1;
  let last: number | null = null;
  let seen = 0;
  for (const match of matchesFrom(led.pair.both, text, led.end)) {
    if ((seen += 1) > maxTags) break;
    const end = match.index + match[0].length;
    if (isMention(start, match.index, end)) continue;
    depth += match[1] === undefined ? -1 : 1;
    if (match[1] === undefined) last = end;
    if (depth === 0) return { end, isSure: true };
  }
  return { end: last ?? text.length, isSure: false };
}

function endOfUnopened({ text, unclosed, isMention }: TagReader, start: number, pair: Pair): number | null {
  if (unclosed.has(pair)) return null;
  let seen = 0;
  for (const { 0: tag, index } of matchesFrom(pair.closing, text, start)) {
    if ((seen += 1) > maxTags) return null;
    // A pair on one line is spoken of.
    const line = text.slice(Math.max(start, text.lastIndexOf('\n', index) + 1), index);
    if (pair.opening.test(line)) continue;
    if (!isMention(start, index, index + tag.length)) return index + tag.length;
  }
  if (seen === 0) unclosed.add(pair);
  return null;
}

/** A text that may become an opening tag. */
const begunTag =
  /^\s*(?:$|<[a-z:]{0,20}(?:\s[^<>\n]{0,200})?$|\[[a-z]{0,5}$|◁[a-z]{0,5}$|a(?:n(?:a(?:l(?:y(?:s(?:is?)?)?)?)?)?)?$)/i;
/** Characters behind a tag that tell whether it is a mention. */
const lookahead = 4;

/**
 * Where the answer begins, whatever follows the text; null: unknown so far. `lacksOpening`: a
 * thought leads without its tag. A tag behind the begin of the answer belongs to the answer.
 */
export function answerStart(text: string, lacksOpening: boolean): number | null {
  if (text.includes('<|') || /^\s*analysis\S/.test(text)) return null;
  const reader = tagReader(text);
  let start = 0;
  for (let count = 0; count < maxThoughts; count += 1) {
    if (begunTag.test(text.slice(start))) return null;
    const thought = sureEnd(reader, start, lacksOpening && start === 0);
    if (thought === 'open') return null;
    if (thought === null) return start === 0 ? 0 : start + text.slice(start).search(/\S/);
    const inside = fencesIn(text.slice(start, thought)).length;
    start = thought;
    if (text.length - start < lookahead || inside % 2 === 1) return null;
  }
  return null;
}

/** The end of the thought that leads; `open`: it may end later; null: none leads. */
function sureEnd(reader: TagReader, start: number, lacksOpening: boolean): number | 'open' | null {
  const led = leadingTag(reader.text, start);
  if (!led) return lacksOpening ? (endOfThought(reader, start) ?? 'open') : null;
  const { end, isSure } = endOfOpened(reader, start, led);
  return isSure ? end : 'open';
}

/** Whether a text has a thought without its opening tag; null: an empty text shows nothing. */
export function lacksOpeningTag(text: string): boolean | null {
  if (text.trim() === '') return null;
  return splitChannels(text) === null && !leadingTag(text, 0) && endOfThought(tagReader(text), 0) !== null;
}

/** Whether a text's end has a closing tag. */
export function endsThought(text: string): boolean {
  return closingTag.test(text);
}

/** Whether a tag stands in quotation marks, in inline code, or in a fence that is closed behind. */
function mentionsIn(text: string): TagReader['isMention'] {
  let fences: number[] | null = null;
  const isFence = (at: number) => {
    fenceHere.lastIndex = at;
    return fenceHere.test(text);
  };
  return (from, at, end) => {
    const [before, after] = [text.slice(Math.max(from, at - 4), at), text.slice(end, end + 4)];
    if (/["'“‘]$/.test(before) && /^["'”’.,]/.test(after)) return true;
    // Three backticks are a fence.
    if (/(?:^|[^`])`{1,2}$/.test(before) && /^`{1,2}(?:[^`]|$)/.test(after)) return true;
    fences ??= fencesIn(text);
    // The text begins at `from`, and again behind the tag.
    const opened = countBelow(fences, at) - countBelow(fences, from + 1) + Number(isFence(from));
    const closed = fences.length - countBelow(fences, end) + Number(isFence(end));
    return opened % 2 === 1 && closed % 2 === 1;
  };
}

const fenceHere = /[ \t]*(?:`{3,}|~{3,})/y;

/** Where lines with a fence begin. */
function fencesIn(text: string): number[] {
  return Array.from(text.matchAll(/^[ \t]*(?:`{3,}|~{3,})/gm), ({ index }) => index);
}

/** How many of ascending numbers are below a limit. */
function countBelow(numbers: readonly number[], limit: number): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle]! < limit) low = middle + 1;
    else high = middle;
  }
  return low;
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
