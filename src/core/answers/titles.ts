/**
 * Titles that models put above or before a text that they wrote: a sentence that announces it, or
 * its kind as a heading, in bold, in brackets, or before a colon.
 */

const kinds = String.raw`(?:new|improved|revised|updated|final|optimized|better|rewritten|refined|enhanced|shorter|proposed|suggested)`;
const nouns = String.raw`(?:system |user )?(?:prompts?|instructions?|versions?|text)`;
const wholeForms = [
  // "Here's the new instruction for the assistant:", "Below is my improved prompt:"
  String.raw`(?:sure[,!.]?\s+|okay[,!.]?\s+|certainly[,!.]?\s+|of course[,!.]?\s+)?(?:here(?:'s|’s| is| are)|below is|this is)\b[^\n]{0,160}:`,
  // "New prompt:", "# Improved Prompt", "**The revised instruction:**"
  String.raw`(?:(?:the|my|your)\s+)?(?:${kinds}[ -]+)+(?:(?:assistant|task)\s+)?${nouns}(?:\s+(?:for|to)\s[^\n:]{1,80})?(?:\s*:)?`,
  String.raw`(?:system prompt|prompt|instructions?|final answer)(?:\s+(?:for|to) the (?:assistant|model|task))?\s*:`,
  // "Based on the feedback, here is the new instruction:"
  String.raw`[^\n:]{0,160}[,.!]\s+(?:here(?:'s|’s| is)|this is)\s[^\n:]{0,80}\b(?:prompt|instructions?|version)\b[^\n:]{0,80}:`,
];
const whole = new RegExp(
  String.raw`^(?:#{1,6}\s+|[*_]{1,3})?(?:${wholeForms.join('|')})(?:[^\S\n]*[*_]{1,3})?:?[^\S\n]*(?:\n|$)`,
  'i',
);
const inline = new RegExp(
  String.raw`^[*_]{0,3}(?:the\s+)?(?:${kinds}\s+)+${nouns}\s*(?::\s*(?:[*_]{1,3}\s*)?|[*_]{1,3}\s*:\s*|\s[—–-]\s+)(?=\S)`,
  'i',
);
/** "Prompt: …", "**System prompt:** …", "[SYSTEM]" */
const bareInline =
  /^(?:[*_]{0,3}(?:system(?: prompt| message)?|assistant|prompt|instructions?)[*_]{0,3}\s*:[*_]{0,3}\s*(?=\S)|\[(?:system|prompt|instructions?)\]\s*\n)/i;
/** "# Prompt", "**Instruction**" */
const heading =
  /^(?:#{1,6}\s+(?:the\s+)?(?:system )?(?:prompt|instructions?)|([*_]{2,3})(?:the\s+)?(?:system )?(?:prompt|instructions?)\1)\s*\n/i;
const otherHeading = /^(?:#{1,6}\s|\*\*[^*\n]+\*\*:?\s*$)/m;
const otherTurn = /^[*_]{0,3}(?:user|assistant|human)[*_]{0,3}\s*:/im;
/** A line below a title, or the mark of a block of YAML behind it. */
const rule = /^\s*(?:(?:-{3,}|\*{2,}|_{2,}|={3,})\s*\n|[|>][+-]?[ \t]*\n)/;

/** A text without the line of dashes, stars, underscores or equal signs that ends it. */
export function withoutLastRule(text: string): string {
  const end = text.trimEnd();
  const start = end.lastIndexOf('\n') + 1;
  return start > 0 && /^\s*(?:-{3,}|\*{3,}|_{3,}|={3,})$/.test(end.slice(start)) ? text.slice(0, start) : text;
}

/** A text without the title above it, and the rule below that. */
export function withoutTitle(text: string): { title: boolean; rest: string } {
  const match = whole.exec(text) ?? inline.exec(text) ?? bareTitle(text);
  if (!match) return { title: false, rest: text };
  const behind = text.slice(match[0].length);
  const rest = behind.replace(rule, '');
  if (rest === behind) return { title: true, rest: rest.trim() };
  return { title: true, rest: withoutLastRule(dedented(rest)).trim() };
}

/** The name of a section is no title where others follow it. */
function bareTitle(text: string): RegExpExecArray | null {
  const found = bareInline.exec(text);
  if (found) return otherTurn.test(text.slice(found[0].length)) ? null : found;
  const named = heading.exec(text);
  return named && !otherHeading.test(text.slice(named[0].length)) ? named : null;
}

function dedented(text: string): string {
  const indent = /^[ \t]*/.exec(text)![0];
  return indent === '' ? text : text.replaceAll(new RegExp(`^${indent}`, 'gm'), '');
}
